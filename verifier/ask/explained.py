"""A result as an answer to why: what counts against it, place and cause of each."""

from verifier.ask.answers import Answer, failed
from verifier.core.demand import ALWAYS
from verifier.core.finding import Finding
from verifier.core.outcome import Failed, Result
from verifier.core.verdict import Verdict


def explained(result: Result | Failed) -> Answer:
    """Turn a judged file into an answer: what counts against it, place and cause of each."""
    name = result.subject.name
    if isinstance(result, Failed):
        return failed(name, result.code, result.message, result.remedy, exit_code=result.exit)
    found = ", ".join(
        f"carries {i.entry} {i.version}"
        if i.status != "base"
        else f"is the {i.detail} of {i.entry}"
        for i in result.identified
    )
    counting = counting_of(result)
    if not counting:
        return Answer(known=True, name=name, headline=f"{name} {found}; nothing to explain")
    rows: list[tuple[str, str]] = []
    for finding in counting:
        rows.append(("because", f"{finding.code}: {finding.row.title}{_place(finding, name)}"))
        rows += [
            (label, text)
            for label, text in (
                ("expected", finding.expected),
                ("got", finding.got),
                ("cause", finding.cause),
            )
            if text
        ]
    rows.append(("you may", counting[0].remedy))
    return Answer(
        known=bool(found) or all(f.cause for f in counting),
        name=name,
        headline=f"{name}{f' {found}, but' if found else ''}: {counting[0].row.title}",
        rows=tuple(rows),
    )


def counting_of(result: Result) -> list[Finding]:
    """Return what counts against a result by its policy; if that is nothing, all that is open."""
    counting = [
        f
        for f in result.findings
        if f.row.outcome == "rejected" or f.row.facet in result.demanded | ALWAYS
    ]
    return counting or (list(result.findings) if result.verdict is not Verdict.VERIFIED else [])


def _place(finding: Finding, name: str) -> str:
    """Say at which line of the file, or at which path of the tree `name`, a finding is."""
    where = finding.where
    if where.path not in (None, name):
        return f" ({where.path})"
    return f" (line {where.line})" if where.line and finding.row.facet != "whole-file" else ""
