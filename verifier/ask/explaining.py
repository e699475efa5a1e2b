"""What keeps a file or a tree from being what was published, place by place, and what did it."""

from collections.abc import Sequence
from typing import BinaryIO

from verifier.ask.answers import Answer, Answered, failed
from verifier.ask.helper import verify_helper
from verifier.ask.reading import Reach, is_tree
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.core.demand import ALWAYS
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Failed, Result
from verifier.core.verdict import Verdict
from verifier.sources.file import STDIN


def why(
    files: Sequence[str],
    *,
    trust: Trust | None = None,
    lineage: str | None = None,
    composition: str | None = None,
    prefix: str = "",
    max_size: int = HOST_BYTES,
    stdin: BinaryIO | None = None,
    reach: Reach | None = None,
) -> Answered:
    """Say of each file what it is nearest to, where it departs from that, and what did it.

    A folder, a whole commit or archive is asked about as a tree: which stage of a composition it
    is nearest to. `composition` names the one that is meant, `prefix` the folder where its paths
    begin; then every argument is a tree. Without it, compositions are looked for. Answers about
    files come first.

    An answer is known if what was asked about was recognised, or if every refusal has a cause.

    Raises `WrongCallError` as `verify_helper` and `verify_composition` do.
    """
    trust = trust or open_trust()
    if composition is not None and lineage is not None:
        raise WrongCallError(
            "--lineage and --composition are given both, and a file is no tree",
            code="wrong-call",
            remedy="ask about files and trees in two calls",
        )
    if prefix and composition is None:
        raise WrongCallError(
            "--prefix: there is no --composition whose paths begin there",
            code="wrong-call",
            remedy="name the composition; pinproof identify SOURCE finds which one it is",
        )
    trees = [n for n in files if n != STDIN and (composition is not None or is_tree(n))]
    plain = [name for name in files if name not in trees]
    report = trust.report(())
    if plain or not files:
        report = verify_helper(
            plain, trust=trust, lineage=lineage, max_size=max_size, stdin=stdin, reach=reach
        )
    answers = [explained(result) for result in report.results]
    if trees:
        # Most questions are about files, which pay for no tree.
        from verifier.ask.tree_why import why_tree  # noqa: PLC0415

        for name in trees:
            answers += why_tree(name, composition, prefix, trust, reach or Reach())
    return Answered(question="why", answers=tuple(answers), report=report)


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
