"""A report as workflow commands of GitHub Actions: annotations on the lines of a pull request.

The runner reads commands from whatever a step prints: `::` at the start of a line, blanks aside,
and the older `##[` anywhere in one. So every line that is no command begins with a word of ours,
and nothing foreign holds the older form. Source: `ActionCommand` of github.com/actions/runner.
"""

from collections.abc import Iterator
from typing import Final

from verifier.core.finding import Where
from verifier.core.outcome import Failed, Report, Result
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.render.headlines import headline
from verifier.render.layout import shortened
from verifier.render.reasons import reason
from verifier.render.surface import site, told, weight

#: So many of each are shown for one step; GitHub drops the rest.
_MOST: Final = 10


@frozen
class _Annotation:
    """One annotation: where, how grave, and what it says."""

    level: str
    title: str
    message: str
    place: tuple[tuple[str, str], ...] = ()


def report(value: Report) -> bytes:
    """Render a report: at most ten errors and ten warnings, then a line for each subject."""
    past = " (at a past time)" if value.past_time else ""
    lines = [f"{_word(item)}: {_inert(_about(item))}{past}" for item in value.results]
    for level in ("error", "warning", "notice"):
        found = [each for item in _gravest(value) for each in _of(item) if each.level == level]
        lines += map(_command, found[:_MOST])
        if len(found) > _MOST:
            more = f"{len(found) - _MOST} more of {len(found)} findings are not annotated here"
            lines.append(f"pinproof: {level}: {more}; the job summary and --output sarif=PATH")
    return ("\n".join(lines) + "\n").encode()


def _gravest(value: Report) -> list[Result | Failed]:
    order = ("rejected", "error", "undecided", "verified")
    return sorted(value.results, key=lambda item: order.index(_word(item)))


def _word(item: Result | Failed) -> str:
    return str(item.verdict) if isinstance(item, Result) else "error"


def _about(item: Result | Failed) -> str:
    if isinstance(item, Failed):
        return f"{item.code}: {item.message}"
    main = item.deciding
    waived = f", {len(item.waived)} waived" if item.waived else ""
    return f"{headline(item, main)}{waived}; {reason(item, main)}"


def _of(item: Result | Failed) -> Iterator[_Annotation]:
    """Return what to annotate of a subject; one that is not verified always has something."""
    if isinstance(item, Failed):
        place = (("file", printable(item.subject.name)),)
        message = f"{item.message}. You may: {item.remedy}"
        yield _Annotation(level="error", title=item.code, message=message, place=place)
        return
    weights = [weight(finding, item) for finding in item.findings]
    for finding, grave in zip(item.findings, weights, strict=True):
        found = site(finding, item)
        if grave != "note":
            part = f"{found.part}: " if found.part else ""
            yield _Annotation(
                level=grave,
                title=finding.code,
                message=f"{part}{told(finding)}",
                place=(("file", found.file), *(() if found.part else _range(finding.where))),
            )
    if item.verdict is not Verdict.VERIFIED and set(weights) <= {"note"}:
        message = f"{_about(item)}. Not verified is no pass."
        place = (("file", printable(item.subject.name)),)
        yield _Annotation(level="warning", title="undecided", message=message, place=place)
    for waiver in item.waivers:
        message = f"{item.subject.name}: {waiver.reason} ({waiver.by}, until {waiver.until})"
        yield _Annotation(level="notice", title=f"waived: {waiver.code}", message=message)


def _range(where: Where) -> Iterator[tuple[str, str]]:
    """Return the lines; GitHub takes columns of a single line only, and the last is included."""
    text = where.text
    if text is None:
        if where.line is not None:
            yield "line", str(where.line)
        return
    last = text.end_line - (text.end_column == 1 and text.end_line > text.line)
    yield "line", str(text.line)
    yield "endLine", str(last)
    if text.end_line == text.line:
        yield "col", str(text.column)
        yield "endColumn", str(max(text.column, text.end_column - 1))


def _command(each: _Annotation) -> str:
    named = [*each.place, ("title", f"pinproof: {each.title}")]
    properties = ",".join(f"{name}={_property(text)}" for name, text in named)
    return f"::{each.level} {properties}::{_data(shortened(each.message))}"


def _data(text: str) -> str:
    """Escape what a message may not hold; of line ends, printing on one line has left none."""
    return _inert(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _inert(text: str) -> str:
    """Print text on one line, with the older form of commands taken apart."""
    return printable(text).replace("##[", "## [")
