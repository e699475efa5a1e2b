"""Whatever a receipt lacks, every rule answers; nothing that is missing becomes a pass by it."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from support import receipt_steps, receipts

from verifier.checks.receipt.rules import RULES
from verifier.core.table import MalformedError

#: What makes a rule of the groups A, E and N say more than "holds" once it is gone.
_NEEDED: Final = {
    "design": {"A3", "A4", "A11", "E3", "E7", "E9"},
    "arms.0.settings": {"A7", "A11"},
    "arms.0.startedAt": {"A3", "A4", "A5"},
    "arms.0.bootId": {"A4", "N6"},
    "arms.0.counts": {"E4"},
    "arms.0.captures": {"E5"},
    "sampleCount": {"E12"},
    "totals": {"E1"},
    "samples.1.attempt": {"E6"},
    "samples.1.usage": {"A10"},
    "samples.1.request": {"A10"},
    "samples.1.response": {"E8"},
    "samples.1.timingUs": {"A12", "N2"},
    "derived": {"A12", "N2", "N3", "N4", "N9"},
}


def _paths(value: Any, above: str = "") -> Iterator[str]:
    """Yield the dotted path of everything, of lists the first two members."""
    pairs = list(enumerate(value[:2])) if isinstance(value, list) else []
    for name, each in value.items() if isinstance(value, dict) else pairs:
        path = f"{above}.{name}" if above else str(name)
        yield path
        yield from _paths(each, path)


@pytest.mark.parametrize("part", sorted(receipts.sound()["predicate"]))
def test_every_rule_answers_whatever_is_gone(part: str) -> None:
    for path in [part, *_paths(receipts.sound()["predicate"][part], part)]:
        document = receipt_steps.changed((path, ...))
        try:
            study = receipts.opened(document)
        except MalformedError:
            continue
        for rule in RULES:
            rule.answer(study)


@pytest.mark.parametrize(("path", "rules"), _NEEDED.items())
def test_what_a_rule_needs_is_missed(path: str, rules: set[str]) -> None:
    document = receipt_steps.changed((path, ...))
    assert {rule: receipt_steps.asked(rule, document) for rule in rules} == dict.fromkeys(
        rules, "uncheckable"
    )
