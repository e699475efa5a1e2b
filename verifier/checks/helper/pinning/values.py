"""What a derivation reads, and what it comes to."""

from collections.abc import Mapping
from dataclasses import field

from verifier.catalog.entries.helper import Lineage, Site, Version
from verifier.checks.helper.pinning.recipe import Origin, Place
from verifier.checks.helper.pinning.spans import Span
from verifier.checks.helper.regions import Range
from verifier.core.finding import Finding
from verifier.core.value import frozen


@frozen
class Material:
    """Every byte that a derivation reads: producers' files by origin, hosts by place."""

    files: Mapping[Origin, bytes | Finding]
    hosts: Mapping[Place, bytes]


@frozen
class Carried:
    """One patched host, taken apart: helper, inserted ranges, and the sites they make."""

    base: str
    name: str
    data: bytes
    pristine: bytes
    span: Span
    import_site: Site | None
    sites: tuple[Site, ...]
    pieces: tuple[tuple[str, bytes], ...]
    """Texts that an install writes, by the names that an exported payload gives them."""
    owned: tuple[Range, ...]


@frozen
class Pinned:
    """One derived version with its hosts."""

    version: Version
    hosts: tuple[Carried, ...]
    site_list: tuple[Site, ...]


@frozen
class Derived:
    """What a derivation comes to: the entry, and everything that a proof or an export takes."""

    lineage: Lineage
    pinned: tuple[Pinned, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
