"""Which stage a tree is nearest to, and what departs from it.

Every path that stages change votes for the stages at which it is as it stands. The stage with the
most votes is the nearest one, of several the last. What no stage explains votes for none, and
absence alone shows nothing: one of the paths has to be there.
"""

from typing import NamedTuple

from verifier.checks.composition.expected import Expected, Past, Scoped
from verifier.checks.composition.files import is_state
from verifier.sources.tree import TreeEntry


class Departure(NamedTuple):
    """A path that is not as the nearest stage leaves it.

    `at` is the stage that it is at instead, None if it is as no stage leaves it.
    """

    path: bytes
    at: str | None
    missing: bool


class Nearest(NamedTuple):
    """The nearest stage by its name, how many of the paths vote for it, and the others."""

    stage: str
    votes: int
    departures: tuple[Departure, ...]


def nearest(scoped: Scoped, wanted: Expected) -> Nearest | None:
    """Find the nearest stage; None where no path that is there stands at any."""
    found = {entry.path: entry for entry in scoped.here}
    if found.keys().isdisjoint(wanted.histories):
        return None
    states = {
        path: [past for past in pasts if is_state(found.get(path), past.file)]
        for path, pasts in wanted.histories.items()
    }
    votes = [0] * len(wanted.stages)
    for pasts in states.values():
        for number in {n for past in pasts for n in range(past.first, past.end)}:
            votes[number] += 1
    most = max(votes)
    if not most:
        return None
    number = max(n for n, count in enumerate(votes) if count == most)
    departures = tuple(
        _departure(path, found.get(path), pasts, wanted)
        for path, pasts in sorted(states.items())
        if not any(past.first <= number < past.end for past in pasts)
    )
    return Nearest(wanted.stages[number], most, departures)


def _departure(
    path: bytes, entry: TreeEntry | None, pasts: list[Past], wanted: Expected
) -> Departure:
    at = wanted.stages[pasts[-1].first] if pasts else None
    return Departure(path=path, at=at, missing=entry is None)
