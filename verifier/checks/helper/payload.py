"""Finding the texts of one version in a payload, each proved by its pin (CHECKS migrate).

Where a text comes from proves nothing and needs no proof: it counts if its bytes have a
registered SHA-256 and length. So one search serves a folder of exported files, an installed
host, the string literals of an installer, and a file of a producer's clone. A site is also
looked for in the blocks of *any* generation, after its markers are exchanged for those of the
version wanted: for v5 → v6 the text of the helper alone is then enough.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from verifier.catalog.entries.helper import Lineage, Published, Site, Version
from verifier.checks import python_source
from verifier.checks.helper.install import Pieces, SitePiece
from verifier.checks.helper.regions import line_starts, occurrences
from verifier.checks.helper.sightings import full_marker
from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.core.limits import PAYLOAD_PLACES

_CRLF: Final = "with carriage returns: its line ends were converted"
_STRIPPED: Final = "without the white space around it, which is another convention"


class Search:
    """Looks through texts for the pieces of one version, until `complete`."""

    def __init__(self, lineage: Lineage, version: Version, body: Published) -> None:
        """Want the helper and every site of `version`, and the import line if there is one."""
        self._lineage, self._version, self._body = lineage, version, body
        self._sites = lineage.sites[body.sites]
        self._helper: bytes | None = None
        self._found: dict[tuple[Pin, Pin], SitePiece] = {}
        self._parts: dict[Pin, bytes] = {}
        self._markers = full_marker(lineage.marker_prefix)
        self._lengths = {pin.length for pin in self._pins()}
        for name in body.required_imports:
            self._whole(f"import {name}\n".encode())

    @property
    def complete(self) -> bool:
        """Whether all that an install must write is there."""
        return self._helper is not None and not self._sites_missing()

    def pieces(self) -> Pieces:
        """Return what was found; only where it is complete."""
        if self._helper is None:
            raise ValueError("the search is not complete")
        site = self._lineage.import_site
        parts = None if site is None else self._parts_of(site)
        sites = (self._piece(site) for site in self._sites)
        return Pieces(
            helper=self._helper,
            sites=tuple(piece for piece in sites if piece is not None),
            import_parts=parts,
        )

    def look(self, text: bytes) -> None:
        """Look at one text: as it stands, and with its markers exchanged."""
        if not self._worth_a_look(text):
            return
        for form in dict.fromkeys((text, self._markers.sub(self._exchanged, text))):
            self._whole(form)
            self._at_first_lines(form)
            self._at_markers(form)
            self._at_lines(form)

    def look_at_file(self, data: bytes, *, python: bool) -> None:
        """Look at a file, at its slices that the entry names, and at its string literals."""
        self.look(data)
        for producer in self._body.producers:
            if producer.slice is not None:
                self.look(producer.slice.of(data))
        if python and not self.complete:
            for literal in literals(data):
                self.look(literal)

    def missing(self, texts: Iterable[bytes], *, looked_at: str) -> Finding:
        """Say what was not found in the payload, and what was found in its place."""
        wanted = [] if self._helper is not None else [f"the helper: {self._body.pin}"]
        wanted += [f"site {site.name}: {site.new}" for site in self._sites_missing()]
        rest = len(wanted) - 1
        more = f"; and {rest} {'site' if rest == 1 else 'sites'}" if rest else ""
        named = ", ".join(
            f"{p.repository} at {p.commit or p.commit_prefix}, {p.path}"
            for p in self._body.producers[:2]
        )
        at = f" (published in {named})" if named else ""
        return Finding(
            code="migrate-payload",
            expected=f"{wanted[0]}{more}",
            got=f"nothing of these bytes in {looked_at}",
            cause=self._instead(texts),
            remedy=f"give with --payload what carries {self._version.id}: a folder or installer "
            f"of that version, or a host that has it installed{at}",
        )

    # ── how a text is looked at ────────────────────────────────────────────────────────────

    def _worth_a_look(self, text: bytes) -> bool:
        """Whether a text can hold anything: a source has thousands of literals that cannot."""
        tokens = (self._lineage.marker_prefix, self._body.begin)
        line = self._lineage.import_site
        lines = any(not site.marker_offsets for site in self._sites)
        lines = lines or (line is not None and self._parts_of(line) is None)
        return lines or len(text) in self._lengths or any(token in text for token in tokens)

    def _whole(self, text: bytes) -> None:
        """Compare a text as a whole with every pin that is wanted."""
        if len(text) not in self._lengths:
            return
        pin = Pin.of(text)
        if pin == self._body.pin:
            self._helper = text
        for site in self._sites:
            self._block(site, text)
        if pin in self._part_pins():
            self._parts[pin] = text

    def _at_first_lines(self, text: bytes) -> None:
        if self._helper is not None:
            return
        length = self._body.pin.length or 0
        for at in occurrences(text, self._body.begin)[:PAYLOAD_PLACES]:
            start = at - self._body.begin_offset
            if start >= 0 and self._body.pin.matches(text[start : start + length]):
                self._helper = text[start : start + length]

    def _at_markers(self, text: bytes) -> None:
        for marker in occurrences(text, self._version.marker)[:PAYLOAD_PLACES]:
            for site in self._sites_missing():
                for offset in site.marker_offsets[:1]:
                    start = marker - offset
                    if start >= 0:
                        self._block(site, text[start : start + (site.new.length or 0)])
                        self._ranges(site, text, start)

    def _at_lines(self, text: bytes) -> None:
        """Look for what carries no marker, at the lines of a text."""
        sites = [site for site in self._sites_missing() if not site.marker_offsets]
        line = self._lineage.import_site
        if line is not None and self._parts_of(line) is None:
            sites.append(line)
        for start in line_starts(text)[:PAYLOAD_PLACES] if sites else ():
            for site in sites:
                self._block(site, text[start : start + (site.new.length or 0)])

    def _block(self, site: Site, text: bytes) -> None:
        if not site.new.matches(text):
            return
        parts = tuple(text[part.offset : part.end] for part in site.inserted)
        self._parts |= {part.pin: cut for part, cut in zip(site.inserted, parts, strict=True)}
        self._found[site.new, site.old] = SitePiece(site=site, parts=parts, old=site.without(text))

    def _ranges(self, site: Site, text: bytes, start: int) -> None:
        """Take inserted ranges from a block whose context is another host's."""
        for part in site.inserted:
            cut = text[start + part.offset : start + part.end]
            if part.pin.matches(cut):
                self._parts[part.pin] = cut

    def _exchanged(self, _match: object) -> bytes:
        return self._version.marker

    # ── what is wanted, and what is there ──────────────────────────────────────────────────

    def _pins(self) -> Iterator[Pin]:
        yield self._body.pin
        yield from (site.new for site in self._sites)
        yield from self._part_pins()

    def _part_pins(self) -> set[Pin]:
        line = self._lineage.import_site
        sites = (*self._sites, line) if line else self._sites
        return {part.pin for site in sites for part in site.inserted}

    def _parts_of(self, site: Site) -> tuple[bytes, ...] | None:
        found = [self._parts.get(part.pin) for part in site.inserted]
        parts = tuple(text for text in found if text is not None)
        return parts if len(parts) == len(found) else None

    def _piece(self, site: Site) -> SitePiece | None:
        found, parts = self._found.get((site.new, site.old)), self._parts_of(site)
        if found is not None or parts is None:
            return found
        return SitePiece(site=site, parts=parts)

    def _sites_missing(self) -> list[Site]:
        return [site for site in self._sites if self._piece(site) is None]

    def _instead(self, texts: Iterable[bytes]) -> str | None:
        """Name what a payload holds in place of the helper, if that can be told."""
        if self._helper is not None:
            return None
        others = {body.pin: v.id for v, body in self._lineage.published if v != self._version}
        held = set()
        for text in texts:
            if b"\r\n" in text and self._carries(text.replace(b"\r\n", b"\n")):
                return f"the payload holds it {_CRLF}"
            stripped = text.strip()
            if any(pin.matches(stripped) for _, pin in self._body.other_spans):
                return f"the payload holds it {_STRIPPED}"
            held |= {name for pin, name in others.items() if _stands_in(text, pin, self._lineage)}
        return f"the payload holds {', '.join(sorted(held))}" if held else None

    def _carries(self, text: bytes) -> bool:
        return _stands_in(text, self._body.pin, self._lineage)


def _stands_in(text: bytes, pin: Pin, lineage: Lineage) -> bool:
    """Whether a helper stands in a text, as a whole or behind its first line."""
    if pin.matches(text):
        return True
    starts = (
        at - body.begin_offset
        for _, body in lineage.published
        if body.pin == pin
        for at in occurrences(text, body.begin)[:PAYLOAD_PLACES]
    )
    return any(s >= 0 and pin.matches(text[s : s + (pin.length or 0)]) for s in starts)


def literals(data: bytes) -> Iterator[bytes]:
    """Return the string and bytes literals of a Python source; it is parsed and never run."""
    tree = python_source.read(data)
    if isinstance(tree, python_source.Unparsable):
        return
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bytes):
            yield value
        elif isinstance(value, str):
            try:
                yield value.encode()
            except UnicodeEncodeError:
                continue  # half of a surrogate pair: the bytes of no file
