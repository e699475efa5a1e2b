"""Whether a product was made in the steps, and by the keys, of a signed in-toto layout."""

from collections.abc import Sequence

from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.checks.chain import Asked, Product, check
from verifier.core.demand import FACETS
from verifier.core.digest import Digest, sha256
from verifier.core.errors import WrongCallError
from verifier.core.limits import CHAIN_DOCUMENT_BYTES, DOCUMENT_BYTES, SIGNATURES
from verifier.core.outcome import Report, Subject
from verifier.evidence.keys import PublicKey
from verifier.policy import judge
from verifier.sources import file
from verifier.sources.links import read_links


def verify_chain(
    layout: str,
    *,
    links: str,
    keys: Sequence[str],
    threshold: int | None = None,
    products: Sequence[str] = (),
    trust: Trust | None = None,
) -> Report:
    """Judge the links in the folder `links` by the layout in the file `layout`.

    `keys` are PEM files of the layout's owners; `threshold` of them have to have signed it, all
    without that. `products` are files that the last step is said to have made.

    Raises `WrongCallError` for keys or a threshold that will not do, `UnavailableError` for files
    that cannot be read.
    """
    trust = trust or open_trust()
    owners = _keys(keys)
    least = len(owners) if threshold is None else threshold
    if not 1 <= least <= len(owners):
        raise WrongCallError(
            f"--threshold: expected 1 to {len(owners)}, as many keys as were given, got {least}",
            code="wrong-call",
            remedy="give the key of every owner with --key, and how many of them have to agree",
        )
    read = file.read(layout, limit=CHAIN_DOCUMENT_BYTES)
    made = tuple(
        Product(name=name, sha256=file.digests(name, ["sha256"]).digests["sha256"])
        for name in products
    )
    outcome = check(
        read.data,
        name=layout,
        links=read_links(links),
        asked=Asked(keys=frozenset(owners), threshold=least, products=made),
        now=trust.now,
    )
    result = judge(
        outcome,
        subject=Subject(
            name=layout,
            digests=(Digest(kind="file", hex=sha256(read.data)),),
            length=len(read.data),
            link=read.link,
        ),
        demanded=frozenset(FACETS["chain"]),
        waivers=trust.policy.waivers,
        now=trust.now,
    )
    return trust.report((result,))


def _keys(names: Sequence[str]) -> list[PublicKey]:
    """Read the owners' keys; two files of one key would reach a threshold that nobody agreed to."""
    found: dict[PublicKey, str] = {}
    if not 1 <= len(names) <= SIGNATURES:
        raise WrongCallError(
            f"--key: expected 1 to {SIGNATURES} keys, got {len(names)}",
            code="wrong-call",
            remedy="give the public key of the layout's owner: --key owner.pem",
        )
    for name in names:
        try:
            key = PublicKey.pem(file.read(name, limit=DOCUMENT_BYTES).data)
        except ValueError as error:
            raise WrongCallError(
                f"--key: {name} {error}",
                code="wrong-call",
                remedy="give an Ed25519, ECDSA P-256 or P-384 public key: "
                "openssl pkey -in KEY -pubout prints it",
            ) from None
        other = found.setdefault(key, name)
        if other != name or names.count(name) > 1:
            raise WrongCallError(
                f"--key: {name} holds the same key as {other}",
                code="wrong-call",
                remedy="give each owner's key once; a threshold counts different keys",
            )
    return list(found)
