"""Answers that are no verdict: `identify`, `why`, `list`, `show`, `explain`; a tree's listing."""

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from verifier.catalog.refused import Refused
from verifier.core.codes import CODES
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Report
from verifier.core.table import nearest
from verifier.core.value import frozen
from verifier.core.verdict import Exit, exit_of, exit_of_answer

if TYPE_CHECKING:
    from verifier.sources.tree import TreeEntry


@frozen
class Answer:
    """One thing asked about, and what is known of it.

    `rows` are label and text for people, `data` the same for programs.
    """

    known: bool
    name: str
    headline: str
    rows: tuple[tuple[str, str], ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    error: Exit | None = None


@frozen
class Answered:
    """All answers to one question. `report` holds the facts of the registry that answered."""

    question: str
    answers: tuple[Answer, ...]
    report: Report

    @property
    def exit(self) -> Exit:
        """0 if everything asked about is known, 3 if not, 4 if something could not be read."""
        return exit_of(
            answer.error or exit_of_answer(known=answer.known) for answer in self.answers
        )


@frozen
class Listing:
    """A tree's entries below what was named, and the report on reading them.

    `without_modes` is the digest that is equal for the same content where formats carry no
    modes; None if not everything was read.
    """

    report: Report
    entries: "tuple[TreeEntry, ...]" = ()
    without_modes: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def exit(self) -> Exit:
        """0 if every byte was read and nothing speaks against it."""
        return self.report.exit


def failed(name: str, code: str, message: str, remedy: str, *, exit_code: Exit) -> Answer:
    """Return the answer about a file that could not be read."""
    because = f"{code}: {CODES[code].title}"
    return Answer(
        known=False,
        error=exit_code,
        name=name,
        headline=message,
        rows=(("because", because), ("you may", remedy)),
    )


def unregistered(name: str, names: Iterable[str], *, option: str) -> WrongCallError:
    """Return the error for an entry that the registry does not hold, with the nearest name."""
    near = nearest(name, names)
    return WrongCallError(
        f"{option}: {name} is not registered" + (f", did you mean {near}?" if near else ""),
        code="entry-unknown",
        remedy="pinproof list shows what is registered",
    )


def refusal(
    name: str, refused: Refused, *, headline: str = "the registry cannot be used"
) -> Answer:
    """Return the answer about `name` when what it takes, such as the registry, was refused."""
    return Answer(
        known=False,
        name=name,
        headline=headline,
        rows=(
            *(("because", f"{f.code}: {f.row.title}") for f in refused.findings),
            ("you may", refused.findings[0].remedy),
        ),
    )
