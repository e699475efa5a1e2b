"""A layout by itself: its form, its signatures, its expiry, and what it may not ask for."""

from collections.abc import Iterator
from datetime import datetime

from verifier.core.clock import print_time
from verifier.core.finding import Finding, Where
from verifier.core.limits import CHAIN_DEPTH
from verifier.core.printable import cut, printable
from verifier.core.table import MalformedError
from verifier.evidence.keys import PublicKey
from verifier.evidence.layout.model import Layout
from verifier.evidence.layout.signed import Signed

_AGAIN = "get the layout again from its owner"


def read(data: bytes, name: str) -> Signed | Finding:
    """Read a layout's file in either form."""
    try:
        return Signed.parse(data, what=name)
    except MalformedError as error:
        return _malformed(error, name)


def model(signed: Signed, name: str) -> Layout | Finding:
    """Read what a layout says, once its signatures hold."""
    try:
        return Layout.read(signed)
    except MalformedError as error:
        return _malformed(error, name)


def _malformed(error: MalformedError, name: str) -> Finding:
    return Finding(
        code="chain-layout-malformed",
        where=Where(path=printable(name)),
        expected="a layout as in-toto 1.0 defines it",
        got=cut("; ".join(error.listed)),
        remedy=_AGAIN,
    )


def signature(signed: Signed, keys: frozenset[PublicKey], threshold: int) -> Finding | None:
    """Say what is wrong with the signatures of a layout; each key counts once."""
    where = Where(path=printable(signed.what))
    if not signed.signatures:
        return Finding(
            code="chain-layout-unsigned",
            where=where,
            expected=f"signatures by {threshold} of the given keys",
            got="none",
            remedy="ask the layout's owner to sign it: in-toto-sign -f LAYOUT -k KEY",
        )
    signers = signed.signers(keys)
    if not signers:
        return Finding(
            code="chain-layout-signature",
            where=where,
            expected="a signature by " + _named(keys),
            got=f"{len(signed.signatures)}, none of them by such a key over these bytes",
            cause="it was changed after it was signed, or somebody else has signed it",
            remedy="get layout and keys again, each from a place that you trust",
        )
    if len(signers) < threshold:
        return Finding(
            code="chain-layout-threshold",
            where=where,
            expected=f"signatures by {threshold} of the given keys",
            got=f"by {len(signers)}: {_named(signers)}",
            remedy="wait until its other owners have signed it, or give --threshold",
        )
    return None


def _named(keys: frozenset[PublicKey]) -> str:
    return ", ".join(f"key {each.id}" for each in sorted(keys, key=lambda key: key.id))


def problems(layout: Layout, name: str, now: datetime) -> Iterator[Finding]:
    """Say what keeps a layout that reads well from being judged by."""
    where = Where(path=printable(name))
    if now >= layout.expires:
        yield Finding(
            code="chain-layout-expired",
            where=where,
            expected=f"an expiry after {print_time(now)}",
            got=print_time(layout.expires),
            remedy="get the layout that its owner has signed since",
        )
    if layout.inspections:
        yield Finding(
            code="chain-inspections",
            where=where,
            expected="a layout without inspections",
            got=cut(", ".join(layout.inspections)) or "one without a name",
            cause="an inspection is a program that the layout names; pinproof runs none",
            remedy="ask the owner for a layout without them; --product FILE compares what is left",
        )
    if not layout.steps:
        yield Finding(
            code="chain-no-steps",
            where=where,
            expected="at least one step",
            got="none, so that anything would pass",
            remedy=_AGAIN,
        )
    for step in layout.steps:
        for side, rules in step.rules.items():
            for words, rule in rules:
                if rule is None:
                    yield Finding(
                        code="chain-rule-unknown",
                        where=where,
                        expected="MATCH, CREATE, DELETE, MODIFY, ALLOW, DISALLOW or REQUIRE",
                        got=cut(f"{' '.join(words)[:200]} in the {side} of {step.name}"),
                        remedy=_AGAIN,
                    )


def too_deep(name: str) -> Finding:
    """Say that a layout lies too far below the first."""
    return Finding(
        code="chain-sublayout-depth",
        where=Where(path=printable(name)),
        expected=f"at most {CHAIN_DEPTH} layouts below each other",
        got="one more",
        remedy="ask the owner of the first layout what this one is for",
    )
