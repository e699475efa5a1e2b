"""Bundles with a certificate, verified by sigstore's public API, offline, with a given root.

The library is asked for what it does well: chains, the promise to the certificate log, identity,
log and signature. What it leaves open is closed here and around it (reference: measured by
mutation on 4.5.1):

1. It enforces no period of a retired log, authority or certificate log, and reads a timestamp
   authority's end as excluded. It is therefore given only those keys of the root whose closed
   period holds at every time of the bundle, without an end.
2. It reads JSON in which the last of two keys wins, and does not look at payload types: `bundle`
   and `checks.bundle` do.
3. It checks every ECDSA key with SHA-256: other kinds of keys are not handed to it.
4. It raises many kinds of errors, with its own values in their words: any of them means that the
   bundle is not verified, and `diagnosis` says why in ours.

No cache of the user is read or written: the root comes as bytes.
"""

import json
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from sigstore.hashes import Hashed
from sigstore.models import Bundle as TheirBundle
from sigstore.models import ClientTrustConfig
from sigstore.verify import Verifier
from sigstore.verify.policy import Identity as TheirIdentity
from sigstore_models.common.v1 import HashAlgorithm

from verifier.evidence.bundle import Bundle
from verifier.evidence.claim import Identity
from verifier.evidence.dsse import Envelope
from verifier.evidence.quiet import quiet
from verifier.evidence.trusted_root import LISTS, TrustedRoot

#: The library tells its log what it does; nothing of it is for whoever reads our report.
logging.getLogger("sigstore").addHandler(logging.NullHandler())
logging.getLogger("sigstore").propagate = False

_CONFIG: Final = {
    "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
    "signingConfig": {
        "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
        "rekorTlogConfig": {"selector": "ANY"},
        "tsaConfig": {"selector": "ANY"},
    },
}


class Sigstore:
    """One root, and the verifiers for those of its keys that count at some times."""

    def __init__(self, root: TrustedRoot) -> None:
        """Keep the root; a verifier is made when the first bundle of its time comes."""
        self.root = root
        self._windows = root.windows()
        self._verifiers: dict[tuple[tuple[bool, ...], ...], Verifier | None] = {}

    def accepts(
        self,
        bundle: Bundle,
        identity: Identity,
        artifact: str | None,
        times: Iterable[datetime],
        *,
        lists: Iterable[str] = tuple(LISTS),
    ) -> bool:
        """Whether the library accepts a bundle with the keys that count at all of `times`.

        `artifact` is the SHA-256 of the file, needed for a message. Only of `lists` are keys left
        out; a diagnosis asks for fewer.
        """
        verifier = self._verifier(tuple(times), frozenset(lists))
        if verifier is None or not identity.subject or not identity.issuer:
            return False
        return _succeeds(lambda: _verify(verifier, bundle, identity, artifact))

    def _verifier(self, times: tuple[datetime, ...], lists: frozenset[str]) -> Verifier | None:
        counts = tuple(
            tuple(
                name not in lists or all(window.holds(time) for time in times)
                for window in self._windows[name]
            )
            for name in LISTS
        )
        if counts not in self._verifiers:
            self._verifiers[counts] = self._made(counts)
        return self._verifiers[counts]

    def _made(self, counts: tuple[tuple[bool, ...], ...]) -> Verifier | None:
        """Make a verifier; None if the library takes no root with so few keys."""
        document = self.root.document()
        for (name, below), kept in zip(LISTS.items(), counts, strict=True):
            items = document.get(name) or []
            document[name] = [item for item, keep in zip(items, kept, strict=True) if keep]
            for item in document[name]:
                (item[below] if below else item)["validFor"].pop("end", None)
        config = json.dumps({**_CONFIG, "trustedRoot": document})
        made: list[Verifier] = []

        def make() -> None:
            root = ClientTrustConfig.from_json(config).trusted_root
            made.append(Verifier(trusted_root=root))

        return made[0] if _succeeds(make) else None


def _verify(verifier: Verifier, bundle: Bundle, identity: Identity, artifact: str | None) -> None:
    theirs = TheirBundle.from_json(bundle.data)
    policy = TheirIdentity(identity=identity.subject, issuer=identity.issuer)
    content = bundle.content
    if isinstance(content, Envelope):
        kind, payload = verifier.verify_dsse(theirs, policy)
        if (kind, payload) != (content.payload_type, content.payload):
            raise ValueError("two readings of one envelope")
        return
    digest = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=bytes.fromhex(artifact or ""))
    verifier.verify_artifact(digest, theirs, policy)


def _succeeds(step: Callable[[], Any]) -> bool:
    """Whether a step of the library ends without an exception; every kind of one is a no.

    What hostile DER meets below it can end in a panic, which is no `Exception`.
    """
    try:
        with quiet():
            step()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001  (the kinds are not uniform, and none of them is a yes)
        return False
    return True
