"""Everything that a run trusts: where each input comes from, its digest, and when it expires.

A verdict is worth what these are worth, and nothing else that lies on the machine or in its
environment adds to them. The list is made of what a run has opened, not of what it was told.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from verifier import __version__
from verifier.ask.answers import Answer, Answered, refusal
from verifier.ask.signers_entry import shown_signers
from verifier.ask.trusted import Trust
from verifier.catalog.floor import kept_at
from verifier.catalog.open import Catalog, Refused
from verifier.catalog.tuf.values import Held
from verifier.core.clock import print_time
from verifier.core.digest import Pin
from verifier.core.limits import DOCUMENT_BYTES, METADATA_BYTES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources import file, shipped

if TYPE_CHECKING:
    from verifier.evidence.trusted_root import Authority, Log

_SHIPPED: Final = f"shipped with pinproof {__version__}"


@frozen
class Named:
    """What the caller named; None is what comes with pinproof, or nothing."""

    registry: str | None = None
    root: str | None = None
    floor: str | None = None
    kept: Path | None = None
    policy: str = "strict"
    trusted_root: str | None = None


def show_trust(trust: Trust, named: Named) -> Answered:
    """List the trust inputs of a run: registry root and roles, floor, policy, Sigstore, signers."""
    answers = [
        _root(named),
        *_registry(trust, named),
        _floor(trust, named),
        _policy(trust, named),
        _sigstore(trust, named),
        *_signers(trust),
    ]
    return Answered(question="trust", answers=tuple(answers), report=trust.report(()))


def _root(named: Named) -> Answer:
    data = _root_bytes(named)
    return _answer(
        "registry root",
        source=named.root or _SHIPPED,
        pin=Pin.of(data),
        expires=None,
        rows=[("trusted as", "the first link of every registry's chain of roots")],
    )


def _root_bytes(named: Named) -> bytes:
    if named.root is not None:
        return file.read(named.root, limit=METADATA_BYTES).data
    return shipped.read("registry", "metadata/1.root.json")


def _registry(trust: Trust, named: Named) -> list[Answer]:
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        return [refusal("registry", catalog)]
    facts = catalog.facts
    rows = [
        ("snapshot", f"version {facts.snapshot_version}"),
        ("", facts.snapshot_sha256),
    ]
    if facts.sealed is not None:
        rows.append(("freshness", f"none (sealed with {facts.sealed})"))
    for held in catalog.roles:
        rows += _held(held)
    return [
        _answer(
            "registry",
            source=named.registry or _SHIPPED,
            pin=None,
            expires=facts.expires,
            rows=rows,
            data={
                "sha256": facts.snapshot_sha256,
                "roles": [_role(held) for held in catalog.roles],
            },
        )
    ]


def _held(held: Held) -> list[tuple[str, str]]:
    counted = f"{held.threshold} of {len(held.keyids)} keys"
    until = f"version {held.version}, until {print_time(held.expires)}"
    return [
        (held.role, f"{counted} · {until}"),
        *(("  signed" if keyid in held.signed else "", keyid) for keyid in held.keyids),
    ]


def _role(held: Held) -> dict[str, Any]:
    return {
        "role": held.role,
        "version": held.version,
        "expires": print_time(held.expires),
        "threshold": held.threshold,
        "keys": list(held.keyids),
        "signed": list(held.signed),
    }


def _floor(trust: Trust, named: Named) -> Answer:
    facts = trust.catalog.facts if isinstance(trust.catalog, Catalog) else None
    path = named.floor
    if path is None and named.kept is not None:
        kept = kept_at(named.kept, _root_bytes(named))
        path = str(kept) if kept.exists() else None
    if path is None:
        least = trust.policy.min_snapshot
        source = f"policy {trust.policy.name}: snapshot {least}" if least else "none"
        pin = None
    else:
        source, pin = path, Pin.of(file.read(path, limit=DOCUMENT_BYTES).data)
    told = facts.floor if facts is not None else None
    return _answer(
        "floor",
        source=source,
        pin=pin,
        expires=None,
        rows=[("refuses", f"anything below {told}" if told else "nothing: rollback: not checked")],
    )


def _policy(trust: Trust, named: Named) -> Answer:
    facts = trust.policy.facts
    shipped_name = facts.name in shipped.names("policies", ".toml") and facts.name == named.policy
    return _answer(
        "policy",
        source=_SHIPPED if shipped_name else named.policy,
        pin=Pin(sha256=facts.sha256, length=None),
        expires=None,
        rows=[("name", facts.name)],
    )


def _sigstore(trust: Trust, named: Named) -> Answer:
    """List the keys of the root that bundles are judged with, read as they read it."""
    from verifier.ask.sigstore_root import sigstore_root  # noqa: PLC0415  (with cryptography)

    root = sigstore_root(named.trusted_root)
    lists: dict[str, tuple[Log | Authority, ...]] = {
        "certificate authorities": root.authorities,
        "certificate logs": root.ct_logs,
        "transparency logs": root.logs,
        "timestamp authorities": root.timestamp_authorities,
    }
    rows: list[tuple[str, str]] = []
    for words, items in lists.items():
        rows.append((words, f"{len(items)}"))
        rows += [("", f"{printable(item.name)} · {item.window}") for item in items]
    ends = [
        item.window.end
        for items in lists.values()
        for item in items
        if item.window.end is not None and item.window.holds(trust.now)
    ]
    return _answer(
        "Sigstore root",
        source=named.trusted_root or _SHIPPED,
        pin=Pin.of(root.data),
        expires=print_time(min(ends)) if ends else None,
        rows=rows,
    )


def _signers(trust: Trust) -> list[Answer]:
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        return []
    answers = []
    for name in catalog.names("signers"):
        data = catalog.entry_bytes("signers", name)
        entry = catalog.signers(name)
        if isinstance(data, Refused):
            answers.append(refusal(name, data))
            continue
        if isinstance(entry, Refused):
            answers.append(refusal(name, entry))
            continue
        shown = shown_signers(entry)
        answers.append(
            _answer(
                f"signers {name}",
                source="the registry",
                pin=Pin.of(data),
                expires=catalog.facts.expires,
                rows=list(shown.rows),
                data={"signers": shown.data["signers"]},
            )
        )
    return answers


def _answer(
    name: str,
    *,
    source: str,
    pin: Pin | None,
    expires: str | None,
    rows: list[tuple[str, str]],
    data: dict[str, Any] | None = None,
) -> Answer:
    told = [("SHA-256", pin.sha256)] if pin else []
    told += [("length", f"{pin.length:,} bytes")] if pin and pin.length is not None else []
    told += [("expires", expires)] if expires else []
    return Answer(
        known=True,
        name=name,
        headline=f"{name}: {source}",
        rows=(*told, *rows),
        data={
            "input": name,
            "source": source,
            "expires": expires,
            **({"sha256": pin.sha256, "length": pin.length} if pin else {}),
            **(data or {}),
        },
    )
