"""Step 6: nothing of the lineage outside its owned bytes, and every context unique."""

from collections.abc import Iterator

from verifier.catalog.entries.helper import Lineage
from verifier.checks.helper.regions import Installed, Remainder, occurrences
from verifier.checks.helper.sightings import Sightings, tag_variants
from verifier.checks.helper.words import LOOK
from verifier.core.finding import Finding, Where
from verifier.core.limits import PLACES_LISTED
from verifier.core.printable import quoted


def leftovers(
    data: bytes, lineage: Lineage, installed: Installed, seen: Sightings
) -> tuple[Finding, ...]:
    """Look for anything of the lineage in the remainder, and for contexts that are not unique."""
    rest = Remainder(data, installed.removed)
    return (
        *_leftover_texts(data, lineage, rest, seen),
        *_leftover_tags(data, lineage, installed, rest),
        *_repeated_contexts(data, installed, rest),
    )


def _leftover_texts(
    data: bytes, lineage: Lineage, rest: Remainder, seen: Sightings
) -> Iterator[Finding]:
    texts = dict.fromkeys(seen.markers, "helper-marker-elsewhere")
    texts |= {name.encode(): "helper-name-elsewhere" for name in lineage.owned_names}
    texts |= dict.fromkeys(lineage.first_lines(), "helper-name-elsewhere")
    for text, code in texts.items():
        for at in occurrences(rest.data, text)[:PLACES_LISTED]:
            yield Finding(
                code=code,
                where=Where.at(data, rest.host_offset(at), len(text)),
                expected="nothing of the lineage outside the helper and its sites",
                got=quoted(text.decode()),
                cause="a second use, a rebinding, or a note that quotes the name",
                remedy=LOOK,
            )


def _leftover_tags(
    data: bytes, lineage: Lineage, installed: Installed, rest: Remainder
) -> Iterator[Finding]:
    for at in tag_variants(rest.data, lineage.marker_prefix)[:PLACES_LISTED]:
        offset = rest.host_offset(at)
        if any(start <= offset < end for start, end in installed.owned):
            continue
        line = data[offset : offset + 60].split(b"\n", 1)[0]
        yield Finding(
            code="helper-tag-elsewhere",
            where=Where.at(data, offset, len(line)),
            expected="the lineage's tag in its own bytes only",
            got=quoted(line.decode("utf-8", "replace")),
            cause="a note, a log line, or a fork's marker",
            remedy=LOOK,
        )


def _repeated_contexts(data: bytes, installed: Installed, rest: Remainder) -> Iterator[Finding]:
    for placed in installed.sites:
        old = placed.site.without(data[placed.start : placed.end])
        found = occurrences(rest.data, old)
        if len(found) != 1:
            at = next((o for o in map(rest.host_offset, found) if o != placed.start), placed.start)
            yield Finding(
                code="helper-context-repeated",
                where=Where.at(data, at, len(old)),
                expected=f"the context of site {placed.site.name} once in the host",
                got=f"{len(found)} times",
                cause="an installer needs it once; a copy may be a decoy",
                remedy=LOOK,
            )
