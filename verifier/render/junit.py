"""A report as JUnit XML, for GitLab, Jenkins and whatever else counts tests.

A suite a subject. Its first case is the verdict, the others are the facets that the policy demands
and those that count without being demanded. A case passes only if its facet was checked and holds:
a rejected one is a failure, an open one an error. Skipped is what does not apply to the subject,
and what a waiver took out of the verdict, with the waiver's words.
"""

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Final, Literal

from verifier.core.coverage import State
from verifier.core.outcome import Failed, Report, Result
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.render.headlines import headline
from verifier.render.reasons import place, reason, remedy
from verifier.render.surface import told, weight

_ATTRIBUTES: Final[tuple[tuple[str, "Ended"], ...]] = (
    ("failures", "failure"),
    ("errors", "error"),
    ("skipped", "skipped"),
)
_DECIDED: Final[dict[Verdict, "Ended | None"]] = {
    Verdict.VERIFIED: None,
    Verdict.REJECTED: "failure",
    Verdict.UNDECIDED: "error",
}

Ended = Literal["failure", "error", "skipped"]


@frozen
class _Case:
    """One test case: how it ended if it did not pass, a line on that, and all there is to say."""

    name: str
    ended: Ended | None = None
    message: str = ""
    lines: tuple[str, ...] = ()


def report(value: Report) -> bytes:
    """Render a report as one XML document."""
    suites = [
        (item, tuple(_cases(item)) if isinstance(item, Result) else (_error(item),))
        for item in value.results
    ]
    every = [case for _, cases in suites for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="pinproof"{_counts(every)}>')
    for item, cases in suites:
        name = printable(item.subject.name)
        lines.append(f"  <testsuite{_attributes(name=name)}{_counts(cases)}>")
        lines += _properties(value)
        for case in cases:
            lines += _case(case, name)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return ("\n".join(lines) + "\n").encode()


def _error(item: Failed) -> _Case:
    return _Case(
        name="verdict",
        ended="error",
        message=f"{item.code}: {item.message}",
        lines=(item.message, f"you may: {item.remedy}"),
    )


def _cases(item: Result) -> Iterator[_Case]:
    """Return the verdict first: whatever a facet looks like, a suite is green only with it."""
    main = item.deciding
    may = remedy(item, main)
    yield _Case(
        name="verdict",
        ended=_DECIDED[item.verdict],
        message=reason(item, main),
        lines=(f"{item.verdict}: {headline(item, main)}", *([f"you may: {may}"] if may else [])),
    )
    counting = [f.row.facet for f in item.findings if weight(f, item) != "note"]
    facets = dict.fromkeys([c.facet for c in item.coverage if c.facet in item.demanded])
    for facet in dict.fromkeys([*facets, *sorted(item.demanded), *counting]):
        yield _facet(facet, item)


def _facet(facet: str, item: Result) -> _Case:
    covered = next((each for each in item.coverage if each.facet == facet), None)
    state = covered.state if covered is not None else State.NOT_CHECKED
    words = covered.words if covered is not None else "not checked"
    found = [f for f in item.findings if f.row.facet == facet and f.code not in item.waived]
    lines = tuple(f"{f.code}{place(f, item)}: {told(f)}" for f in found) or (words,)
    if any(weight(each, item) == "error" for each in found):
        return _Case(name=facet, ended="failure", message=found[0].code, lines=lines)
    if found:
        return _Case(name=facet, ended="error", message=found[0].code, lines=lines)
    waived = [
        f"waived: {w.code}, {w.reason} ({w.by}, until {w.until})"
        for w in item.waivers
        if any(f.code == w.code and f.row.facet == facet for f in item.findings)
    ]
    if waived and not state.holds:
        return _Case(name=facet, ended="skipped", message="; ".join(waived))
    if state is State.NOT_APPLICABLE:
        return _Case(name=facet, ended="skipped", message=words)
    if not state.holds:
        return _Case(name=facet, ended="error", message=words, lines=lines)
    return _Case(name=facet, lines=tuple(waived))


def _case(case: _Case, suite: str) -> Iterator[str]:
    head = f"    <testcase{_attributes(classname=suite, name=case.name)}"
    body = escape("\n".join(map(printable, case.lines)))
    message = _attributes(message=printable(case.message))
    if case.ended is None:
        told = f"<system-out>{body}</system-out></testcase>"
        yield f"{head}>{told}" if body else f"{head} />"
    elif case.ended == "skipped":
        yield f"{head}><skipped{message} /></testcase>"
    else:
        yield f"{head}><{case.ended}{message}>{body}</{case.ended}></testcase>"


def _properties(value: Report) -> Iterator[str]:
    past = " (a past time)" if value.past_time else ""
    facts = [("effectiveTime", f"{value.effective_time}{past}")]
    if value.policy is not None:
        facts.append(("policy", f"{value.policy.name} {value.policy.sha256}"))
    if value.registry is not None:
        facts.append(("registry", f"{value.registry.origin} {value.registry.snapshot_sha256}"))
    yield "    <properties>"
    for name, text in facts:
        yield f"      <property{_attributes(name=name, value=printable(text))} />"
    yield "    </properties>"


def _counts(cases: list[_Case] | tuple[_Case, ...]) -> str:
    ended = Counter(case.ended for case in cases)
    counts = {name: str(ended[kind]) for name, kind in _ATTRIBUTES}
    return _attributes(tests=str(len(cases)), **counts)


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{escape(text)}"' for name, text in values.items())
