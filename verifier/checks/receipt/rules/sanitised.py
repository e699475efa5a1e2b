"""Rules P: that nothing is published that must not be, and that redacting changed no number."""

from collections.abc import Callable
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.scan import patterns
from verifier.checks.receipt.scan.redaction import measured
from verifier.checks.receipt.study import Study

_SHOWN: Final = 3
#: Which rule each kind of hit breaks, by its name.
KINDS: Final = {
    "P1": (patterns.CREDENTIAL,),
    "P2": (patterns.HOST, patterns.ADDRESS, patterns.HOME, patterns.EMAIL),
    "P3": (patterns.PROSE,),
    "P6": (patterns.INVISIBLE, patterns.TWICE, patterns.NO_NUMBER),
}


def _free_of(rule: str, what: str) -> Callable[[Study], Answer]:
    """Make the rule that the scan found nothing of some kinds, in keys and in values."""

    def ask(study: Study) -> Answer:
        hits = [(kind, where) for kind, where in study.secrets if kind in KINDS[rule]]
        if not hits:
            return Holds(detail=f"no {what}")
        told = "; ".join(f"{kind} at {where}" for kind, where in hits[:_SHOWN])
        more = f"; and {len(hits) - _SHOWN:,} more" if len(hits) > _SHOWN else ""
        return Broken(expected=f"no {what}", got=f"{told}{more}", path=hits[0][1])

    ask.__doc__ = f"Ask that there is no {what}, in keys as well as values."
    return ask


p1_credentials = _free_of("P1", "credential")
p2_hosts = _free_of("P2", "host name, private address, home path or e-mail address")
p3_prompts = _free_of("P3", "prompt or output")
p6_characters = _free_of("P6", "character that hides text, key given twice, or false number")


def p4_original(study: Study) -> Answer:
    """Ask that a redacted receipt carries digest and size of what it summarises."""
    redacted, original = study.receipt.redacted, study.receipt.summarises
    if redacted is None:
        return Uncheckable(missing="sanitisation: whether anything was redacted")
    if not redacted:
        return Holds(detail="nothing was redacted")
    absent = [
        name
        for name, given in (
            ("digest", original and original.digest and original.digest.full),
            ("bytes", original and original.length),
        )
        if not given
    ]
    if absent:
        return Broken(
            expected="digest and size of the receipt before it was redacted",
            got=f"{len(redacted)} redacted fields, and no {' and no '.join(absent)} in summarises",
            path="summarises",
        )
    return Holds(detail=f"{len(redacted)} redacted fields")


def p5_whole_fields(study: Study) -> Answer:
    """Ask that redacting replaced whole fields, listed them, and altered nothing measured."""
    listed = study.receipt.redacted
    if study.receipt.values_altered:
        return _altered("no measured value altered", "sanitisation.valuesAltered is true")
    if unlisted := sorted(set(study.replaced) - set(listed or ())):
        return _altered("every redacted field listed", f"{unlisted[0]} is not")
    if listed is None:
        return Uncheckable(missing="sanitisation: which fields were redacted")
    if values := sorted(path for path in listed if measured(path)):
        return _altered("no measured value redacted", values[0])
    if standing := sorted(set(listed) & set(study.standing)):
        return _altered(
            "every redacted field replaced whole or taken away", f"{standing[0]} stands"
        )
    return Holds(detail=f"{len(listed)} redacted fields")


def _altered(expected: str, got: str) -> Broken:
    return Broken(expected=expected, got=got, path="sanitisation")


_REMOVE: Final = "take it out; of a receipt, pinproof redact RECEIPT --to FILE makes one without it"
_REFUSE: Final = only(Consequence.REFUSE)


def _rule(
    id_: str, name: str, then: dict[str, Consequence], ask: Callable[[Study], Answer], remedy: str
) -> Rule:
    return Rule(id_, name, "sanitised", then, ask, remedy)


RULES: Final = (
    _rule(
        "P1",
        "credentials",
        _REFUSE,
        p1_credentials,
        "revoke the credential now, wherever this was published; then redact it",
    ),
    _rule("P2", "hosts", _REFUSE, p2_hosts, _REMOVE),
    _rule("P3", "prompts", _REFUSE, p3_prompts, _REMOVE),
    _rule(
        "P4",
        "original",
        only(Consequence.UNCHECKABLE),
        p4_original,
        "add summarises with SHA-256 and size of the receipt before it was redacted",
    ),
    _rule(
        "P5",
        "whole-fields",
        only(Consequence.INVALID),
        p5_whole_fields,
        "go back to the receipt before it was redacted, and use pinproof redact",
    ),
    _rule(
        "P6",
        "characters",
        only(Consequence.INVALID),
        p6_characters,
        "take the characters out, and look at what they hid",
    ),
)
