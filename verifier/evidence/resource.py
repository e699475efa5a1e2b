"""Field types that statements and predicates share (in-toto/attestation, spec/v1).

resource_descriptor.md, digest_set.md and field_types.md are the sources. Fields that are not
known are ignored, as the parsing rules of spec/v1 (README.md) ask of consumers.
"""

import re
from collections.abc import Mapping
from typing import Final

from verifier.core.table import Table
from verifier.core.value import frozen

#: Algorithms over git's objects.
GIT: Final = ("gitCommit", "gitTree", "gitBlob", "gitTag")
#: Hex digits of each algorithm that digest_set.md names. Others are carried, never compared.
_LENGTHS: Final[Mapping[str, tuple[int, ...]]] = {
    "md5": (32,),
    "sha1": (40,),
    "sha224": (56,),
    "sha256": (64,),
    "sha384": (96,),
    "sha512": (128,),
    "sha512_224": (56,),
    "sha512_256": (64,),
    "sha3_224": (56,),
    "sha3_256": (64,),
    "sha3_384": (96,),
    "sha3_512": (128,),
    "blake2b": (128,),
    "blake2s": (64,),
    "ripemd160": (40,),
    "sm3": (64,),
    "gost": (64,),
    "dirHash": (64,),
    "dirHash1": (64,),
    **dict.fromkeys(GIT, (40, 64)),
}
_URI: Final = r"[A-Za-z][A-Za-z0-9+.-]*:\S+"
_TIMESTAMP: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"


@frozen
class Resource:
    """A ResourceDescriptor: name, URI and digests, "" and empty where they are absent."""

    name: str
    uri: str
    digests: Mapping[str, str]


def uri(table: Table, key: str) -> str:
    """Return a TypeURI or ResourceURI."""
    return table.text(key, pattern=_URI, form="a URI")


def timestamp(table: Table, key: str) -> str:
    """Return a Timestamp as it is written: RFC 3339 in UTC, with or without a fraction."""
    return table.text(key, pattern=_TIMESTAMP, form="2026-11-29T00:00:00Z")


def digest_set(table: Table, key: str) -> dict[str, str]:
    """Return the digests below `key`, of which there is at least one, each of its own length."""
    digests = table.table(key).strings()
    if table.has(key) and not digests:
        table.mistake(key, "is empty or no table of digests")
    for algorithm, value in digests.items():
        lengths = _LENGTHS.get(algorithm)
        if not value:
            table.mistake(f"{key}.{algorithm}", "is empty")
        elif lengths and not (len(value) in lengths and re.fullmatch("[0-9a-f]+", value)):
            form = " or ".join(map(str, lengths))
            table.mistake(f"{key}.{algorithm}", f"is not {form} lower-case hex digits")
    return digests


def resource(table: Table, *, with_uri: bool = False) -> Resource:
    """Return a ResourceDescriptor; it has to have a URI, digests or content of its own."""
    if not any([table.has("uri"), table.has("digest"), table.has("content")]):
        table.mistake("", "has none of uri, digest and content")
    return Resource(
        name=table.string("name") if table.has("name") else "",
        uri=uri(table, "uri") if with_uri or table.has("uri") else "",
        digests=digest_set(table, "digest") if table.has("digest") else {},
    )


def resources(table: Table, key: str, *, required: bool) -> tuple[Resource, ...]:
    """Return a list of ResourceDescriptors, which may be empty."""
    if required and not table.has(key):
        table.mistake(key, "missing, expected a list, which may be empty")
    return tuple(resource(each) for each in table.tables(key))
