"""Steps that spoil the sound receipt, and what a rule says of the outcome in one word.

document = steps.changed(("arms.0.bootId", ...), ("cap", 128, {"arm": "B1"}))
assert steps.asked("A4", document) == "uncheckable"
"""

import json
from collections.abc import Mapping
from typing import Any

from support.receipts import Json, answer, change, sound
from verifier.checks.receipt.answer import Broken, Holds
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.study import Companions

Step = tuple[str, Any] | tuple[str, Any, Json]


def change_rows(document: Json, path: str, value: Any, **where: Any) -> Json:
    """Set, or with `...` delete, a field of all samples that are so; "" means whole samples."""
    before = json.dumps(document, sort_keys=True)
    rows = document["predicate"]["samples"]
    meant = [row for row in rows if all(row.get(name) == each for name, each in where.items())]
    if not path:
        document["predicate"]["samples"] = [row for row in rows if row not in meant]
    for row in meant if path else ():
        change({"predicate": row}, path, value)
    assert json.dumps(document, sort_keys=True) != before, "nothing was changed"
    return document


def changed(*steps: Step) -> Json:
    """Return the sound receipt after some steps: path and value, with a third for samples."""
    document = sound()
    for path, value, *where in steps:
        if where:
            change_rows(document, path, value, **where[0])
        else:
            change(document, path, value)
    return document


def asked(rule: str, document: Mapping[str, Any], companions: Companions | None = None) -> str:
    """Ask one rule, and return the code of a broken one, else "holds" or "uncheckable"."""
    found = answer(rule, document, companions)
    if isinstance(found, Broken):
        return next(each for each in RULES if each.id == rule).code(found.condition)
    return "holds" if isinstance(found, Holds) else "uncheckable"


def rule_of(code: str) -> str:
    """Return the id of the rule that a code belongs to."""
    return code.split("-")[1].upper()
