"""From the predicate of a statement to a `Study`: read, count, recompute."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from verifier.checks.receipt.document.model import Receipt
from verifier.checks.receipt.document.reading import REMEDY, receipt
from verifier.checks.receipt.numbers import figures
from verifier.checks.receipt.numbers.alike import RowRule
from verifier.checks.receipt.numbers.tally import MalformedSamplesError, Tally
from verifier.checks.receipt.rules.rows import row_rules
from verifier.checks.receipt.scan import redaction
from verifier.checks.receipt.scan.secrets import Scan
from verifier.checks.receipt.study import Companions, Study
from verifier.core.table import MalformedError

_SAMPLES: Final = "samples"


def study(
    predicate: Mapping[str, Any],
    subjects: Mapping[str, Mapping[str, str]],
    *,
    what: str,
    sha256: str,
    companions: Companions,
    rows: Iterable[Any] | None = None,
) -> Study:
    """Build a study. `rows` are those of a side file; without it they stand in the predicate.

    Raises `MalformedError` for what is not a receipt or no sample.
    """
    inline = predicate.get(_SAMPLES, [])
    read = receipt({k: v for k, v in predicate.items() if k != _SAMPLES}, subjects, what=what)
    if not isinstance(inline, list):
        raise MalformedError(what, ["samples: is no list"], remedy=REMEDY)
    scan = Scan()
    scan.document({"subject": subjects})
    scan.document({name: value for name, value in predicate.items() if name != _SAMPLES})
    rules = row_rules(read, companions)
    tally = _tally(read, rules, scan.of_rows(inline if rows is None else rows), what)
    there = [(path, redaction.found(predicate, path)) for path in read.redacted or ()]
    return Study(
        receipt=read,
        sha256=sha256,
        tally=tally,
        figures=figures.compute(read.figures, tally),
        companions=companions,
        secrets=tuple((hit.kind, hit.where) for hit in scan.hits),
        replaced=tuple(redaction.replaced({k: v for k, v in predicate.items() if k != _SAMPLES})),
        standing=tuple(
            path for path, at in there if at is not None and not redaction.is_placeholder(at)
        ),
    )


def _tally(read: Receipt, rules: Iterable[RowRule], rows: Iterable[Any], what: str) -> Tally:
    tally = Tally(figures.quantities(read.figures), rules)
    try:
        tally.see_all(rows)
    except MalformedSamplesError as error:
        raise MalformedError(what, [str(error)], remedy=REMEDY) from None
    except ValueError as error:
        raise MalformedError(what, [f"samples: {error}"], remedy=REMEDY) from None
    return tally
