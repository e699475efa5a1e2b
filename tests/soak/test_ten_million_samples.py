"""Ten million samples in a side file: exact figures, in the memory that a hundred thousand take."""

from pathlib import Path

from support import side_files


def test_ten_million_samples_take_no_more_memory(tmp_path: Path) -> None:
    told = side_files.with_side_file(tmp_path, rows=10_000_000, bare=True)
    assert side_files.figures_within(tmp_path, memory=300 << 20) == told
