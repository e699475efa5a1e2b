"""A sound study: every rule holds or does not apply, every figure is recomputed."""

from typing import Final

import pytest
from support import receipts

from verifier.checks.receipt.answer import Broken, Holds, Uncheckable
from verifier.checks.receipt.check import check
from verifier.checks.receipt.numbers.figures import State
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.study import Companions
from verifier.core.codes import CODES


def test_every_rule_holds_of_the_sound_receipt() -> None:
    study = receipts.opened(receipts.sound())
    applying = [r for r in RULES if r.id not in DOES_NOT_APPLY[study.receipt.kind]]
    answers = {rule.id: rule.answer(study) for rule in applying}
    assert {k: a for k, a in answers.items() if not isinstance(a, Holds)} == {}


def test_every_figure_of_the_sound_receipt_is_recomputed() -> None:
    study = receipts.opened(receipts.sound())
    assert {name: c.state for name, c in study.figures.items()} == dict.fromkeys(
        study.figures, State.RECOMPUTED
    )


def test_nothing_is_found_in_the_sound_receipt() -> None:
    outcome = check(receipts.opened(receipts.sound()))
    assert [f.code for f in outcome.findings] == []


def test_rules_and_codes_say_the_same() -> None:
    rejecting = {"invalid", "inconsistent", "refuse", "fail"}
    for rule in RULES:
        for condition, consequence in rule.consequences.items():
            row = CODES[rule.code(condition)]
            assert row.facet == ("claims" if consequence == "limits" else rule.facet), row
            assert (row.outcome == "rejected") == (str(consequence) in rejecting), row


#: What a rule of these asks for is there or takes a claim away, or it is text that always is there.
NEVER_UNCHECKABLE: Final = (
    *("B21", "D7", "E14", "G11", "G12", "G17", "K8", "K10", "K15"),
    *("P1", "P2", "P3", "P6"),
)
REQUIRED: Final = {"assurance", "kind", "receiptId", "reporter"}


@pytest.mark.parametrize("missing", sorted({*receipts.sound()["predicate"]} - REQUIRED))
def test_some_rules_have_an_answer_whatever_is_missing(missing: str) -> None:
    document = receipts.sound()
    for number, kind in enumerate(("cold", "cacheHit", "residency")):
        document["predicate"]["claims"].append(receipts.claim(f"c{number}", kind))
    receipts.change(document, missing, ...)
    study = receipts.opened(document, Companions())
    asked = {rule.id: rule.answer(study) for rule in RULES}
    assert not [name for name in NEVER_UNCHECKABLE if isinstance(asked[name], Uncheckable)]
    assert any(isinstance(answer, Uncheckable) for answer in asked.values())


def test_a_rule_is_listed_once() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_another_head_makes_it_stale() -> None:
    document = receipts.made(claimHead={"gitCommit": receipts.OTHER_COMMIT})
    answer = receipts.answer("B1", document)
    assert isinstance(answer, Broken)
    assert receipts.COMMIT in answer.got
    del document["subject"][0]
    assert isinstance(receipts.answer("B1", document), Uncheckable)
