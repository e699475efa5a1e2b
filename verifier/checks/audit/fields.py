"""Whether every field of an entry is what its recipe derives, each that is not by its name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_writing import tables
from verifier.checks.helper.pinning.fields import differences
from verifier.checks.helper.pinning.values import Derived
from verifier.core.finding import Finding

_SHOWN: Final = 300


def compared(
    derived: Derived, entry: Lineage, lines: Mapping[str, Sequence[str]] | None
) -> Iterator[Finding]:
    """Compare an entry, and its signed digests of lines if it has any, with what was derived."""
    for each in differences(tables(derived.lineage), tables(entry)):
        yield _differs(entry.name, each.path, each.one, each.other)
    for version, digests in derived.lines.items() if lines is not None else ():
        signed = (lines or {}).get(version)
        if signed is None or tuple(signed) != digests:
            got = None if signed is None else "others"
            yield _differs(entry.name, f"lines.{version}", f"{len(digests)} digests of lines", got)


def _differs(entry: str, path: str, one: str | None, other: str | None) -> Finding:
    return Finding(
        code="audit-field-differs",
        expected=f"{path} of {entry}: {_shown(one)}",
        got=_shown(other),
        remedy="pin the entry again from its recipe (pinproof pin helper), review the difference "
        "and sign; or correct the recipe",
    )


def _shown(value: str | None) -> str:
    if value is None:
        return "no such field"
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]} …"
