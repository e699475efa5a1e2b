"""What the registry holds, whether it authenticates as a whole, and what a code means."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from verifier.ask.answers import Answer, Answered, refusal, unregistered
from verifier.ask.composition_entry import listed, shown
from verifier.ask.helper_entry import listed_helper, shown_helper
from verifier.ask.image_entry import listed_image, listed_runtime, shown_image, shown_runtime
from verifier.ask.release_entry import listed_release, shown_release
from verifier.ask.signers_entry import listed_signers, shown_signers
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.kinds import KINDS
from verifier.catalog.open import Catalog, Refused
from verifier.core.codes import CODES
from verifier.core.coverage import Covered, State
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.table import nearest
from verifier.policy import judge
from verifier.sources import shipped

_DEMANDED = frozenset({"registry"})
_Pages = Mapping[str, Callable[[Any], Answer]]
#: What is said of an entry in a list, and of one alone; lines belong to a lineage.
_LISTED: Final[_Pages] = {
    "helper": listed_helper,
    "composition": listed,
    "image": listed_image,
    "runtime": listed_runtime,
    "release": listed_release,
    "signers": listed_signers,
}
_SHOWN: Final[_Pages] = {
    "helper": shown_helper,
    "composition": shown,
    "image": shown_image,
    "runtime": shown_runtime,
    "release": shown_release,
    "signers": shown_signers,
}


def check_registry(*, trust: Trust | None = None) -> Report:
    """Read and compare every file of the registry, parse every entry, re-derive the index."""
    trust = trust or open_trust()
    catalog = trust.catalog
    findings = catalog.findings if isinstance(catalog, Refused) else catalog.check_all()
    counts = {} if isinstance(catalog, Refused) else {k: len(catalog.names(k)) for k in KINDS}
    told = [f"{n} {kind} {'entry' if n == 1 else 'entries'}" for kind, n in counts.items() if n]
    detail = ", ".join([*told, "index as derived"])
    covered = Covered(
        facet="registry",
        state=State.NOT_HELD if findings else State.HELD,
        detail="" if findings else detail,
    )
    outcome = Outcome(
        kind="registry",
        identified=(),
        findings=findings,
        coverage=(covered,),
        not_proven=("that the entries are true; only that those who hold the keys signed them",),
    )
    result = judge(outcome, subject=Subject(name="registry"), demanded=_DEMANDED, now=trust.now)
    return trust.report((result,))


def list_entries(*, trust: Trust | None = None) -> Answered:
    """List every entry: kind, name, versions, project."""
    trust = trust or open_trust()
    if isinstance(trust.catalog, Refused):
        return Answered(
            question="list", answers=(refusal("registry", trust.catalog),), report=trust.report(())
        )
    answers = [
        _told(kind, name, trust.catalog, _LISTED)
        for kind in KINDS
        for name in trust.catalog.names(kind)
    ]
    empty = Answer(known=False, name="registry", headline="the registry holds no entry")
    return Answered(question="list", answers=tuple(answers) or (empty,), report=trust.report(()))


def show(name: str, *, trust: Trust | None = None) -> Answered:
    """Show one entry: versions, stages, digests, components, whatever its kind has."""
    trust = trust or open_trust()
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        answers = [refusal(name, catalog)]
    else:
        kinds = [kind for kind in KINDS if name in catalog.names(kind)]
        if not kinds:
            known = [each for kind in KINDS for each in catalog.names(kind)]
            raise unregistered(name, known, option="show")
        answers = [_told(kind, name, catalog, _SHOWN) for kind in kinds]
    return Answered(question="show", answers=tuple(answers), report=trust.report(()))


def explain(code: str | None = None) -> str:
    """Return the page on one code, in Markdown; without a code, a line for each code.

    Raises `WrongCallError` for an unknown code.
    """
    if code is None:
        width = max(map(len, CODES))
        return "".join(f"{row.code:<{width}}  {row.title}\n" for row in CODES.values())
    if code not in CODES:
        near = nearest(code, CODES)
        raise WrongCallError(
            f"there is no code {code}" + (f", did you mean {near}?" if near else ""),
            code="wrong-call",
            remedy="copy the code from a report; pinproof explain lists all of them",
        )
    return shipped.read("codes", f"{code}.md").decode()


def _told(kind: str, name: str, catalog: Catalog, pages: _Pages) -> Answer:
    entry = catalog.entry(kind, name)
    return refusal(name, entry) if isinstance(entry, Refused) else pages[kind](entry)
