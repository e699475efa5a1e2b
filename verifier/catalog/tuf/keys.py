"""Which public keys count, and who has signed (FORMATS §1, point 3).

TUF leaves open how a key id is made and counts key ids, not keys; one key under two ids, or in
two encodings, would then meet a threshold of two alone. Here a key id is the digest of its
key, no key stands under two ids, and the only kinds are Ed25519 and ECDSA on P-256 and P-384,
each with the one spelling that the TUF specification gives it (`ecdsa-sha2-nistp256` as a key
type is the older spelling, and is not read).

Sources: TUF specification 1.0, §4.2.1 (key ids) and §5 (thresholds); python-tuf, CVE-2020-6174
(one key counted several times).
"""

from collections.abc import Mapping
from typing import Any, Final

from securesystemslib.exceptions import FormatError
from securesystemslib.formats import encode_canonical
from tuf.api.metadata import Signature, VerificationResult

from verifier.catalog.tuf.problems import problem
from verifier.core.digest import HEX64, sha256
from verifier.core.ed25519 import is_weak
from verifier.core.finding import Finding
from verifier.core.printable import quoted

_CURVES: Final = {"ecdsa-sha2-nistp256": "secp256r1", "ecdsa-sha2-nistp384": "secp384r1"}
_ACCEPTED: Final = {("ed25519", "ed25519"), *(("ecdsa", scheme) for scheme in _CURVES)}


def canonical(value: Any) -> bytes:
    """Print JSON the canonical way that TUF signs and names keys by."""
    text = encode_canonical(value)
    if text is None:  # only when an output function is passed
        raise FormatError("no canonical form")
    return text.encode()


def key_findings(keys: Mapping[str, Any], path: str) -> list[Finding]:
    """Examine one table of keys, as parsed from the metadata at `path`."""
    findings: list[Finding] = []
    ids: dict[tuple[str, bytes], str] = {}
    for keyid, key in keys.items():
        name = quoted(keyid[:70])
        kind = _kind(key)
        if kind not in _ACCEPTED:
            findings.append(_unaccepted(name, " with scheme ".join(kind), path))
            continue
        value = key.get("keyval")
        public = _public(kind[1], value.get("public") if isinstance(value, dict) else None)
        if public is None:
            got = f"{name} is no {kind[0]} public key"
            findings.append(problem("registry-malformed", path, got))
            continue
        computed = sha256(
            canonical({"keytype": kind[0], "scheme": kind[1], "keyval": key["keyval"]})
        )
        if computed != keyid:
            findings.append(_misnamed(computed, name, path))
        if (known := ids.setdefault(public, keyid)) != keyid:
            findings.append(_repeated(known, name, path))
    return findings


def threshold_findings(
    roles: Mapping[str, Any], keys: Mapping[str, Any], path: str
) -> list[Finding]:
    """Examine that every role of `roles` can be signed: 1 ≤ threshold ≤ its keys."""
    findings: list[Finding] = []
    for name, role in roles.items():
        absent = [keyid for keyid in role["keyids"] if keyid not in keys]
        if absent:
            got = f"role {name} names a key that is not given: {quoted(absent[0][:70])}"
            findings.append(problem("registry-malformed", path, got))
        elif role["threshold"] > len(role["keyids"]):
            findings.append(
                problem(
                    "registry-threshold",
                    path,
                    str(role["threshold"]),
                    expected=f"a threshold of 1 to {len(role['keyids'])} for role {name}",
                    cause="no set of signatures could ever meet it",
                )
            )
    return findings


def signature_finding(
    result: VerificationResult, role: str, signatures: Mapping[str, Signature], path: str
) -> Finding | None:
    """Say why the keys that the delegator gives for `role` did not vouch; None if they did.

    Key ids may be counted here, because `key_findings` lets no key stand under two.
    """
    if result.verified:
        return None
    given = {keyid for keyid, signature in signatures.items() if signature.signature}
    wrong = sorted(given & result.unsigned.keys())
    if not given:
        code, got = "registry-unsigned", "no signature"
        cause = "the metadata was never signed, or its signatures were taken away"
    elif wrong:
        code, got = "registry-wrongly-signed", f"a wrong signature by key {wrong[0]}"
        cause = "the metadata was changed after signing, or someone else signed it"
    elif not result.signed:
        code, got = "registry-wrongly-signed", "only signatures by keys that the role has not"
        cause = "someone without the role's keys signed it, or the keys were replaced"
    else:
        code, got = "registry-threshold", f"{len(result.signed)}"
        cause = "not all who must agree have signed"
    expected = f"signatures by {result.threshold} of the keys of role {role}"
    return problem(code, path, got, expected=expected, cause=cause)


def _kind(key: Any) -> tuple[str, str]:
    value = key if isinstance(key, dict) else {}
    kind, scheme = value.get("keytype"), value.get("scheme")
    return (
        kind if isinstance(kind, str) else "none",
        scheme if isinstance(scheme, str) else "none",
    )


def _public(scheme: str, text: Any) -> tuple[str, bytes] | None:
    """Return what tells keys apart: the scheme and the point, in one encoding only."""
    if not isinstance(text, str):
        return None
    if scheme == "ed25519":
        point = bytes.fromhex(text) if HEX64.fullmatch(text) else b""
        return (scheme, point) if point and not is_weak(point) else None
    # Only registries with ECDSA keys pay for loading these.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        Encoding,
        PublicFormat,
        load_pem_public_key,
    )

    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != _CURVES[scheme]:
        return None
    return scheme, key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _unaccepted(name: str, kind: str, path: str) -> Finding:
    return problem(
        "registry-key-type",
        path,
        quoted(kind[:100]),
        expected="keys of type ed25519, or ecdsa on P-256 or P-384",
        cause=f"key {name} is of a kind that is not accepted in registry metadata",
        remedy="sign the registry with an accepted kind of key",
    )


def _misnamed(computed: str, name: str, path: str) -> Finding:
    return problem(
        "registry-key-id",
        path,
        name,
        expected=computed,
        cause="a key id is the SHA-256 of its key; any other could name one key twice",
    )


def _repeated(known: str, name: str, path: str) -> Finding:
    return problem(
        "registry-key-repeated",
        path,
        f"one key as {known} and as {name}",
        expected="every key under one key id",
        cause="one person could meet a threshold that asks for two",
    )
