"""What a layout and a link say, read strictly (in-toto 1.0 §4.3 and §4.4).

The keys of a layout are kept by the ids that its steps use; a key of a kind that does not count
here (RSA, GPG) is None. Names of steps become names of files, so none may lead elsewhere.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self

from verifier.core.limits import CHAIN_KEYS, CHAIN_STEPS
from verifier.core.printable import quoted
from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.keys import ED25519_SPKI, PublicKey
from verifier.evidence.layout.rules import Rule
from verifier.evidence.layout.signed import Signed
from verifier.sources.names import folded

Digests = Mapping[str, str]
_KEY_ID: Final = re.compile("[0-9a-f]{8,128}")
_STEP: Final = re.compile(r"[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]{0,149}")
_HEX: Final = re.compile("(?:[0-9a-f]{2}){16,64}")
#: How long the digests of known algorithms are, in hex: a shorter one is easy to meet.
_LENGTHS: Final = {
    "md5": 32,
    "sha1": 40,
    **{
        f"{family}{bits}": bits // 4 for family in ("sha", "sha3-") for bits in (224, 256, 384, 512)
    },
}
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_ED25519_HEX: Final = re.compile("[0-9a-f]{64}")
#: Kinds of keys that in-toto knows and that do not count here.
_UNSUPPORTED: Final = ("rsa", "sigstore-oidc", "mldsa44", "mldsa65", "mldsa87", "slhdsa")


@frozen
class Link:
    """What one step was said to have done. `artifacts` are its materials and its products."""

    name: str
    command: tuple[str, ...]
    materials: Mapping[str, Digests]
    products: Mapping[str, Digests]

    @classmethod
    def read(cls, signed: Signed) -> Self:
        """Read a link. Raises `MalformedError` naming every mistake by its path."""
        table = signed.table
        table.text("_type", choices=["link"])
        for opaque in ("byproducts", "environment"):
            if table.has(opaque):
                table.table(opaque).raw()
        link = cls(
            name=table.text("name"),
            command=_words(table, "command", signed.payload),
            materials=_artifacts(table, "materials"),
            products=_artifacts(table, "products"),
        )
        table.done()
        return link

    def side(self, name: str) -> Mapping[str, Digests]:
        """Return its `materials` or its `products`."""
        return self.materials if name == "materials" else self.products


@frozen
class Step:
    """One step as it was to be. Rules are None where they are none of in-toto's."""

    name: str
    threshold: int
    key_ids: tuple[str, ...]
    command: tuple[str, ...]
    rules: Mapping[str, tuple[tuple[tuple[str, ...], Rule | None], ...]]


@frozen
class Layout:
    """What a supply chain was to be: steps in order, who may do them, until when it says so."""

    expires: datetime
    steps: tuple[Step, ...]
    inspections: tuple[str, ...]
    keys: Mapping[str, PublicKey | None]

    @classmethod
    def read(cls, signed: Signed) -> Self:
        """Read a layout. Raises `MalformedError` naming every mistake by its path."""
        table = signed.table
        table.text("_type", choices=["layout"])
        if table.has("readme"):
            table.string("readme")
        of_keys = table.table("keys") if table.has("keys") else Table({}, what="", remedy="")
        steps, inspections = table.tables("steps"), table.tables("inspect")
        if len(steps) > CHAIN_STEPS:
            table.mistake("steps", f"expected at most {CHAIN_STEPS:,} of them")
        ids = of_keys.keys()
        if len(ids) > CHAIN_KEYS:
            table.mistake("keys", f"expected at most {CHAIN_KEYS:,} of them")
        layout = cls(
            expires=table.time("expires"),
            keys={keyid: _key(of_keys.table(keyid), keyid) for keyid in ids[:CHAIN_KEYS]},
            steps=tuple(map(_step, steps[:CHAIN_STEPS])),
            inspections=tuple(str(each.raw().get("name", "")) for each in inspections),
        )
        _cross_checked(table, layout)
        table.done()
        return layout


