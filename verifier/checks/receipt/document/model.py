"""What a measurement receipt says (predicate `urn:pinproof:measurement-receipt:v1`, FORMATS §6).

Values alone: nothing here has been compared with anything. Measured numbers are decimals or
integers, missing ones None and never 0.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from verifier.checks.receipt.document.identities import (
    Collector,
    Environment,
    Equality,
    Evidence,
    Model,
    Reference,
    Runtime,
    Workload,
    Written,
)
from verifier.core.value import frozen


class Kind(StrEnum):
    """What was studied; it decides which rules apply (`applies`)."""

    SERVING = "serving-benchmark"
    TIMING = "command-timing"
    KERNEL = "kernel-benchmark"
    CANARY = "canary"
    TESTS = "cpu-suite"


class Role(StrEnum):
    """What an arm is there for."""

    CONTROL = "control"
    CANDIDATE = "candidate"
    RETURN = "return"


class ArmState(StrEnum):
    """How an arm ended."""

    COMPLETE = "complete"
    INVALID = "invalid"
    INCOMPLETE = "incomplete"
    NOT_STARTED = "notStarted"


class GateState(StrEnum):
    """The states of a gate; only PASS is one, whatever the exit code was (G4, G5)."""

    PASS = "PASS"  # noqa: S105  (no password)
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    DESCRIPTIVE = "DESCRIPTIVE"
    INVALID = "INVALID"
    INCOMPLETE = "INCOMPLETE"
    NOT_RUN = "NOT_RUN"
    WAIVED = "WAIVED"


class ClaimKind(StrEnum):
    """What a claim asserts: what a broken rule takes away depends on it."""

    MEASURED = "measured"
    IMPROVEMENT = "improvement"
    REGRESSION = "regression"
    NO_REGRESSION = "noRegression"
    EQUIVALENCE = "equivalence"
    ATTRIBUTION = "attribution"
    INTERACTION = "interaction"
    INTERLEAVED = "interleaved"
    THROUGHPUT = "throughput"
    ACTIVATION = "activation"
    COLD = "cold"
    CACHE_HIT = "cacheHit"
    RESIDENCY = "residency"
    CORRECTNESS = "correctness"
    ISOLATED_HEAD = "isolatedHead"
    REPRODUCED = "reproduced"
    PUBLISHED_TOOL = "publishedTool"


#: Claims that set one arm against another.
COMPARING = frozenset(
    {
        ClaimKind.IMPROVEMENT,
        ClaimKind.REGRESSION,
        ClaimKind.NO_REGRESSION,
        ClaimKind.EQUIVALENCE,
        ClaimKind.ATTRIBUTION,
        ClaimKind.INTERACTION,
        ClaimKind.INTERLEAVED,
    }
)
#: Claims that say which of two is better.
DIRECTED = frozenset({ClaimKind.IMPROVEMENT, ClaimKind.REGRESSION})


@frozen
class Gates:
    """The gate file: its digest at the plan and at the verdict, and when it was declared."""

    planned: Written | None
    judged: Written | None
    declared_at: datetime | None
    attested: Written | None


@frozen
class Design:
    """How the study was laid out.

    `order` lists arms, `kind` is BAAB, ABBA, AAB, sequential or single; `cases` is what was planned
    to be measured; `algorithmic` names settings that choose another algorithm or topology.
    """

    kind: str
    order: tuple[str, ...]
    fresh_boots: bool
    differing: tuple[str, ...]
    algorithmic: tuple[str, ...]
    cases: tuple[str, ...]
    repetitions: int | None
    warmups: int | None
    budget_us: int | None
    added: tuple[tuple[str, datetime], ...]
    """Cases that were added later, and when."""


@frozen
class Activation:
    """Whether a feature was seen at work, before or after timing; `basis` says by what (B15)."""

    feature: str
    observed: bool
    when: str
    evidence: Written | None
    basis: str | None


@frozen
class Capture:
    """One attempt at an arm; one that was rejected is kept with its digest (E5, E6)."""

    attempt: int
    state: ArmState
    evidence: Evidence
    started_at: datetime | None
    finished_at: datetime | None


@frozen
class Counts:
    """What became of the planned requests of an arm."""

    planned: int
    complete: int
    failed: int
    timed_out: int
    truncated: int
    cancelled: int
    not_started: int

    @property
    def total(self) -> int:
        """All of them, which is what was planned (E4)."""
        ended = self.complete + self.failed + self.timed_out + self.truncated + self.cancelled
        return ended + self.not_started


@frozen
class Arm:
    """One setting, measured once from start to end."""

    id: str
    role: Role
    settings: Mapping[str, str]
    planned_settings: Mapping[str, str] | None
    started_at: datetime | None
    finished_at: datetime | None
    process_started_at: datetime | None
    boot: Written | None
    collector: Written | None
    workload: Written | None
    restarts: int | None
    oom_kills: int | None
    preemptions: int | None
    faults: int | None
    swaps: int | None
    container_before: Written | None
    container_after: Written | None
    state: ArmState
    reason: str | None
    activation: tuple[Activation, ...]
    counts: Counts | None
    captures: tuple[Capture, ...]
    flags: tuple[str, ...]
    case_flags: Mapping[str, tuple[str, ...]]
    """Flags of single cases; those in `flags` are of all of them (A15)."""
    failing: tuple[str, ...] | None
    outputs: Written | None
    checker: Written | None
    environment: Environment | None
    """Where it is not that of the whole study (B21)."""


@frozen
class Operand:
    """What a figure is made of: samples, another figure, or a value that is only displayed.

    Arms and cases select samples; of a displayed value they say whose it is. `unit` is stated of
    values that have none by their name.
    """

    figure: str | None
    value: Decimal | None
    places: int
    quantity: str | None
    arms: tuple[str, ...]
    cases: tuple[str, ...]
    membership: str
    unit: str | None


@frozen
class Figure:
    """A published number: formula, operands and unit, and what it is said to be.

    `value` is the decimal as it is written, `places` how many digits follow its point: it stands
    for every number that rounds to it. `better` says which direction is; `scope` what it counts.
    """

    id: str
    formula: str
    unit: str
    value: Decimal | None
    places: int
    operands: Mapping[str, Operand]
    better: str | None
    scope: str | None
    clock: str | None
    copied: tuple[Written | None, str, Decimal] | None
    parameters: Mapping[str, Decimal]


@frozen
class Waiver:
    """Who waived a gate, and why (G11)."""

    by: str
    reason: str


@frozen
class GateResult:
    """One gate as it was judged."""

    gate: str
    kind: str
    state: GateState
    figure: str | None
    observed: Decimal | None
    comparator: str | None
    threshold: Decimal | None
    rows: tuple[int, int] | None
    exit_code: int | None
    checks: tuple[str, ...]
    waiver: Waiver | None
    execution: str | None


@frozen
class Scrape:
    """One reading of a server's gauges; `cache_use` is the part of `cache_tokens` in use (K15)."""

    arm: str
    running: int
    cache_use: Decimal | None
    cache_tokens: int | None


