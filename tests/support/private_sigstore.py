"""A private Sigstore in one process: everything it signs is real, only its authority is private.

    sigstore = PrivateSigstore()
    signer = sigstore.signer()  # or sigstore.managed_signer()
    bundle = sigstore.message(b"bytes", signer, rekor=1)
    root = sigstore.trusted_root()

It holds a CA with an intermediate, a certificate-transparency key, a Rekor v1 and a Rekor v2
log, and a timestamp authority. Nothing needs the network, and no package but cryptography.

Documents are those of sigstore/protobuf-specs, `sigstore_bundle.proto` and
`sigstore_trustroot.proto`; envelopes are DSSE 1.0 (secure-systems-lab/dsse, protocol.md); what
the logs hold is in sigstore/rekor, pkg/types (v1), and sigstore/rekor-tiles, api/proto (v2).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from support.certificates import (
    ORGANIZATION,
    Authority,
    Extension,
    new_key,
    new_serial,
    of_a_ca,
    of_a_leaf,
    private,
    signed_timestamp,
)
from support.der import octets, utf8
from support.rfc3161 import timestamp
from support.transparency import P256_SHA256, Json, Log, LogKey, b64, canonical, sha256, spki

Rekor = Literal[1, 2]

DOMAIN: Final = ORGANIZATION
SAN: Final = f"https://ci.{DOMAIN}/build.yml@refs/heads/main"
ISSUER: Final = f"https://oidc.{DOMAIN}"
STATEMENT_TYPE: Final = "application/vnd.in-toto+json"
_DETAILS: Final = "PKIX_ECDSA_P256_SHA_256"


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that a DSSE signature is over."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A key, and the certificate for it; None if the verifier knows the key itself."""

    key: EllipticCurvePrivateKey
    leaf: x509.Certificate | None

    @property
    def material(self) -> Json:
        """What a bundle says of the key."""
        if self.leaf is None:
            return {"publicKey": {"hint": b64(sha256(spki(self.key)))}}
        return {"certificate": {"rawBytes": b64(self.leaf.public_bytes(Encoding.DER))}}

    @property
    def pem(self) -> bytes:
        """Return certificate or public key, as entries of Rekor v1 hold it."""
        if self.leaf is None:
            return spki(self.key, Encoding.PEM)
        return self.leaf.public_bytes(Encoding.PEM)

    @property
    def verifier(self) -> Json:
        """Return the same as entries of Rekor v2 hold it."""
        if self.leaf is None:
            return {"publicKey": {"rawBytes": b64(spki(self.key))}, "keyDetails": _DETAILS}
        raw = {"rawBytes": b64(self.leaf.public_bytes(Encoding.DER))}
        return {"x509Certificate": raw, "keyDetails": _DETAILS}


