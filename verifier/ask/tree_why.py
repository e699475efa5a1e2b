"""Why is this tree not as composed? Which stage it is nearest to, what departs, and what did it."""

from collections.abc import Iterator
from typing import Final

from verifier.ask.answers import Answer, failed, refusal
from verifier.ask.composition import entry_of, placed
from verifier.ask.explained import counting_of, explained
from verifier.ask.reading import Reach
from verifier.ask.tree_identity import Placed, places_in
from verifier.ask.trusted import Trust
from verifier.catalog.refused import Refused
from verifier.checks.composition.expected import BASE, expected
from verifier.checks.composition.nearest import Departure, Nearest, nearest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.outcome import Subject
from verifier.core.printable import printable
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources.argument import inside

#: Departures that are listed one by one.
_LISTED: Final = 20
#: What a file that stands at an earlier stage is told by: the stage is its reason.
_STAGE: Final = "composition-file-stage"


def why_tree(
    argument: str, composition: str | None, prefix: str, trust: Trust, reach: Reach
) -> list[Answer]:
    """Explain a tree by one composition, or by each that lies in it or is near to it.

    Raises `WrongCallError` if the policy demands nothing of compositions, or the registry has no
    composition of that name.
    """
    demanded = trust.policy.composition
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of compositions",
            code="wrong-call",
            remedy="judge with a policy that has a [composition] table, such as strict",
        )
    if composition is None:
        found = places_in(argument, trust.catalog, reach)
        if isinstance(found, Answer):
            return [found]
        if not found:
            return [_nothing(argument)]
        return [_explained(argument, hit, trust, demanded) for hit in found]
    below = inside(prefix) or b""
    entry = entry_of(composition, trust)
    if isinstance(entry, Refused):
        return [refusal(argument, entry)]
    try:
        here, outcome = placed(argument, below, entry, reach)
    except WrongCallError:
        raise
    except PinproofError as error:
        return [failed(argument, error.code, error.message, error.remedy, exit_code=error.exit)]
    hit = Placed(entry, below, outcome, here)
    return [_explained(argument, hit, trust, demanded)]


def _explained(argument: str, hit: Placed, trust: Trust, demanded: frozenset[str]) -> Answer:
    """Say what counts against the tree by the policy, and before it the nearest stage."""
    result = judge(
        hit.outcome,
        subject=Subject(name=argument),
        demanded=demanded,
        waivers=trust.policy.waivers,
        now=trust.now,
    )
    wanted = expected(hit.entry)
    stage = nearest(hit.here.scoped, wanted) if hit.here.whole else None
    rows = list(_nearest(hit, stage, len(wanted.histories)))
    name = hit.entry.name
    if result.verdict is Verdict.VERIFIED:
        known, told = True, f"{_standing(stage, hit)}; nothing to explain"
    elif not hit.here.whole:
        known, told = False, f"was not read whole, so that no stage of {name} is known"
        rows.append(("you may", "see what pinproof list tree says of it"))
    else:
        answer = explained(result)
        shown = stage is not None or bool(hit.outcome.identified)
        known = shown and all(map(_has_reason, counting_of(result)))
        told = _standing(stage, hit)
        rows += answer.rows
    return Answer(
        known=known,
        name=argument,
        headline=f"{argument} {told}",
        rows=tuple(rows),
        data={
            "entry": name,
            "prefix": _shown(hit.prefix),
            "nearest": stage.stage if stage else None,
            "departures": [
                {"path": _shown(d.path), "stage": d.at, "missing": d.missing}
                for d in (stage.departures if stage else ())
            ],
        },
    )


def _has_reason(finding: Finding) -> bool:
    """Whether it is known what did it: a cause, an earlier stage, or the entry or source alone."""
    return bool(finding.cause) or finding.code == _STAGE or finding.row.outcome == "undecided"


def _standing(stage: Nearest | None, hit: Placed) -> str:
    """Say where a tree stands; an entry that lists no files knows it by its git tree alone."""
    name = stage.stage if stage else None
    if stage is None and hit.at_a_stage:
        name = hit.outcome.identified[0].version
    if name is None:
        return f"shows no stage of {hit.entry.name}"
    how = "is near" if stage and stage.departures else "stands at"
    which = "the base" if name == BASE else f"stage {name}"
    return f"{how} {which} of {hit.entry.name}"


def _nearest(hit: Placed, stage: Nearest | None, paths: int) -> Iterator[tuple[str, str]]:
    if hit.prefix:
        yield "below", _shown(hit.prefix)
    if stage is None:
        return
    yield "nearest", f"{stage.stage}, as {stage.votes:,} of {paths:,} files that stages change are"
    for departure in stage.departures[:_LISTED]:
        yield "departs", f"{_shown(departure.path)}: {_told(departure)}"
    more = len(stage.departures) - _LISTED
    if more > 0:
        yield "departs", f"{more:,} more"


def _told(departure: Departure) -> str:
    if departure.at is not None:
        when = "before all stages" if departure.at == BASE else f"as {departure.at} left it"
        return f"not there, {when}" if departure.missing else when
    return "missing" if departure.missing else "as no stage leaves it"


def _nothing(argument: str) -> Answer:
    return Answer(
        known=False,
        name=argument,
        headline=f"{argument} holds no composition that the registry knows",
        rows=(("you may", "name the one that is meant: --composition NAME --prefix PATH"),),
    )


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))
