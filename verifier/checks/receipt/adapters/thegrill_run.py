"""What a run folder of TheGrill holds, as values (`thegrill` reads them)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from verifier.core.digest import Pin
from verifier.core.table import Table
from verifier.core.value import frozen


@frozen
class Attempt:
    """One request and its answer. Times are microseconds, `start` since the wave's own start."""

    lane: int
    dispatched: bool
    status: str
    http: int | None
    finish: str | None
    response: Pin
    start: int
    settle: int
    first: int | None
    prompt: int | None
    completion: int | None
    total: int | None
    cached: int | None
    eligible: bool

    @classmethod
    def read(cls, table: Table) -> Self:
        """Read one attempt."""
        usage, timing = table.table("usage"), table.table("timing")
        finish = None if table.is_null("finish_reason") else table.optional_text("finish_reason")
        return cls(
            lane=table.integer("lane"),
            dispatched=table.flag("dispatched"),
            status=table.text("status"),
            http=table.optional_integer("http_status"),
            finish=finish,
            response=Pin(
                sha256=table.sha256("response_sha256"), length=table.integer("response_bytes")
            ),
            start=timing.integer("dispatch_offset_us"),
            settle=timing.integer("settle_us"),
            first=timing.optional_integer("first_generated_text_us"),
            prompt=usage.optional_integer("prompt_tokens"),
            completion=usage.optional_integer("completion_tokens"),
            total=usage.optional_integer("total_tokens"),
            cached=usage.optional_integer("cached_prompt_tokens"),
            eligible=not table.texts("eligibility_errors", default=()),
        )


@frozen
class Wave:
    """Requests that were sent together. `state` is its part of the evidence fingerprint."""

    spec: dict[str, Any]
    state: str
    eligible: bool = False
    requests: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()

    @staticmethod
    def read_attempts(table: Table) -> tuple[Attempt, ...]:
        """Read the attempts of a wave."""
        return tuple(map(Attempt.read, table.tables("attempts")))

    @property
    def measured(self) -> bool:
        """Whether it counts, and was not there to warm up."""
        return bool(self.spec["phase"] == "measured")

    @property
    def published(self) -> bool:
        """Whether it was measured to its end."""
        return "published\0" in self.state

    @property
    def elapsed(self) -> int:
        """From the first request to the end of the last answer."""
        first = min(attempt.start for attempt in self.attempts)
        return max(attempt.start + attempt.settle for attempt in self.attempts) - first

    @property
    def tokens(self) -> int | None:
        """All tokens that came out; unknown if one is unknown, which is never 0."""
        known = [a.completion for a in self.attempts if a.completion is not None]
        whole = all(attempt.status == "complete" for attempt in self.attempts)
        return sum(known) if whole and len(known) == len(self.attempts) else None

    @property
    def rate(self) -> Decimal | None:
        """Tokens a second, None unless every attempt was eligible."""
        if self.tokens is None or not all(a.eligible for a in self.attempts) or not self.elapsed:
            return None
        return Decimal(self.tokens * 1_000_000) / self.elapsed


@dataclass
class Run:
    """A run while it is read; `settled` counts the waves of sessions that ended."""

    plan: dict[str, Any]
    version: int
    plan_sha256: str
    source_sha256: str
    collector_sha256: str
    started: int
    limit: int
    specs: Sequence[dict[str, Any]]
    waves: list[Wave] = field(default_factory=list)
    settled: int = 0
    status: str = "unknown"
