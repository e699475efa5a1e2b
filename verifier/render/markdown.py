"""A report as a job summary in GitHub's Markdown, for somebody who has not read the docs.

The verdict comes first and in words, then what happened, what one may do, what was looked at, and
what a pass does not say. Foreign text stands in code spans: nothing in it is markup, a link, a
mention or a cell of a table. GitHub takes 1 MiB a step; what is beyond is left out, and said so.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from verifier.core.finding import Finding
from verifier.core.outcome import Failed, Report, Result
from verifier.core.printable import printable
from verifier.render.headlines import headline
from verifier.render.reasons import place, reason, remedy, titled
from verifier.render.surface import weight
from verifier.render.text import facts

#: What GitHub takes of one step, less room for the words that say what was left out.
_MOST_BYTES: Final = 1024 * 1024 - 512
_MOST_FINDINGS: Final = 20
#: Words that are no markup and no reference whatever stands around them; others become code.
_WORD: Final = re.compile(r"\(?(?:[A-Za-z]+(?:['-][A-Za-z]+)*|\d{1,3}(?:,\d{3})*)\)?[.,;:]?|[·—-]")
_TICKS: Final = re.compile("`+")
_MEANS: Final = {
    "verified": "Everything that is demanded was checked, and it holds.",
    "rejected": "What was pinned and what is here contradict each other. "
    "Do not merge, install or cite it as it is.",
    "undecided": "This is not a pass: something that is demanded does not hold, or could not "
    "be shown. The reason and what you may do about it stand below.",
    "error": "There is no verdict: something could not be read. This is not a pass.",
}
_ORDER: Final = ("rejected", "error", "undecided", "verified")


def report(value: Report) -> bytes:
    """Render a report, the gravest subject first."""
    items = sorted(value.results, key=lambda item: _ORDER.index(_word(item)))
    word = str(value.verdict or "error")
    waived = sum(len(item.waived) for item in items if isinstance(item, Result))
    more = f", {waived} waived" if waived else ""
    more += " (at a past time)" if value.past_time else ""
    pages = [f"## pinproof: {word}{more}\n\n{_MEANS[word]}\n"]
    pages += ["\n".join(_block(item, value)) + "\n" for item in items]
    return _within("\n".join(pages).encode())


def _within(data: bytes) -> bytes:
    """Cut at the end of a line, outside of which no markup reaches."""
    if len(data) <= _MOST_BYTES:
        return data
    kept = data[: data.rindex(b"\n", 0, _MOST_BYTES) + 1]
    lines = data.count(b"\n") - kept.count(b"\n")
    note = f"**Cut here: {lines:,} more lines.** GitHub takes 1 MiB of a summary; "
    return kept + f"\n{note}`--output json=PATH` writes all of the report.\n".encode()


def _word(item: Result | Failed) -> str:
    return str(item.verdict) if isinstance(item, Result) else "error"


def _block(item: Result | Failed, value: Report) -> Iterator[str]:
    yield f"### {code(item.subject.name)}"
    yield ""
    if isinstance(item, Failed):
        yield f"**error**: {prose(item.message)}"
        yield ""
        yield f"- **Why:** {prose(titled(item.code))}"
        yield f"- **You may:** {prose(item.remedy)}"
        return
    main = item.deciding
    waived = f", {len(item.waived)} waived" if item.waived else ""
    yield f"**{item.verdict}**: {prose(headline(item, main))}{waived}"
    yield ""
    yield f"- **Why:** {prose(reason(item, main))}"
    if main is not None:
        yield from _details(main)
    if (allowed := remedy(item, main)) is not None:
        yield f"- **You may:** {prose(allowed)}"
    if main is not None:
        yield f"- **More of it:** {code(f'pinproof explain {main.code}')}"
    yield from _waivers(item)
    yield from _others(item, main)
    yield from _coverage(item)
    yield from _small_print(item, value)


def _details(finding: Finding) -> Iterator[str]:
    if finding.expected:
        yield f"- **Expected:** {code(finding.expected)}"
    if finding.got:
        yield f"- **Got:** {code(finding.got)}"
    if finding.cause:
        yield f"- **Cause:** {prose(finding.cause)}"


def _waivers(item: Result) -> Iterator[str]:
    for waiver in item.waivers:
        yield (
            f"- **Waived:** {prose(titled(waiver.code))} · {code(waiver.reason)} "
            f"(by {code(waiver.by)}, until {waiver.until})"
        )


def _others(item: Result, main: Finding | None) -> Iterator[str]:
    others = [f for f in item.findings if f is not main and weight(f, item) != "note"]
    if others:
        yield from ("", "Also found:", "")
    for finding in others[:_MOST_FINDINGS]:
        got = f" · got {code(finding.got)}" if finding.got else ""
        yield f"- {prose(titled(finding.code) + place(finding, item))}{got}"
    if len(others) > _MOST_FINDINGS:
        yield f"- {len(others) - _MOST_FINDINGS} more"


def _coverage(item: Result) -> Iterator[str]:
    if not item.coverage:
        return
    yield from ("", "| What was looked at | Demanded | Result |", "| --- | --- | --- |")
    for covered in item.coverage:
        name = covered.facet.replace("-", " ")
        demanded = "yes" if covered.facet in item.demanded else "no"
        detail = f" · {code(covered.detail, cell=True)}" if covered.detail else ""
        yield f"| {name} | {demanded} | {str(covered.state).replace('-', ' ')}{detail} |"


def _small_print(item: Result, value: Report) -> Iterator[str]:
    yield ""
    if item.not_proven:
        yield f"Not proven: {prose('; '.join(item.not_proven))}."
        yield ""
    for label, text in facts(item, value):
        yield f"- {label}: {prose(text)}"


def code(text: str, *, cell: bool = False) -> str:
    """Return foreign text as a code span, of a table's `cell` or elsewhere."""
    shown = printable(text) or " "
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {shown} " if longest or shown[0] == shown[-1] == " " else shown
    return f"{fence}{padded.replace('|', chr(92) + '|') if cell else padded}{fence}"


def prose(text: str) -> str:
    """Return a sentence of ours that may hold foreign words: plain words plain, others as code."""
    told = []
    for plain, words in groupby(printable(text).split(), lambda word: bool(_WORD.fullmatch(word))):
        joined = " ".join(words)
        bare = joined.rstrip(".,;:")
        told.append(joined if plain or not bare else code(bare) + joined[len(bare) :])
    return " ".join(told)
