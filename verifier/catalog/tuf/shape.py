"""The bytes of one piece of metadata as a document of the right form (FORMATS §1, point 1).

The strict JSON reader comes first, because python-tuf takes the last of two equal keys, and
what one reader signs another would not see. Then every field that is used later is checked for
its type and range, and all mistakes are told at once; python-tuf reads `true` as version 1 and
a string as a list of key ids. Fields that nobody asks for are allowed, as TUF says. The payload
that signatures are checked over is made from what was parsed here.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

from securesystemslib.exceptions import FormatError
from tuf.api.metadata import Metadata, Signature, Signed

from verifier.catalog.tuf.files import safe_name
from verifier.catalog.tuf.keys import canonical, key_findings, threshold_findings
from verifier.catalog.tuf.problems import RESTORE, problem, unsafe_name
from verifier.core.digest import sha256
from verifier.core.finding import Finding
from verifier.core.limits import METADATA_BYTES
from verifier.core.printable import quoted
from verifier.core.strict import DuplicateKeyError, read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen

S = TypeVar("S", bound=Signed)

_TOP_LEVEL: Final = ("root", "snapshot", "targets", "timestamp")
#: A name here would hide a file or folder that the registry itself needs (FORMATS §1).
RESERVED: Final = (*_TOP_LEVEL, "index")
_HEX: Final = re.compile("(?:[0-9a-f]{2})*")
_SPECIFICATION: Final = r"1\.[0-9]{1,4}(?:\.[0-9]{1,4})?"


@frozen
class Document(Generic[S]):
    """One piece of metadata in the right form. Nothing of it is believed yet."""

    path: str
    signed: S
    payload: bytes
    signatures: dict[str, Signature]
    sha256: str


def read_document(data: bytes, *, path: str, kind: type[S]) -> Document[S] | list[Finding]:
    """Read metadata of one of TUF's four kinds, or say all that is wrong with it."""
    try:
        value = read_json(data, limit=METADATA_BYTES)
    except DuplicateKeyError as error:
        cause = "two readers would believe two different things"
        return [problem("registry-duplicate-key", path, str(error), cause=cause)]
    except ValueError as error:
        if not data.rstrip().endswith(b"}"):
            return [problem("registry-truncated", path, str(error), cause="the file ends early")]
        return [problem("registry-malformed", path, str(error))]
    findings = _outer(value, path, kind.type) or [*_inner(value["signed"], path, kind.type)]
    if findings:
        return findings
    try:
        payload = canonical(value["signed"])
        metadata: Metadata[Any] = Metadata.from_dict(value)  # empties `value`
    except (FormatError, KeyError, TypeError, ValueError, AttributeError) as error:
        return [problem("registry-malformed", path, quoted(str(error)[:200]))]
    return Document(
        path=path,
        signed=metadata.signed,
        payload=payload,
        signatures=metadata.signatures,
        sha256=sha256(data),
    )


def _outer(value: Any, path: str, kind: str) -> list[Finding]:
    """Check the envelope: the kind of metadata in it, and the form of the signatures."""
    document = value if isinstance(value, dict) else {}
    signed, signatures = document.get("signed"), document.get("signatures")
    if not isinstance(signed, dict) or not isinstance(signatures, list):
        return [problem("registry-malformed", path, "no signed part, or no signatures")]
    if signed.get("_type") != kind:
        got = quoted(str(signed.get("_type"))[:100])
        cause = "the file of another role was put in its place"
        return [problem("registry-wrong-role", path, got, cause=cause, expected=f"role {kind}")]
    wrong = [n for n, item in enumerate(signatures) if not _is_signature(item)]
    mistakes = [f"signatures[{n}]: is no key id with a signature in hex" for n in wrong]
    return [problem("registry-malformed", path, mistakes[0])] if mistakes else []


