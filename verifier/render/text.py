"""A report for people at a terminal of 80 columns.

The first line says the verdict and what it is about, the second the main reason, the last what
one may do. Colour repeats what words say.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from verifier.ask.answers import Answer, Answered
from verifier.core.codes import CODES
from verifier.core.errors import PinproofError
from verifier.core.finding import Finding
from verifier.core.outcome import Failed, Identified, Report, Result
from verifier.core.table import MalformedError
from verifier.core.verdict import Exit, Verdict
from verifier.render.layout import first, rows, second

_MOST_ALSO: Final = 8


def report(value: Report, *, colour: bool = False) -> bytes:
    """Render a report; one block a subject, and first a count if there are several."""
    blocks = [_block(item, value, colour=colour) for item in value.results]
    if len(blocks) > 1:
        blocks.insert(0, _summary(value, colour=colour))
    return "\n".join(blocks).encode()


def answered(value: Answered, *, colour: bool = False) -> bytes:
    """Render the answers to a question that is no verdict."""
    word = "entry" if value.question in ("list", "show") else "known"
    short = value.question == "why"
    blocks = [_answer(answer, word, short=short, colour=colour) for answer in value.answers]
    return "\n".join(blocks).encode()


def error(value: PinproofError, *, colour: bool = False) -> bytes:
    """Render what stopped a run before any judgement."""
    headline, mistakes = value.message, []
    if isinstance(value, MalformedError) and len(value.mistakes) > 1:
        headline = f"{value.what}: {len(value.mistakes)} mistakes"
        mistakes = [("mistake", mistake) for mistake in value.listed]
    lines = [first("error", headline, colour=colour), second(_code(value.code)), ""]
    lines += [*rows([*mistakes, ("you may", value.remedy)]), ""]
    return "\n".join(lines).encode()


def _code(code: str) -> str:
    return f"{code}: {CODES[code].title}"


# ── a judged subject ───────────────────────────────────────────────────────────────────────────


def _summary(value: Report, *, colour: bool) -> str:
    names = {Exit.ENVIRONMENT: "error", Exit.INTERNAL: "error"}
    words = Counter(
        str(item.verdict) if isinstance(item, Result) else names.get(item.exit, "error")
        for item in value.results
    )
    order = ("rejected", "error", "undecided", "verified")
    counts = ", ".join(f"{words[word]} {word}" for word in order if words[word])
    files = len({item.subject.name for item in value.results})
    about = f"{files} {'file' if files == 1 else 'files'}"
    if files != len(value.results):
        about += f", {len(value.results)} answers"
    return first(str(value.verdict or "error"), f"{about}: {counts}", colour=colour) + "\n"


def _block(item: Result | Failed, value: Report, *, colour: bool) -> str:
    if isinstance(item, Failed):
        lines = [first("error", item.message, colour=colour), second(_code(item.code))]
        lines += ["", *rows([("you may", item.remedy)])]
        return "\n".join(lines) + "\n"
    main = _main(item)
    waived = f", {len(item.waived)} waived" if item.waived else ""
    past = " (at a past time)" if value.past_time else ""
    lines = [
        first(str(item.verdict), f"{_headline(item, main)}{waived}{past}", colour=colour),
        second(_reason(item, main)),
        "",
    ]
    lines += rows(list(_rows(item, main, value)))
    return "\n".join(lines) + "\n"


def _main(item: Result) -> Finding | None:
    """Return the finding that decided, None if the subject is verified."""
    if item.verdict is Verdict.VERIFIED:
        return None
    outcome = str(item.verdict)
    counting = [f for f in item.findings if f.row.outcome == outcome and f.code not in item.waived]
    demanded = [f for f in counting if f.row.facet in item.demanded | {"input", "registry"}]
    return next(iter(demanded or counting), None)


def _headline(item: Result, main: Finding | None) -> str:
    name = item.subject.name
    if item.kind == "registry":
        return "the registry authenticates" if main is None else "the registry cannot be used"
    found = next(iter(item.identified), None)
    if main is not None and main.row.facet == "registry":
        return f"{name}: the registry cannot be used"
    if found is None and item.claims:
        says = " and ".join(item.claims)
        return f"{name} says {says}, its bytes do not" if _says_no(item) else f"{name} says {says}"
    if found is None:
        return f"{name} is not what was published" if _says_no(item) else f"{name} is not known"
    if found.version == "pristine":
        return f"{name} is the registered {found.detail} of {found.entry}"
    return f"{name} carries {found.entry} {found.version}{_standing(item, found, main)}"


def _says_no(item: Result) -> bool:
    return item.verdict is Verdict.REJECTED


def _standing(item: Result, found: Identified, main: Finding | None) -> str:
    if main is not None and main.code == "helper-not-accepted":
        return ": authentic, not accepted"
    if _says_no(item):
        return ", but not as published"
    if main is not None and main.code != "helper-not-expected":
        return ", not all that is demanded"
    return ", the current version" if found.current else ", not the current version"


def _reason(item: Result, main: Finding | None) -> str:
    if main is not None:
        return f"{_code(main.code)}{_place(main, item)}"
    if item.verdict is Verdict.VERIFIED:
        if item.kind == "registry":
            return "every file is signed, every entry parses, the index is as derived"
        held = [c.facet for c in item.coverage if c.facet in item.demanded and c.state.holds]
        words = [facet.replace("-", " ") for facet in held]
        listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        waived = f"; waived: {', '.join(item.waived)}" if item.waived else ""
        return f"{listed} {'are' if len(words) > 1 else 'is'} as registered{waived}"
    unmet = [c.facet for c in item.coverage if c.facet in item.demanded and not c.state.holds]
    return f"nothing says yes: {', '.join(unmet)} not checked"


def _rows(item: Result, main: Finding | None, value: Report) -> Iterator[tuple[str, str]]:
    if item.subject.link is not None:
        yield "link", f"leads to {item.subject.link}"
    if main is not None:
        yield from _details(main)
    others = [f for f in item.findings if f is not main and _shown(f, item)]
    for finding in others[:_MOST_ALSO]:
        yield "also", _also(finding, item)
    if len(others) > _MOST_ALSO:
        yield "also", f"{len(others) - _MOST_ALSO} more (--format json lists all)"
    if item.identified or item.kind == "registry":
        for covered in item.coverage:
            label = "contents" if item.kind == "registry" else covered.facet.replace("-", " ")
            yield label, covered.words
    if item.not_proven:
        yield "not proven", "; ".join(item.not_proven)
    yield from _facts(item, value)
    if main is not None:
        yield "you may", main.remedy
    elif item.verdict is Verdict.UNDECIDED:
        yield "you may", "judge with a policy that demands what can be checked here"


def _shown(finding: Finding, item: Result) -> bool:
    """Leave out what a facet that nobody demanded lacks; its coverage says so in one row."""
    counts = finding.row.facet in item.demanded | {"input", "registry"}
    return counts or finding.row.outcome == "rejected" or finding.code in item.waived


def _place(finding: Finding, item: Result) -> str:
    """Say where a finding is: another file than the subject, and the line if it tells one."""
    where, found = finding.where, []
    if where.path not in (None, item.subject.name):
        found.append(str(where.path))
    if where.line and finding.row.facet != "whole-file":
        found.append(f"line {where.line}")
    return f" ({', '.join(found)})" if found else ""


def _details(finding: Finding) -> Iterator[tuple[str, str]]:
    for label, text in (
        ("expected", finding.expected),
        ("got", finding.got),
        ("cause", finding.cause),
    ):
        if text:
            yield label, text


def _also(finding: Finding, item: Result) -> str:
    waived = " · waived" if finding.code in item.waived else ""
    wanted = f"expected {finding.expected}, " if finding.expected and finding.got else ""
    note = f" · {wanted}got {finding.got}" if finding.got else ""
    return f"{finding.code}{_place(finding, item)}{note}{waived}"


def _facts(item: Result, value: Report) -> Iterator[tuple[str, str]]:
    registry = value.registry
    if registry is not None:
        origin = f"sealed with {registry.sealed}" if registry.sealed else "given by the caller"
        floor = f"floor {registry.floor}" if registry.floor else "rollback not checked"
        fresh = " · freshness: none" if registry.sealed else ""
        yield (
            "registry",
            f"{registry.origin}, {origin}, expires {registry.expires[:10]}{fresh} · {floor}",
        )
    if value.policy is not None and item.kind != "registry":
        policy = f"{value.policy.name} {value.policy.sha256[:12]}"
        yield "policy", f"{policy} · at {value.effective_time}"


# ── an answer ──────────────────────────────────────────────────────────────────────────────────


def _answer(answer: Answer, word: str, *, short: bool, colour: bool) -> str:
    word = "error" if answer.error else (word if answer.known else "unknown")
    lines = [first(word, answer.headline, colour=colour)]
    if answer.rows:
        lines += ["", *rows(list(answer.rows), short=short)]
    return "\n".join(lines) + "\n"
