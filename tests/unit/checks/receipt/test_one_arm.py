"""A plain timing of one command compares nothing, and no rule of A, E or N has anything to say."""

from support import receipt_steps, receipts
from support.receipts import Json

from verifier.checks.receipt.answer import Holds
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.rules.design import RULES as DESIGN
from verifier.checks.receipt.rules.retention import RULES as RETENTION
from verifier.checks.receipt.rules.statistics import RULES as STATISTICS


def _run(number: int) -> Json:
    return {
        "arm": "now",
        "case": "start-up",
        "membership": "core" if number else "warmup",
        "attempt": 1,
        "repetition": number,
        "status": "complete",
        "exitCode": 0,
        "timingUs": {"elapsed": 1_000 + number},
    }


def _timing() -> Json:
    """Return one arm of five runs, the first of them a warm-up: 1,001 to 1,004 us."""
    document = receipts.sound()
    predicate = document["predicate"]
    arm = predicate["arms"][0]
    kept = ("state", "role", "settings", "startedAt", "finishedAt", "captures", "counts")
    counts = {**arm["counts"], "planned": 5, "complete": 5}
    operand = {"quantity": "elapsed", "arms": ["now"], "cases": ["start-up"]}
    predicate |= {
        "kind": "command-timing",
        "design": {
            "kind": "single",
            "order": ["now"],
            "freshBootPerArm": False,
            "cases": ["start-up"],
            "repetitions": 4,
            "warmups": 1,
        },
        "arms": [{**{name: arm[name] for name in kept}, "id": "now", "counts": counts}],
        "samples": [_run(number) for number in range(5)],
        "sampleCount": 5,
        "totals": {"core": 4, "warmup": 1},
        "derived": [
            {
                "id": "median",
                "formula": "median",
                "unit": "us",
                "value": "1002.5",
                "operands": {"of": operand},
            }
        ],
        "outcomes": [],
        "claims": [
            {"id": "time", "kind": "measured", "text": "starts in 1 ms", "figures": ["median"]}
        ],
    }
    return document


def test_one_arm_that_compares_nothing_holds() -> None:
    study = receipts.opened(_timing())
    excluded = DOES_NOT_APPLY[Kind.TIMING]
    applying = [r for r in (*DESIGN, *RETENTION, *STATISTICS) if r.id not in excluded]
    answers = {rule.id: rule.answer(study) for rule in applying}
    assert {k: a for k, a in answers.items() if not isinstance(a, Holds)} == {}


def test_a_comparison_of_one_arm_does_not() -> None:
    document = _timing()
    receipts.change(document, "claims.0.kind", "improvement")
    asked = [r.id for r in (*DESIGN, *STATISTICS) if r.id not in DOES_NOT_APPLY[Kind.TIMING]]
    left = [rule for rule in asked if receipt_steps.asked(rule, document) != "holds"]
    assert left == ["A1", "A2", "A12", "A16", "N2", "N3", "N9"]
