"""What is this tree? Which composition lies in it, where, and at which stage."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from verifier.ask.answers import Answer, failed, refusal
from verifier.ask.composition import standing
from verifier.ask.reading import Reach
from verifier.catalog.entries.composition import Composition
from verifier.catalog.open import Catalog, Refused
from verifier.checks.composition import Standing, check
from verifier.checks.composition.expected import expected
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import in_order
from verifier.core.outcome import Outcome
from verifier.core.printable import printable
from verifier.sources.argument import Place, open_place
from verifier.sources.tree import TreeEntry

#: Listed paths of a composition that are looked for in a tree, and places that are then tried.
_LOOKED_FOR: Final = 200
_TRIED: Final = 4
#: Codes that say no more than that the stage is not the final one.
_SAID: Final = ("composition-earlier-stage", "composition-file-stage")


class Placed(NamedTuple):
    """A composition at a place in a tree, and what the check says of it there."""

    entry: Composition
    prefix: bytes
    outcome: Outcome
    here: Standing

    @property
    def at_a_stage(self) -> bool:
        """Whether all of it stands at one stage."""
        return any(found.status == "stage" for found in self.outcome.identified)


def identify_tree(argument: str, catalog: Catalog | Refused, reach: Reach) -> Answer:
    """Say which compositions a tree holds; known if one stands at a stage of its own.

    Raises `WrongCallError` for an argument that is not written as a source.
    """
    found = places_in(argument, catalog, reach)
    return found if isinstance(found, Answer) else _answer(argument, found)


def places_in(argument: str, catalog: Catalog | Refused, reach: Reach) -> list[Placed] | Answer:
    """Find the compositions that a tree holds, or likenesses of them, and check them there.

    Raises `WrongCallError` for an argument that is not written as a source.
    """
    if isinstance(catalog, Refused):
        return refusal(argument, catalog)
    try:
        place = open_place(
            argument, whole=True, clones=reach.clones, allow_alternates=reach.allow_alternates
        )
        entries = _below(place, place.tree.entries())
    except WrongCallError:
        raise
    except PinproofError as error:
        return failed(argument, error.code, error.message, error.remedy, exit_code=error.exit)
    found: list[Placed] = []
    for name in catalog.names("composition"):
        entry = catalog.composition(name)
        if isinstance(entry, Refused):
            return refusal(argument, entry)
        found += _places(entry, place, entries)
    return found


def _below(place: Place, entries: list[TreeEntry]) -> list[TreeEntry]:
    """Keep what lies below the path that was named, under its whole path."""
    if place.inside is None:
        return entries
    return [entry for entry in entries if entry.path.startswith(place.inside + b"/")]


def _places(entry: Composition, place: Place, entries: list[TreeEntry]) -> Iterator[Placed]:
    """Check a composition wherever its paths lie in the tree, or its git tree is."""
    wanted = expected(entry)
    names = {path.rpartition(b"/")[2]: path for path in islice(wanted.histories, _LOOKED_FOR)}
    names |= {path.rpartition(b"/")[2]: path for path in islice(wanted.files, _LOOKED_FOR)}
    begins: Counter[bytes] = Counter()
    for each in entries:
        path = names.get(each.path.rpartition(b"/")[2])
        if path is not None and (b"/" + each.path).endswith(b"/" + path):
            begins[each.path.removesuffix(path).rstrip(b"/")] += 1
    places = [prefix for prefix, _ in sorted(begins.items(), key=lambda b: (-b[1], b[0]))][:_TRIED]
    for prefix in places or [place.inside or b""]:
        here = standing(place, entries, prefix, entry)
        hit = Placed(entry, prefix, check(here, entry), here)
        # Any commit holds another tree than a git tree that is pinned: that is no likeness.
        if hit.at_a_stage or (places and hit.outcome.identified):
            yield hit


def _answer(argument: str, found: list[Placed]) -> Answer:
    known = [hit for hit in found if hit.at_a_stage]
    if not found:
        return Answer(
            known=False,
            name=argument,
            headline=f"{argument} holds no composition that the registry knows",
            rows=(("you may", "see pinproof list; name a file in it to ask for that alone"),),
        )
    shown = known or found
    rows = [("and" if number else "is", _told(hit)) for number, hit in enumerate(shown)]
    first = shown[0]
    prefix = f" --prefix {_shown(first.prefix)}" if first.prefix else ""
    rows.append(("you may", f"pinproof verify composition {first.entry.name} --at SOURCE{prefix}"))
    headline = "holds" if known else "is near, and not as composed:"
    return Answer(
        known=bool(known),
        name=argument,
        headline=f"{argument} {headline} {', '.join(hit.entry.name for hit in shown)}",
        rows=tuple(rows),
        data={
            "identified": [
                {
                    "entry": hit.entry.name,
                    "version": found.version,
                    "status": found.status,
                    "current": found.current,
                    "prefix": _shown(hit.prefix),
                }
                for hit in shown
                for found in hit.outcome.identified
            ]
        },
    )


def _told(hit: Placed) -> str:
    (found,) = hit.outcome.identified
    where = f", below {_shown(hit.prefix)}" if hit.prefix else ""
    findings = in_order(hit.outcome.findings)
    rejected = [f.code for f in findings if f.row.outcome == "rejected"]
    if found.status == "stage" and not found.current:
        rejected = [code for code in rejected if code not in _SAID]
    but = f"; but {', '.join(dict.fromkeys(rejected))}" if rejected else ""
    if found.status != "stage":
        return f"{hit.entry.name}, {found.version}{where}{but}"
    which = "the base" if found.version == "base" else f"stage {found.version}"
    final = ", the final one" if found.current else ", not the final one"
    return f"{hit.entry.name} at {which}{final}{where}{but}"


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))