@frozen
class Resident:
    """How many requests, and tokens of theirs, are said to have been held at once."""

    requests: int
    tokens: int | None


@frozen
class Claim:
    """What the study is cited for."""

    id: str
    kind: ClaimKind
    text: str
    figures: tuple[str, ...]
    arms: tuple[str, ...]
    feature: str | None
    reference: str | None
    margin: Decimal | None
    grid: int | None
    resident: Resident | None
    scope: Mapping[str, str]


@frozen
class Tests:
    """Counts of a test suite; every skip has a reason (E11)."""

    run: int
    passed: int
    failed: int
    errors: int
    skipped: tuple[tuple[str, str | None], ...]
    disclosed: tuple[str, ...]


@frozen
class Receipt:
    """A whole receipt; samples are not in it (`samples`)."""

    id: str
    kind: Kind
    status: str | None
    reporter: str
    assurance: str
    reproducer: str | None
    supersedes: Written | None
    summarises: Evidence | None
    source: Written | None
    image: Written | None
    collector: Collector | None
    workloads: tuple[Workload, ...]
    models: tuple[Model, ...]
    runtime: Runtime | None
    environment: Environment
    claim_head: Written | None
    base: Written | None
    branch_head: Written | None
    approval: Written | None
    equality: tuple[Equality, ...]
    gates: Gates | None
    design: Design | None
    arms: tuple[Arm, ...]
    scrapes: tuple[Scrape, ...]
    sample_count: int | None
    totals: Mapping[str, int] | None
    figures: tuple[Figure, ...]
    results: tuple[GateResult, ...]
    claims: tuple[Claim, ...]
    tests: Tests | None
    references: tuple[Reference, ...]
    measured_scope: Mapping[str, str]
    not_claimed: tuple[str, ...]
    deviations: tuple[tuple[str, tuple[str, ...]], ...]
    evidence: tuple[Evidence, ...]
    redacted: tuple[str, ...] | None
    values_altered: bool | None
    planned_at: datetime | None
    verdict_at: datetime | None
    published_at: datetime | None
    digests: tuple[Written, ...]
    """Every digest that is written anywhere in it."""

    def arm(self, name: str) -> Arm | None:
        """Return the arm of that id."""
        return next((arm for arm in self.arms if arm.id == name), None)

    def figure(self, name: str) -> Figure | None:
        """Return the figure of that id."""
        return next((figure for figure in self.figures if figure.id == name), None)
