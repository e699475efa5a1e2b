"""The example lineage, and judging a host by it: for tests that call the check itself."""

from functools import cache
from pathlib import Path
from typing import Final

from support.registry import NOW
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.checks.helper import check
from verifier.core.demand import HelperDemand
from verifier.core.outcome import Outcome, Subject
from verifier.core.verdict import Verdict
from verifier.policy import judge

ENTRY: Final = (
    Path(__file__).parents[2] / "registry/targets/pinproof/helper/example-fair-queue.toml"
)
REGION: Final = HelperDemand(facets=frozenset({"helper", "sites", "scope"}))


@cache
def example() -> Lineage:
    """Return the example's entry."""
    return parse(ENTRY.read_bytes(), "example-fair-queue")


def verdict(outcome: Outcome, demand: HelperDemand = REGION) -> Verdict:
    """Judge an outcome by a demand."""
    return judge(outcome, subject=Subject(name="x"), demanded=demand.facets, now=NOW).verdict


def verdict_of(data: bytes) -> Verdict:
    """Judge a host by the example, as the policy region would."""
    return verdict(check(data, example(), demand=REGION))
