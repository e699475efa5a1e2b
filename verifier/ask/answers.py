"""Answers that are no verdict: `identify`, `why`, `list`, `show`, `explain`."""

from dataclasses import field
from typing import Any

from verifier.catalog.refused import Refused
from verifier.core.outcome import Report
from verifier.core.value import frozen
from verifier.core.verdict import Exit, exit_of, exit_of_answer


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


def refusal(name: str, refused: Refused) -> Answer:
    """Return the answer about `name` when the registry, or its entry, cannot be used."""
    return Answer(
        known=False,
        name=name,
        headline="the registry cannot be used",
        rows=(
            *(("because", f"{f.code}: {f.row.title}") for f in refused.findings),
            ("you may", refused.findings[0].remedy),
        ),
    )