def _is_signature(item: Any) -> bool:
    """Tell the form; an empty signature keeps a place (TUF specification, §4.2)."""
    return (
        isinstance(item, dict)
        and isinstance(item.get("keyid"), str)
        and isinstance(item.get("sig"), str)
        and _HEX.fullmatch(item["sig"]) is not None
    )


def _inner(signed: dict[str, Any], path: str, kind: str) -> Iterator[Finding]:
    """Check the signed part: names, records, keys and thresholds, then every field's type."""
    table = Table({"signed": signed}, what=path, remedy=RESTORE)
    below = table.table("signed")
    below.text("spec_version", pattern=_SPECIFICATION)
    below.integer("version", least=1)
    below.time("expires")
    weak: list[str] = []
    names: list[str] = []
    if kind == "root":
        _root(below)
    elif kind == "targets":
        names = _targets(below, weak)
    else:
        meta = below.table("meta")
        wanted = ("snapshot.json",) if kind == "timestamp" else meta.keys()
        names = [name.removesuffix(".json") for name in wanted]
        for name in wanted:
            record = meta.table(name)
            record.integer("version", least=1)
            _record(record, name, weak)
    yield from (unsafe_name(name, path) for name in names if not safe_name(name))
    yield from (_weak(name, path) for name in weak)
    keyed = signed if kind == "root" else signed.get("delegations")
    keys = keyed.get("keys") if isinstance(keyed, dict) else None
    yield from key_findings(keys if isinstance(keys, dict) else {}, path)
    try:
        table.done()
    except MalformedError as error:
        yield from (problem("registry-malformed", path, text) for text in error.mistakes)
        return
    if isinstance(keyed, dict):
        yield from threshold_findings(_by_name(keyed["roles"]), keyed["keys"], path)


def _root(root: Table) -> None:
    if not root.has("consistent_snapshot") or root.flag("consistent_snapshot"):
        root.mistake("consistent_snapshot", "is not false; only such registries are read")
    root.table("keys")
    roles = root.table("roles")
    for name in _TOP_LEVEL:
        _signers(roles.table(name))
    for name in sorted({*roles.keys()} - {*_TOP_LEVEL}):
        roles.mistake(name, "is no top-level role")


def _targets(targets: Table, weak: list[str]) -> list[str]:
    """Check targets and delegations; return every name in them."""
    records = targets.table("targets")
    names = [*records.keys()]
    for name in names:
        _record(records.table(name), name, weak)
    delegations = targets.optional_table("delegations")
    if delegations is None:
        return names
    delegations.table("keys")
    if not delegations.has("roles"):
        delegations.mistake("roles", "missing, expected a list of delegated roles")
    for role in delegations.tables("roles"):
        name = role.text("name")
        if name in RESERVED or name.endswith(".root") or "/" in name:
            role.mistake("name", f"{quoted(name)} is reserved")
        names.append(name)
        _signers(role)
        if not role.has("terminating"):
            role.mistake("terminating", "missing, expected true or false")
        role.flag("terminating")
        if not role.texts("paths"):
            role.mistake("paths", "is empty")
    return names


def _signers(role: Table) -> None:
    role.texts("keyids")
    role.integer("threshold", least=1)


def _record(record: Table, name: str, weak: list[str]) -> None:
    """Check length and SHA-256; a record without both is `weak`, whatever else it has."""
    hashes = record.optional_table("hashes")
    if hashes is None or not hashes.has("sha256") or not record.has("length"):
        weak.append(name)
        return
    hashes.sha256("sha256")
    record.integer("length")


def _by_name(roles: Any) -> dict[str, Any]:
    return roles if isinstance(roles, dict) else {role["name"]: role for role in roles}


def _weak(name: str, path: str) -> Finding:
    got = f"a record of {quoted(name[:200])} without them"
    cause = "MD5, SHA-1 or a missing length do not identify a file"
    return problem(
        "registry-weak-digest",
        path,
        got,
        expected="SHA-256 and length of every file",
        cause=cause,
    )