def _cross_checked(table: Table, layout: Layout) -> None:
    """Note names that are used twice, or that lead nowhere."""
    names: dict[str, str] = {}
    for number, step in enumerate(layout.steps):
        other = names.setdefault(folded(step.name.encode()).decode(), step.name)
        if [each.name for each in layout.steps].count(step.name) > 1 or other != step.name:
            table.mistake(f"steps[{number}].name", f"{quoted(step.name)} names two steps")
        for keyid in step.key_ids:
            if keyid not in layout.keys:
                table.mistake(f"steps[{number}].pubkeys", f"{quoted(keyid)} is no key in keys")
    known = {*(step.name for step in layout.steps), *layout.inspections}
    for number, step in enumerate(layout.steps):
        for side, rules in step.rules.items():
            for at, (_, rule) in enumerate(rules):
                if rule is not None and rule.other_step and rule.other_step not in known:
                    place = f"steps[{number}].expected_{side}[{at}]"
                    table.mistake(place, f"{quoted(rule.other_step)} is no step of the layout")


def _step(table: Table) -> Step:
    table.text("_type", default="step", choices=["step"])
    name = table.text("name")
    if name and not _STEP.fullmatch(name):
        table.mistake("name", f"{quoted(name)} cannot be part of a file name")
    key_ids = table.texts("pubkeys")
    for keyid in key_ids:
        if not _KEY_ID.fullmatch(keyid):
            table.mistake(
                "pubkeys", f"{quoted(keyid)} is no key id: 8 or more lower-case hex digits"
            )
    raw = table.raw()
    step = Step(
        name=name,
        threshold=table.integer("threshold", least=1),
        key_ids=key_ids,
        command=_words(table, "expected_command", raw),
        rules={side: _rules(table, f"expected_{side}", raw) for side in ("materials", "products")},
    )
    known = ("_type", "name", "pubkeys", "threshold", "expected_command")
    for key in sorted(raw.keys() - {*known, "expected_materials", "expected_products"}):
        table.mistake(key, "unknown key")
    return step


def _words(table: Table, key: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Read a command: any strings, of which an argument may be empty."""
    table.has(key)
    words = raw.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        table.mistake(key, "is no list of strings")
        return ()
    return tuple(words)


def _rules(
    table: Table, key: str, raw: Mapping[str, Any]
) -> tuple[tuple[tuple[str, ...], Rule | None], ...]:
    rules = raw.get(key, [])
    if not isinstance(rules, list) or not all(
        isinstance(rule, list) and all(isinstance(word, str) for word in rule) for rule in rules
    ):
        table.mistake(key, "is no list of rules, each a list of strings")
        return ()
    return tuple((tuple(rule), Rule.parse(tuple(rule))) for rule in rules)


def _artifacts(table: Table, key: str) -> Mapping[str, Digests]:
    artifacts = table.table(key)
    found: dict[str, Digests] = {}
    names = artifacts.keys()
    for name in names:
        if not name or _CONTROL.search(name):
            artifacts.mistake(name, "is no name of an artifact")
        digests = artifacts.table(name).strings()
        if not digests:
            artifacts.mistake(name, "has no digest")
        for algorithm, digest in digests.items():
            if not _HEX.fullmatch(digest):
                artifacts.mistake(f"{name}.{algorithm}", "is no digest in lower-case hex")
            elif len(digest) != _LENGTHS.get(algorithm, len(digest)):
                got = f"{len(digest)} digits, expected {_LENGTHS[algorithm]}"
                artifacts.mistake(f"{name}.{algorithm}", f"is {got}")
        found[name] = digests
    return found


def _key(table: Table, keyid: str) -> PublicKey | None:
    """Read a key of a layout; None for a kind that does not count here."""
    if not _KEY_ID.fullmatch(keyid) or (table.has("keyid") and table.text("keyid") != keyid):
        table.mistake("keyid", f"expected the id that it is kept under, {quoted(keyid)}")
    kind = table.text("keytype") if table.has("keytype") else "gpg"
    raw = table.raw()
    if kind in _UNSUPPORTED or "type" in raw or kind == "gpg":
        return None
    text = table.table("keyval").text("public")
    try:
        key = _public(kind, text)
    except ValueError as error:
        table.mistake("keyval.public", str(error))
        return None
    if table.text("scheme") != key.scheme:
        table.mistake("scheme", f"expected {key.scheme}")
    return key


def _public(kind: str, text: str) -> PublicKey:
    if kind == "ed25519" and _ED25519_HEX.fullmatch(text):
        return PublicKey.der(ED25519_SPKI + bytes.fromhex(text))
    if kind in ("ecdsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"):
        return PublicKey.pem(text.encode())
    raise ValueError("is no public key of a kind that counts")
