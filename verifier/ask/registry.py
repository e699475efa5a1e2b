"""What the registry holds, whether it authenticates as a whole, and what a code means."""

from verifier.ask.answers import Answer, Answered, refusal, unregistered
from verifier.ask.composition_entry import listed, shown
from verifier.ask.image_entry import listed_image, listed_runtime, shown_image, shown_runtime
from verifier.ask.release_entry import listed_release, shown_release
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.helper import Lineage, Producer
from verifier.catalog.open import Catalog, Refused
from verifier.core.codes import CODES
from verifier.core.coverage import Covered, State
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.table import nearest
from verifier.policy import judge
from verifier.sources import shipped

_DEMANDED = frozenset({"registry"})
#: The kinds of entries that people name; lines belong to a lineage.
_KINDS = ("helper", "composition", "image", "runtime", "release")


def check_registry(*, trust: Trust | None = None) -> Report:
    """Read and compare every file of the registry, parse every entry, re-derive the index."""
    trust = trust or open_trust()
    catalog = trust.catalog
    findings = catalog.findings if isinstance(catalog, Refused) else catalog.check_all()
    counts = {} if isinstance(catalog, Refused) else {k: len(catalog.names(k)) for k in _KINDS}
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
        _listed(kind, name, trust.catalog) for kind in _KINDS for name in trust.catalog.names(kind)
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
        kinds = [kind for kind in _KINDS if name in catalog.names(kind)]
        if not kinds:
            known = [each for kind in _KINDS for each in catalog.names(kind)]
            raise unregistered(name, known, option="show")
        answers = [_entry(kind, name, catalog) for kind in kinds]
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


def _entry(kind: str, name: str, catalog: Catalog) -> Answer:
    if kind == "composition":
        composed = catalog.composition(name)
        return refusal(name, composed) if isinstance(composed, Refused) else shown(composed)
    if kind == "image":
        image = catalog.image(name)
        return refusal(name, image) if isinstance(image, Refused) else shown_image(image)
    if kind == "runtime":
        runtime = catalog.runtime(name)
        return refusal(name, runtime) if isinstance(runtime, Refused) else shown_runtime(runtime)
    if kind == "release":
        release = catalog.release(name)
        return refusal(name, release) if isinstance(release, Refused) else shown_release(release)
    entry = catalog.helper(name)
    return refusal(name, entry) if isinstance(entry, Refused) else _shown(entry)


def _listed(kind: str, name: str, catalog: Catalog) -> Answer:
    if kind == "composition":
        composed = catalog.composition(name)
        return refusal(name, composed) if isinstance(composed, Refused) else listed(composed)
    if kind == "image":
        image = catalog.image(name)
        return refusal(name, image) if isinstance(image, Refused) else listed_image(image)
    if kind == "runtime":
        runtime = catalog.runtime(name)
        return refusal(name, runtime) if isinstance(runtime, Refused) else listed_runtime(runtime)
    if kind == "release":
        release = catalog.release(name)
        return refusal(name, release) if isinstance(release, Refused) else listed_release(release)
    entry = catalog.helper(name)
    if isinstance(entry, Refused):
        return refusal(name, entry)
    versions = {s: [v.id for v in entry.versions if v.status == s] for s in _statuses(entry)}
    return Answer(
        known=True,
        name=name,
        headline=f"helper {name}, current {entry.current}",
        rows=(
            *((status, ", ".join(ids)) for status, ids in versions.items()),
            ("project", entry.project),
        ),
        data={"kind": "helper", "entry": name, "current": entry.current, "versions": versions},
    )


def _statuses(entry: Lineage) -> list[str]:
    return list(dict.fromkeys(str(version.status) for version in entry.versions))


def _shown(entry: Lineage) -> Answer:
    rows = [
        ("project", entry.project),
        ("host", entry.host),
        ("marker", f"{entry.marker_prefix.decode()}…]"),
        ("owns", ", ".join(entry.owned_names)),
        ("followed by", ", ".join(anchor.name for anchor in entry.end_anchors)),
    ]
    rows += [("base", f"{base.name} · {base.pin}") for base in entry.bases]
    for version in entry.versions:
        if version.body is None:
            rows.append((version.id, f"{version.status}: {version.reason}"))
            continue
        count = len(entry.sites[version.body.sites])
        reason = f" · {version.reason}" if version.reason else ""
        rows.append((version.id, f"{version.status} · {version.body.pin} · {count} sites{reason}"))
        rows += [("", _produced(producer)) for producer in version.body.producers]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"helper {entry.name}, current {entry.current}",
        rows=tuple(rows),
        data={
            "kind": "helper",
            "entry": entry.name,
            "pins": [
                {"row": r.row, "kind": r.kind, "sha256": r.pin.sha256, "length": r.pin.length}
                for r in entry.pins()
            ],
        },
    )


def _produced(producer: Producer) -> str:
    commit = producer.commit or f"{producer.commit_prefix}… (abbreviated: recorded, never matched)"
    return f"{producer.repository} {commit} {producer.path} {producer.symbol} ({producer.method})"
