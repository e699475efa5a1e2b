"""Ten million samples in a side file: exact figures, in the memory that a hundred thousand take."""

import json
import subprocess
import sys
from pathlib import Path

from support import side_files

CHILD = """
import json, resource, sys
from verifier.ask.receipt import verify_receipt
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
study = verify_receipt([sys.argv[1]]).results[0].study
print(json.dumps({figure.id: figure.state for figure in study.figures}))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_ten_million_samples_take_no_more_memory(tmp_path: Path) -> None:
    told = side_files.with_side_file(tmp_path, rows=10_000_000)
    done = subprocess.run(
        [sys.executable, "-I", "-c", CHILD, str(tmp_path / "receipt.json"), str(300 << 20)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == told
