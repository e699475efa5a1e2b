"""A report for people at a terminal of 80 columns.

The first line says the verdict and what it is about, the second the main reason, the last what
one may do. Colour repeats what words say.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from verifier.ask.answers import Answer, Answered, Listing
from verifier.core.coverage import NOT_ASKED
from verifier.core.errors import PinproofError
from verifier.core.finding import Finding
from verifier.core.outcome import Failed, ProducerFacts, Report, Result
from verifier.core.printable import printable
from verifier.core.table import MalformedError
from verifier.core.verdict import Exit, Verdict
from verifier.render.graph import graph_rows
from verifier.render.headlines import headline
from verifier.render.layout import first, rows, second
from verifier.render.reasons import place, reason, remedy, titled

if TYPE_CHECKING:
    from verifier.sources.tree import TreeEntry

_MOST_ALSO: Final = 8
_COMMIT: Final = 12
#: What a kind of subject is called where several are counted, if not a file.
_NOUNS: Final = {
    "image": "image",
    "runtime": "runtime",
    "composition": "composition",
    "proof": "composition",
    "head": "head",
    "still-valid": "head",
    "policy": "policy",
    "tree": "tree",
    "diff": "comparison",
    "registry": "registry",
    "audit": "audit",
    "agreement": "audit",
}
#: What an answer is, by the question.
_WORDS: Final = {"list": "entry", "show": "entry", "trust": "input", "history": "found"}
#: Kinds whose coverage is told whatever was identified.
_COVERED: Final = (
    *("registry", "policy", "diff", "composition", "proof", "image", "runtime"),
    *("statement", "bundle", "chain", "commit", "receipt", "release", "scan"),
    *("head", "still-valid"),
    *("pin", "audit", "agreement", "vouches"),
)


def report(value: Report, *, colour: bool = False) -> bytes:
    """Render a report; one block a subject, and first a count if there are several."""
    blocks = [block(item, value, colour=colour) for item in value.results]
    if len(blocks) > 1:
        blocks.insert(0, _summary(value, colour=colour))
    return "\n".join(blocks).encode()


def answered(value: Answered, *, colour: bool = False) -> bytes:
    """Render the answers to a question that is no verdict."""
    word = _WORDS.get(value.question, "known")
    short = value.question == "why"
    blocks = [_answer(answer, word, short=short, colour=colour) for answer in value.answers]
    return "\n".join(blocks).encode()


def error(value: PinproofError, *, colour: bool = False) -> bytes:
    """Render what stopped a run before any judgement."""
    headline, mistakes = value.message, []
    if isinstance(value, MalformedError) and len(value.mistakes) > 1:
        headline = f"{value.what}: {len(value.mistakes)} mistakes"
        mistakes = [("mistake", mistake) for mistake in value.listed]
    lines = [first("error", headline, colour=colour), second(titled(value.code)), ""]
    lines += [*rows([*mistakes, ("you may", value.remedy)]), ""]
    return "\n".join(lines).encode()


def listing(value: Listing, *, digests: bool, colour: bool = False) -> bytes:
    """Render a tree: the report on reading it, then a line for each entry."""
    (item,) = value.report.results
    lines = [block(item, value.report, colour=colour)]
    if isinstance(item, Result):
        told = [("no modes", f"tree without modes {value.without_modes}")]
        told = told if value.without_modes else []
        told += [("ignored", what) for what in value.ignored]
        lines += [f"{row}\n" for row in rows(told, short=False)]
    lines += [_entry(entry, digests=digests) for entry in value.entries]
    return "".join(lines).encode()


def _entry(entry: "TreeEntry", *, digests: bool) -> str:
    path, _, bits, size, sha256, leads, _ = entry
    mode = "unknown" if bits is None else f"{bits:06o}"
    length = "-" if size is None else f"{size:,}"
    digest = f"{sha256 or '-':64} " if digests else ""
    target = f" -> {_raw(leads)}" if leads else ""
    return f"{mode:7} {length:>14} {digest}{_raw(path)}{target}\n"


def _raw(name: bytes) -> str:
    return printable(name.decode(errors="surrogateescape"))


# ── a judged subject ───────────────────────────────────────────────────────────────────────────


def _summary(value: Report, *, colour: bool) -> str:
    names = {Exit.ENVIRONMENT: "error", Exit.INTERNAL: "error"}
    words = Counter(
        str(item.verdict) if isinstance(item, Result) else names.get(item.exit, "error")
        for item in value.results
    )
    order = ("rejected", "error", "undecided", "verified")
    counts = ", ".join(f"{words[word]} {word}" for word in order if words[word])
    nouns = [_NOUNS.get(i.kind, "file") if isinstance(i, Result) else "" for i in value.results]
    if set(nouns) <= {"file", ""}:
        nouns = ["file"] * len(nouns)  # what failed was given as one of them
    named = zip(nouns, value.results, strict=True)
    subjects = dict.fromkeys((noun, item.subject.name) for noun, item in named)
    about = ", ".join(_counted(noun, n) for noun, n in Counter(n for n, _ in subjects).items())
    if len(subjects) != len(value.results):
        about += f", {len(value.results)} answers"
    waived = sum(len(item.waived) for item in value.results if isinstance(item, Result))
    counts += f", {waived} waived" if waived else ""
    return first(str(value.verdict or "error"), f"{about}: {counts}", colour=colour) + "\n"


def _counted(noun: str, number: int) -> str:
    """Say how many there are of a kind; without a noun, what could not be looked at."""
    if not noun:
        return f"{number:,} not looked at"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def block(item: Result | Failed, value: Report, *, colour: bool) -> str:
    """Render one subject of a report."""
    if isinstance(item, Failed):
        return failed(item, colour=colour)
    main = item.deciding
    waived = f", {len(item.waived)} waived" if item.waived else ""
    past = " (at a past time)" if value.past_time else ""
    lines = [
        first(_word(item), f"{headline(item, main)}{waived}{past}", colour=colour),
        second(reason(item, main)),
        "",
    ]
    lines += rows(list(_rows(item, main, value)))
    return "\n".join(lines) + "\n"


def failed(item: Failed, *, colour: bool) -> str:
    """Render what could not be judged, or ended."""
    lines = [first("error", item.message, colour=colour), second(titled(item.code))]
    lines += ["", *rows([("you may", item.remedy)])]
    return "\n".join(lines) + "\n"


def _rows(item: Result, main: Finding | None, value: Report) -> Iterator[tuple[str, str]]:
    if item.subject.link is not None:
        yield "link", f"leads to {item.subject.link}"
    if main is not None:
        yield from _details(main)
    others = [f for f in item.findings if f is not main and _shown(f, item)]
    # What is said of producers has a row for each of them, below.
    others = [f for f in others if not item.producers or f.row.facet != "producers"]
    for finding in others[:_MOST_ALSO]:
        yield "also", _also(finding, item)
    if len(others) > _MOST_ALSO:
        yield "also", f"{len(others) - _MOST_ALSO} more (--format json lists all)"
    yield from graph_rows(item.graph)
    for producer in item.producers:
        yield producer.state, _producer(producer)
    if item.study is not None:
        from verifier.render.study import study_rows  # noqa: PLC0415  (only receipts have one)

        yield from study_rows(item.study, item.verdict)
    yield from _coverage(item)
    if item.not_proven:
        yield "not proven", "; ".join(item.not_proven)
    yield from facts(item, value)
    if (allowed := remedy(item, main)) is not None:
        yield "you may", allowed


def _producer(producer: ProducerFacts) -> str:
    named = f"{producer.path}:{producer.symbol}" if producer.symbol else producer.path
    place = f", {named}" if named else ""
    return f"{producer.row}{place} at {producer.commit[:_COMMIT]}: {producer.detail}"


def _word(item: Result) -> str:
    """Name the verdict; a tree that was only read was compared with nothing."""
    only_read = item.kind == "tree" and item.verdict is Verdict.VERIFIED
    return "read" if only_read else str(item.verdict)


def _coverage(item: Result) -> Iterator[tuple[str, str]]:
    if item.kind in ("tree", "diff"):
        yield from (("digest", str(digest)) for digest in item.subject.digests)
    if item.identified or item.kind in _COVERED:
        for covered in item.coverage:
            if covered.detail == NOT_ASKED and covered.facet not in item.demanded:
                continue
            label = "contents" if item.kind == "registry" else covered.facet.replace("-", " ")
            yield label, covered.words


def _shown(finding: Finding, item: Result) -> bool:
    """Leave out what a facet that nobody demanded lacks; its coverage says so in one row."""
    counts = finding.row.facet in item.demanded | {"input", "registry", "tree"}
    return counts or finding.row.outcome == "rejected" or finding.code in item.waived


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
    return f"{finding.code}{place(finding, item)}{note}{waived}"


def facts(item: Result, value: Report) -> Iterator[tuple[str, str]]:
    """Say which registry and policy judged, and at what time."""
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