class PrivateSigstore:
    """The services of one private Sigstore, all of them at one time."""

    def __init__(self, now: datetime | None = None, *, seed: str = "") -> None:
        """Make every key and certificate; they hold from a year before `now`.

        With a `seed` they are the same each time, without one they are new.
        """
        self.seed, self._signers = seed, 0
        self.now = (now or datetime.now(UTC)).replace(microsecond=0)
        self.start = self.now - timedelta(days=365)
        valid = (self.start, self.now + timedelta(days=3650))
        self.root = Authority.root("fulcio-root", valid, seed=seed)
        signing = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
        self.ca = self.root.below("fulcio", valid, [*of_a_ca(0), (signing, False)], seed=seed)
        self.tsa_root = Authority.root("tsa-root", valid, seed=seed)
        stamping = of_a_leaf(ExtendedKeyUsageOID.TIME_STAMPING, critical=True)
        self.tsa = self.tsa_root.below("tsa", valid, stamping, seed=seed)
        self.ct_key = new_key(self._secret("ct"))
        self.logs: dict[Rekor, Log] = {
            1: Log(f"rekor.{DOMAIN}", new_key(self._secret("rekor 1"))),
            2: Log(f"log2026.rekor.{DOMAIN}", self._ed25519()),
        }

    def _secret(self, name: str) -> str:
        return f"{self.seed} {name}" if self.seed else ""

    def _ed25519(self) -> Ed25519PrivateKey:
        if not self.seed:
            return Ed25519PrivateKey.generate()
        return Ed25519PrivateKey.from_private_bytes(sha256(self._secret("rekor 2").encode()))

    def _next(self) -> str:
        self._signers += 1
        return self._secret(f"signer {self._signers}")

    # ── signing ────────────────────────────────────────────────────────────────────────────────

    def managed_signer(self) -> Signer:
        """Make a key that its verifier has to know."""
        return Signer(key=new_key(self._next()), leaf=None)

    def signer(self, *, san: str = SAN, issuer: str = ISSUER, minutes: int = 10) -> Signer:
        """Make a key and certify it for one who logged in, as Fulcio does.

        The log signs the certificate without its own promise, which is then put into it.
        """
        secret = self._next()
        key, serial = new_key(secret), new_serial(secret)
        valid = (self.now - timedelta(minutes=1), self.now + timedelta(minutes=minutes))
        extensions = [
            *of_a_leaf(ExtendedKeyUsageOID.CODE_SIGNING, critical=False),
            (x509.SubjectAlternativeName([x509.UniformResourceIdentifier(san)]), True),
            private("1.3.6.1.4.1.57264.1.1", issuer.encode()),
            private("1.3.6.1.4.1.57264.1.8", utf8(issuer)),
        ]

        def build(more: list[Extension]) -> x509.Certificate:
            return self.ca.issue(
                x509.Name([]), key, valid=valid, extensions=[*extensions, *more], serial=serial
            )

        tbs = build([]).tbs_certificate_bytes
        ms = int(self.now.timestamp()) * 1000
        promises = signed_timestamp(tbs, self.ca.key, self.ct_key, ms)
        leaf = build([private("1.3.6.1.4.1.11129.2.4.2", octets(promises))])
        assert leaf.tbs_precertificate_bytes == tbs
        return Signer(key=key, leaf=leaf)

    def message(self, artifact: bytes, signer: Signer, *, rekor: Rekor = 2) -> Json:
        """Sign bytes and return the bundle."""
        digest, signature = sha256(artifact), signer.key.sign(artifact, P256_SHA256)
        body = _hashedrekord1(digest, signature, signer)
        if rekor == 2:
            body = _hashedrekord2(digest, signature, signer)
        content = {
            "messageDigest": {"algorithm": "SHA2_256", "digest": b64(digest)},
            "signature": b64(signature),
        }
        return self._bundle(rekor, signer, signature, body) | {"messageSignature": content}

    def statement(
        self,
        payload: bytes,
        signer: Signer,
        *,
        rekor: Rekor = 2,
        payload_type: str = STATEMENT_TYPE,
    ) -> Json:
        """Sign a DSSE envelope and return the bundle."""
        signed = pae(payload_type, payload)
        signature = signer.key.sign(signed, P256_SHA256)
        envelope = {
            "payload": b64(payload),
            "payloadType": payload_type,
            "signatures": [{"sig": b64(signature)}],
        }
        body = _dsse1(envelope, payload, signature, signer)
        if rekor == 2:
            body = _hashedrekord2(sha256(signed), signature, signer)
        return self._bundle(rekor, signer, signature, body) | {"dsseEnvelope": envelope}

    def _bundle(self, rekor: Rekor, signer: Signer, signature: bytes, body: Json) -> Json:
        """Log a signature; Rekor v2 keeps no time, so there a timestamp has to prove one."""
        token = timestamp(self.tsa, signature, self.now) if rekor == 2 else b""
        stamps = {"rfc3161Timestamps": [{"signedTimestamp": b64(token)}]} if token else {}
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                **signer.material,
                "tlogEntries": [self.logs[rekor].entry(body, self.now)],
                "timestampVerificationData": stamps,
            },
        }

    # ── what a verifier is given ───────────────────────────────────────────────────────────────

    def trusted_root(self) -> Json:
        """Return every public key and certificate, as `trusted_root.json` holds them."""
        fulcio = self._chain("fulcio", self.ca, self.root)
        tsa = self._chain("tsa", self.tsa, self.tsa_root)
        ct_id = sha256(spki(self.ct_key))
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [self._log(log.origin, log.key, log.key_id) for log in self.logs.values()],
            "certificateAuthorities": [fulcio],
            "ctlogs": [self._log(f"ctfe.{DOMAIN}", self.ct_key, ct_id)],
            "timestampAuthorities": [tsa],
        }

    def client_trust_config(self) -> Json:
        """Return the trusted root and the addresses of the services; nothing answers there."""

        def service(name: str) -> list[Json]:
            return [
                {
                    "url": f"https://{name}.{DOMAIN}",
                    "majorApiVersion": 1,
                    "operator": DOMAIN,
                    "validFor": self._valid,
                }
            ]

        return {
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": self.trusted_root(),
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "caUrls": service("fulcio"),
                "oidcUrls": service("oidc"),
                "rekorTlogUrls": service("rekor"),
                "tsaUrls": service("tsa"),
                "rekorTlogConfig": {"selector": "ANY"},
                "tsaConfig": {"selector": "ANY"},
            },
        }

    @property
    def _valid(self) -> Json:
        return {"start": self.start.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def _log(self, host: str, key: LogKey, key_id: bytes) -> Json:
        details = "PKIX_ED25519" if isinstance(key, Ed25519PrivateKey) else _DETAILS
        public = {"rawBytes": b64(spki(key)), "keyDetails": details, "validFor": self._valid}
        return {
            "baseUrl": f"https://{host}",
            "hashAlgorithm": "SHA2_256",
            "publicKey": public,
            "logId": {"keyId": b64(key_id)},
        }

    def _chain(self, name: str, *chain: Authority) -> Json:
        raw = [{"rawBytes": b64(each.certificate.public_bytes(Encoding.DER))} for each in chain]
        return {
            "subject": {"organization": DOMAIN, "commonName": name},
            "uri": f"https://{name}.{DOMAIN}",
            "certChain": {"certificates": raw},
            "validFor": self._valid,
        }


# ── entries of the logs ────────────────────────────────────────────────────────────────────────


def _hashedrekord1(digest: bytes, signature: bytes, signer: Signer) -> Json:
    spec = {
        "data": {"hash": {"algorithm": "sha256", "value": digest.hex()}},
        "signature": {"content": b64(signature), "publicKey": {"content": b64(signer.pem)}},
    }
    return {"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": spec}


def _dsse1(envelope: Json, payload: bytes, signature: bytes, signer: Signer) -> Json:
    spec = {
        "envelopeHash": {"algorithm": "sha256", "value": sha256(canonical(envelope)).hex()},
        "payloadHash": {"algorithm": "sha256", "value": sha256(payload).hex()},
        "signatures": [{"signature": b64(signature), "verifier": b64(signer.pem)}],
    }
    return {"apiVersion": "0.0.1", "kind": "dsse", "spec": spec}


def _hashedrekord2(digest: bytes, signature: bytes, signer: Signer) -> Json:
    spec = {
        "data": {"algorithm": "SHA2_256", "digest": b64(digest)},
        "signature": {"content": b64(signature), "verifier": signer.verifier},
    }
    return {"apiVersion": "0.0.2", "kind": "hashedrekord", "spec": {"hashedRekordV002": spec}}
