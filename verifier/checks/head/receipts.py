"""Facet `receipts`: which measurements are of this head, and whether they hold.

1. *Binding* (receipts rules B1 and B2): a receipt counts if it measured this very commit, one with
   the same tree (squash and rebase keep it), or one that differs in documentation alone; each such
   path is listed. Nothing else of an earlier head counts.
2. *Base* (B14): a receipt that names the base it was measured on names this one.
3. *Verdict*: every receipt that counts is verified. Those that do not count are kept as what they
   were, and named.
"""

from collections.abc import Sequence
from typing import Final

from verifier.checks.head.documentation import Difference
from verifier.checks.head.part import Part
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed, Result
from verifier.core.value import frozen
from verifier.core.verdict import Verdict

FACET: Final = "receipts"
_MOST_NAMED: Final = 4
_MEASURE: Final = "measure at this head; or cite the receipt for the commit that it measured only"


@frozen
class Bound:
    """A receipt, what it measured, and how that stands to the head.

    `unread` says why the measured commit could not be compared. `difference` is empty where the
    trees are the same. `measured_files` are paths that the receipt says were loaded. `result` is
    None where the receipt does not count, and was not judged.
    """

    name: str
    measured: str | None
    base: str | None
    measured_files: frozenset[str]
    unread: Finding | None
    difference: Difference
    result: Result | Failed | None


def receipts(bound: Sequence[Bound], head: str, base: str) -> Part:
    """Judge all receipts that were given."""
    counting = [each for each in bound if _counts(each, base)]
    if not counting:
        findings = tuple(_stale(each, head, base) for each in bound)
        return Part.broken(
            FACET,
            findings or (_none(head),),
            f"0 of {len(bound)} count for this head" if bound else "none was given",
        )
    findings = tuple(f for each in counting if (f := _unverified(each)) is not None)
    told = "; ".join(_told(each, head) for each in counting)
    left = len(bound) - len(counting)
    told += f"; {left} more, not counted" if left else ""
    return Part.broken(FACET, findings, told) if findings else Part.held(FACET, told)


def _counts(each: Bound, base: str) -> bool:
    return (
        each.measured is not None
        and each.unread is None
        and each.difference.harmless
        and each.base in (None, base)
    )


def _told(each: Bound, head: str) -> str:
    paths = each.difference.documentation
    if each.measured == head:
        return f"{each.name} measured this head"
    if not paths:
        return f"{each.name} measured {(each.measured or '')[:12]}, which has the same tree"
    return f"{each.name} measured {(each.measured or '')[:12]}; since then {_listed(paths)} alone"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _none(head: str) -> Finding:
    return Finding(
        code="head-receipt-none",
        expected=f"a receipt that measured {head}",
        got="none was given, and the head holds none where the policy looks",
        remedy="give the folder that holds them: --receipts DIR; or judge by a policy that demands "
        "no receipt",
    )


def _stale(each: Bound, head: str, base: str) -> Finding:
    """Say why a receipt does not count, by the first of the reasons that apply."""
    where, difference = Where(path=each.name), each.difference
    if each.unread is not None and each.unread.code == "head-receipt":
        return each.unread
    if each.measured is None or each.unread is not None:
        return Finding(
            code="head-receipt-unknown",
            where=where,
            expected="the full id of a measured commit that this clone holds",
            got=each.unread.got if each.unread else "a receipt whose subject source has no full id",
            cause="a squash or a force-push leaves receipts behind that name commits nobody has"
            if each.unread
            else None,
            remedy="fetch the measured commit; then its tree can be compared with this head's"
            if each.unread
            else "measure again, and write the full id",
        )
    measured = f"commit {each.measured} was measured"
    touched = sorted(each.measured_files & {*difference.others})
    if touched or difference.others:
        names = touched or difference.others
        return Finding(
            code="head-receipt-measured" if touched else "head-receipt-older",
            where=where,
            expected=f"a measurement of {head}",
            got=f"{measured}; since then changed: {_listed(names)}",
            remedy=_MEASURE,
        )
    if difference.unfit:
        path, why = difference.unfit[0]
        return Finding(
            code="head-receipt-not-documentation",
            where=where,
            expected="changes of documentation alone",
            got=f"{measured}; since then {path}: {why}",
            remedy=_MEASURE,
        )
    return Finding(
        code="head-receipt-base",
        where=where,
        expected=f"base {base}",
        got=f"measured on base {each.base}",
        cause="the branch has moved since, and other code comes with it",
        remedy=_MEASURE,
    )


def _unverified(each: Bound) -> Finding | None:
    result, where = each.result, Where(path=each.name)
    if isinstance(result, Result) and result.verdict is Verdict.VERIFIED:
        return None
    if isinstance(result, Failed):
        got, remedy = f"{result.code}: {result.message}", result.remedy
    else:
        outcome = str(result.verdict) if result else "not judged"
        reason = result.deciding if result else None
        got = f"{outcome}: {reason.code}, {reason.row.title}" if reason else outcome
        remedy = reason.remedy if reason else "verify it by itself to see why"
    return Finding(
        code="head-receipt", where=where, expected="a verified receipt", got=got, remedy=remedy
    )
