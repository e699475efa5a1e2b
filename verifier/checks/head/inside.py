"""Facets `helpers` and `compositions`: what the policy lists, as it is judged in head's tree.

Each host and composition is a result of its own beside the head's; here they only count.
"""

from collections.abc import Sequence
from typing import Final

from verifier.checks.head.part import Part
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed, Result
from verifier.core.value import frozen
from verifier.core.verdict import Verdict

_MOST_NAMED: Final = 3


@frozen
class Judged:
    """One thing of the policy's list, and what came of it; None where the head lacks it.

    `twin` is another path of the head that some file systems take for the same; `instead` is what
    is there in the place of a file.
    """

    name: str
    result: Result | Failed | None
    twin: str | None = None
    instead: str = "none in the head"


#: Facet → the code of what is not verified, and of what is missing.
_CODES: Final = {"helpers": "head-helper", "compositions": "head-composition"}
_WORDS: Final = {"helpers": "host", "compositions": "composition"}


def inside(facet: str, judged: Sequence[Judged]) -> Part:
    """Judge one of the two facets by the results of all that is listed for it."""
    word = _WORDS[facet]
    if not judged:
        return Part.absent(facet, f"the policy lists no {word}")
    findings = tuple(found for each in judged for found in _findings(facet, each))
    if findings:
        return Part.broken(facet, findings, f"{len(findings)} of {len(judged)} not verified")
    told = [_told(each) for each in judged[:_MOST_NAMED]]
    more = f" and {len(judged) - _MOST_NAMED} more" if len(judged) > _MOST_NAMED else ""
    return Part.held(facet, f"{', '.join(told)}{more}")


def _told(judged: Judged) -> str:
    found = judged.result.identified if isinstance(judged.result, Result) else ()
    return f"{judged.name} {found[0].version}" if found else judged.name


def _findings(facet: str, judged: Judged) -> tuple[Finding, ...]:
    result = judged.result
    if result is None:
        return (
            Finding(
                code="head-host-missing",
                where=Where(path=judged.name),
                expected="a regular file of that path",
                got=judged.instead,
                remedy="restore it; or take it out of the base's policy first, in a change of its "
                "own",
            ),
        )
    if isinstance(result, Failed):
        return (_unverified(facet, judged.name, f"{result.code}: {result.message}", result.remedy),)
    if result.verdict is Verdict.VERIFIED:
        return (_twin(judged.name, judged.twin),) if judged.twin else ()
    outcome, reason = str(result.verdict), result.deciding
    got = f"{outcome}: {reason.code}, {reason.row.title}" if reason else outcome
    remedy = reason.remedy if reason else "judge it by itself to see why"
    return (_unverified(facet, judged.name, got, remedy),)


def _twin(name: str, twin: str) -> Finding:
    return Finding(
        code="head-helper",
        where=Where(path=name),
        expected="one file of that name in every file system",
        got=f"{twin} beside it: where capitals are not told apart, either may be there",
        remedy="take the other file out of the head",
    )


def _unverified(facet: str, name: str, got: str, remedy: str) -> Finding:
    return Finding(
        code=_CODES[facet],
        where=Where(path=name),
        expected=f"a verified {_WORDS[facet]}",
        got=got,
        remedy=remedy,
    )
