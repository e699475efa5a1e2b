"""More samples than memory: the same figures, from summaries and further passes."""

import json
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import receipts, side_files

from verifier.ask import verify_receipt
from verifier.checks.receipt.numbers import running, tally
from verifier.checks.receipt.numbers.figures import State
from verifier.checks.receipt.numbers.intervals import UncomputableError
from verifier.checks.receipt.numbers.quantities import Number
from verifier.checks.receipt.numbers.running import Rank, Root, Sum
from verifier.checks.receipt.numbers.samples import SideFile
from verifier.core.digest import Pin
from verifier.core.outcome import Failed, Result
from verifier.sources.evidence_folder import EvidenceFolder

NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12),
    st.fractions(),
    st.sampled_from([Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30), 0, 7]),
)


def found(numbers: Sequence[Number], rank: int) -> tuple[Number, int]:
    search = Rank(rank, least=min(numbers), most=max(numbers), count=len(numbers))
    for passes in range(1, 100):
        for number in numbers:
            search.see(number)
        if search.closed():
            return search.result, passes
    raise AssertionError("a rank that is never found")


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.data())
def test_a_rank_is_found_exactly_however_little_is_collected(
    numbers: list[Number], data: st.DataObject
) -> None:
    rank = data.draw(st.integers(0, len(numbers) - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "NUMBERS_COLLECTED", 3)
        patch.setattr(running, "_BUCKETS", 4)
        assert found(numbers, rank)[0] == sorted(numbers)[rank]


def test_equal_numbers_need_no_more_passes() -> None:
    numbers = [5] * 70_000 + [6] * 70_000
    assert found(numbers, 69_999) == (5, 1)
    assert found(numbers, 70_000) == (6, 1)


def test_outliers_cost_passes_and_no_memory() -> None:
    spread = random.Random(8)  # noqa: S311  (no secret)
    numbers: list[Number] = [10**18, -(10**18), *(spread.randrange(10**6) for _ in range(100_000))]
    middle, passes = found(numbers, 50_000)
    assert middle == sorted(numbers)[50_000]
    assert passes <= 7


@given(st.lists(st.fractions(max_denominator=10**9), min_size=1, max_size=40))
def test_an_enclosed_sum_encloses(numbers: list[Fraction]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_DENOMINATORS", 2)
        parts = Sum(), Sum()
        parts[0].add(numbers[::2])
        parts[1].add(numbers[1::2])
        parts[0].merge(parts[1])
    low, high = parts[0].result
    assert low <= sum(numbers) <= high
    assert high - low < Fraction(1, 10**40)


def test_a_root_of_what_is_not_positive_is_none() -> None:
    root = Root()
    for number in (1, 0, 4):
        root.see(number)
    with pytest.raises(UncomputableError):
        _ = root.result


def derived() -> list[dict[str, Any]]:
    operand = {"quantity": "ttft", "arms": ["B1", "A2"], "cases": [], "membership": "core"}
    rate = {**operand, "quantity": "decodeRate", "arms": []}
    names = ("median", "mean", "geometricMean", "sum", "minimum", "maximum", "p95", "p99", "count")
    return [
        {
            "id": f"{formula}{quantity}",
            "formula": formula,
            "unit": "count" if formula == "count" else unit,
            "value": "1",
            "operands": {"of": of},
        }
        for formula in names
        for quantity, of, unit in (("Ttft", operand, "ms"), ("Rate", rate, "tokens/min"))
    ]


def test_folding_changes_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    document = receipts.made(derived=derived())
    kept = receipts.opened(document)
    monkeypatch.setattr(tally, "NUMBERS_KEPT", 5)
    monkeypatch.setattr(running, "NUMBERS_COLLECTED", 2)
    folded = receipts.opened(document)
    assert folded.tally._folded
    assert not kept.tally._folded
    assert len(kept.figures) == 18
    for name, figure in kept.figures.items():
        assert figure.result is not None
        assert folded.figures[name].result == figure.result, name


def test_all_that_is_looked_for_shares_the_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "NUMBERS_KEPT", 5)
    passes = 0

    class Rows:
        def __iter__(self) -> Iterator[Any]:
            nonlocal passes
            passes += 1
            return iter(receipts.samples())

    document = receipts.made(derived=derived())
    opened = side_files.opened(document, Rows())
    assert all(figure.result is not None for figure in opened.figures.values())
    assert passes == 2


def test_a_selection_with_a_number_missing_stays_uncomputable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tally, "NUMBERS_KEPT", 5)
    document = receipts.made(samples__3__usage=None, derived=derived())
    states = {name: each.state for name, each in receipts.opened(document).figures.items()}
    assert states["medianRate"] is State.NOT_RECOMPUTABLE
    assert states["medianTtft"] is State.INCONSISTENT


def test_places_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "SAMPLE_PLACES", 3)
    with pytest.raises(tally.MalformedSamplesError, match="more than 3 arms"):
        tally.Tally((), ()).see_all(receipts.samples())


def test_a_line_that_is_wrong_waits_for_the_file_s_own_verdict() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"{}\n{\n"
        yield b"{}\n"
        raise InterruptedError

    with pytest.raises(InterruptedError):
        list(SideFile(pieces))


@pytest.mark.full
def test_many_rows_fit_into_little_memory(tmp_path: Path) -> None:
    told = side_files.with_side_file(tmp_path, rows=300_000)
    assert side_files.figures_within(tmp_path, memory=300 << 20) == told


def judged(folder: Path) -> Result | Failed:
    return verify_receipt([str(folder / "receipt.json")]).results[0]


def test_a_file_that_changes_between_the_passes_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side_files.with_side_file(tmp_path, rows=200)
    monkeypatch.setattr(tally, "NUMBERS_KEPT", 5)
    path, passes = tmp_path / "samples.jsonl", 0
    read = EvidenceFolder.pieces

    def pieces(self: EvidenceFolder, name: str, *, pinned: Pin | None = None) -> Iterator[bytes]:
        nonlocal passes
        passes += 1
        if passes == 3:  # it was pinned, then counted, and is looked through again
            data = path.read_bytes()
            path.write_bytes(data.replace(b'"ttft":2', b'"ttft":"', 1))
            assert path.read_bytes() != data
        return read(self, name, pinned=pinned)

    monkeypatch.setattr(EvidenceFolder, "pieces", pieces)
    found = judged(tmp_path)
    assert passes == 3
    assert isinstance(found, Failed)
    assert found.code == "changed-while-read"


def test_another_side_file_is_refused(tmp_path: Path) -> None:
    side_files.with_side_file(tmp_path, rows=4)
    with (tmp_path / "samples.jsonl").open("ab") as file:
        file.write(b"{}\n")
    found = judged(tmp_path)
    assert isinstance(found, Result)
    assert [finding.code for finding in found.findings] == ["receipt-samples-file"]


def test_samples_stand_in_one_place(tmp_path: Path) -> None:
    side_files.with_side_file(tmp_path, rows=4)
    document = json.loads((tmp_path / "receipt.json").read_bytes())
    document["predicate"]["samples"] = []
    (tmp_path / "receipt.json").write_text(json.dumps(document))
    found = judged(tmp_path)
    assert isinstance(found, Failed)
    assert found.code == "malformed"
