"""Whether the entries of a registry are what was published (`audit registry`).

1. Each producer of an entry is looked at in the clone that was given for its repository.
2. An entry whose recipe is given is derived again, and compared field by field.
3. Pins that stand in several entries agree.
4. Every digest that a document quotes is pinned by the registry, or named in it.
"""

import glob
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from verifier.ask.answers import unregistered
from verifier.ask.pinning import read_material
from verifier.ask.producers import Producers
from verifier.ask.reading import Reach
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.composition import Composition
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.release import ReleaseEntry
from verifier.catalog.kinds import KINDS
from verifier.catalog.open import Catalog, Refused
from verifier.checks.audit import agreement, fields, producers
from verifier.checks.helper.pinning.derive import derive
from verifier.checks.helper.pinning.recipe import Recipe
from verifier.checks.helper.pinning.values import Derived
from verifier.checks.helper.why import nearest_digest
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Outcome, ProducerFacts, Report, Result, Subject
from verifier.core.strict import read_toml
from verifier.core.value import frozen
from verifier.policy import judge
from verifier.sources import file

#: What is said of one entry, and what of all of them together.
_OF_ENTRY: Final = FACETS["audit"]
_OF_ALL: Final = FACETS["agreement"]
_FACETS: Final = (*_OF_ENTRY, *_OF_ALL)
_NOT_PROVEN: Final = (
    "that the clones are those of the named repositories; only that their objects hash",
    "that what was published is what users run",
)


@frozen
class Audit:
    """What to audit, and what with.

    `clones` are folders by repository. `recipes` derive entries again. `documents` are glob
    patterns. `require` are the facets that decide; without it those for which something was given.
    `only` restricts the question to entries of these names.
    """

    clones: Mapping[str, str]
    recipes: tuple[Recipe, ...] = ()
    documents: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    reach: Reach = Reach()


def audit_registry(request: Audit, *, trust: Trust | None = None) -> Report:
    """Audit a registry: one result for each entry that names producers, one for all together.

    Raises `WrongCallError` for an unknown facet, entry or recipe, `UnavailableError` for documents
    or clones that cannot be read.
    """
    trust = trust or open_trust()
    _refuse_call(request)
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        outcome = _outcome("audit", catalog.findings, {})
        demanded = _demanded(request, recipe=False)
        return trust.report((_judged(outcome, "registry", demanded, trust),))
    with Producers(request.clones, request.reach) as read:
        results = [
            result
            for kind, name in _asked(catalog, request)
            for result in _of_entry(catalog, kind, name, request, read, trust)
        ]
        unproven = read.not_proven
    together = _demanded(request, recipe=bool(request.recipes)) & {*_OF_ALL}
    if together:
        results.append(_of_all(catalog, request, together, trust))
    if not results:
        raise WrongCallError(
            "no entry of this registry names a producer",
            code="wrong-call",
            remedy="pin them from their commits (pinproof pin helper), or demand something else: "
            "--require agreement",
        )
    return trust.report(tuple(results), unproven)


def _refuse_call(request: Audit) -> None:
    strange = [facet for facet in request.require if facet not in _FACETS]
    if strange:
        raise WrongCallError(
            f"--require: there is no facet {strange[0]}",
            code="wrong-call",
            remedy=f"name one of {', '.join(_FACETS)}",
        )
    if "documents" in request.require and not request.documents:
        raise WrongCallError(
            "--require documents: no document was named",
            code="wrong-call",
            remedy="name them: --docs GLOB",
        )


def _demanded(request: Audit, *, recipe: bool) -> frozenset[str]:
    if request.require:
        return frozenset(request.require)
    found = {"producers", "agreement"}
    found |= {"documents"} if request.documents else set()
    return frozenset(found | ({"fields"} if recipe else set()))


def _asked(catalog: Catalog, request: Audit) -> list[tuple[str, str]]:
    """Return kind and name of every entry that is meant."""
    known = [(kind, name) for kind in KINDS for name in catalog.names(kind)]
    wanted = (*request.only, *(recipe.name for recipe in request.recipes))
    for name in wanted:
        if name not in [each for _, each in known]:
            raise unregistered(name, [each for _, each in known], option="--only or RECIPE")
    return [pair for pair in known if not request.only or pair[1] in request.only]


# ── one entry ──────────────────────────────────────────────────────────────────────────────────


def _of_entry(  # noqa: PLR0917  (an entry, and what it is looked at with)
    catalog: Catalog, kind: str, name: str, request: Audit, read: Producers, trust: Trust
) -> tuple[Result, ...]:
    recipe = next((r for r in request.recipes if kind == "helper" and r.name == name), None)
    demanded = _demanded(request, recipe=recipe is not None) & {*_OF_ENTRY}
    entry = catalog.entry(kind, name)
    if isinstance(entry, Refused):
        outcome = _outcome("audit", entry.findings, {})
        return (_judged(outcome, name, demanded or frozenset(_OF_ENTRY), trust),)
    facts, open_rows = _facts(entry, read)
    if (not facts and not open_rows) or not demanded:
        return ()
    found = [*producers.findings(name, facts), *open_rows]
    details = {"producers": _tallied(facts)}
    if recipe is not None:
        wrong = _fields(catalog, entry, recipe, read)
        found += wrong
        details |= {} if wrong else {"fields": "every field is what the recipe derives"}
    outcome = _outcome("audit", tuple(found), details, facts)
    return (_judged(outcome, name, demanded, trust),)


def _facts(entry: Any, read: Producers) -> tuple[tuple[ProducerFacts, ...], tuple[Finding, ...]]:
    """Look at all producers of an entry; also return what names none."""
    if isinstance(entry, Lineage):
        none = [version for version, body in entry.published if not body.producers]
        return (
            producers.audited(entry, read.read),
            tuple(producers.no_producer(entry.name, version) for version in none),
        )
    if isinstance(entry, Composition):
        origins = [("base", entry.base), *([("target", entry.target)] if entry.target else [])]
        rows = [(row, o.repository, o.commit, o.tree) for row, o in origins]
        rows += [(c.name, c.repository, c.commit, c.tree) for c in entry.components]
        return tuple(_commit(*row, read) for row in rows if row[2]), ()
    if isinstance(entry, ReleaseEntry):
        return (_commit(entry.version, entry.project, entry.source_commit, None, read),), ()
    return (), ()


def _commit(
    row: str, repository: str | None, commit: str | None, tree: str | None, read: Producers
) -> ProducerFacts:
    """Look whether a repository holds a commit, with the tree that an entry says it has."""
    state, detail = producers.UNVERIFIABLE, "the entry does not say in which repository"
    if repository and commit:
        state, detail = _of_commit(read, repository, commit, tree)
    return ProducerFacts(
        row=row,
        repository=repository or "",
        commit=commit or "",
        path="",
        symbol="",
        state=state,
        detail=detail,
    )


def _of_commit(read: Producers, repository: str, commit: str, tree: str | None) -> tuple[str, str]:
    found = read.commit(repository, commit)
    if isinstance(found, Finding):
        says_no = found.row.outcome == "rejected"
        state = producers.CONTRADICTED if says_no else producers.UNVERIFIABLE
        return state, f"{found.row.title}: {found.got or found.expected}"
    if tree is not None and found.tree != tree:
        return producers.CONTRADICTED, f"the commit has the tree {found.tree}"
    return producers.CONFIRMED, f"the commit is there{', with its tree' if tree else ''}"


def _fields(catalog: Catalog, entry: Any, recipe: Recipe, read: Producers) -> list[Finding]:
    """Derive an entry again and name every field that is otherwise."""
    try:
        material = read_material(recipe, read)
    except UnavailableError as error:
        return [_unread(entry.name, error)]
    found = derive(recipe, material, known={})
    if not isinstance(found, Derived):
        return [_not_derived(entry.name, problem) for problem in found]
    lines = catalog.lines(entry.name)
    signed = None if isinstance(lines, Refused) else lines
    return list(fields.compared(found, entry, signed))


def _unread(entry: str, error: UnavailableError) -> Finding:
    return Finding(
        code="audit-not-derived",
        expected=f"{entry} derived from its recipe",
        got=error.message,
        remedy=error.remedy,
    )


def _not_derived(entry: str, problem: Finding) -> Finding:
    return Finding(
        code="audit-not-derived",
        where=problem.where,
        expected=f"{entry} derived from its recipe"
        + (f": {problem.expected}" if problem.expected else ""),
        got=f"{problem.code}: {problem.got or problem.row.title}",
        cause=problem.cause,
        remedy=problem.remedy,
    )


def _tallied(facts: Sequence[ProducerFacts]) -> str:
    states = [fact.state for fact in facts]
    order = (producers.CONFIRMED, producers.CONTRADICTED, producers.UNVERIFIABLE)
    return ", ".join(f"{states.count(s)} {s}" for s in order if s in states)


# ── all of them ────────────────────────────────────────────────────────────────────────────────


def _of_all(catalog: Catalog, request: Audit, demanded: frozenset[str], trust: Trust) -> Result:
    entries, refused = _documents_of(catalog)
    found: list[Finding] = [*refused, *agreement.disagreements(entries)]
    pins, repeated = agreement.counted(entries)
    details = {"agreement": f"{pins:,} pins, {repeated:,} of them in several places"}
    if "documents" in demanded:
        documents = list(_read_documents(request.documents))
        known = _Known(catalog)
        quoted, unknown = agreement.unknown(documents, known.holds, known.nearest)
        found += unknown
        if quoted:
            details["documents"] = f"digests quoted: {quoted:,}; documents: {len(documents):,}"
    return _judged(_outcome("agreement", tuple(found), details), "registry", demanded, trust)


def _documents_of(catalog: Catalog) -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    entries: dict[str, dict[str, Any]] = {}
    refused: list[Finding] = []
    for kind in KINDS:
        for name in catalog.names(kind):
            data = catalog.entry_bytes(kind, name)
            if isinstance(data, Refused):
                refused += data.findings
            else:
                entries[name if name not in entries else f"{kind} {name}"] = read_toml(data)
    return entries, refused


class _Known:
    """Digests that a registry pins, or that stand in one of its entries or in its own facts."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._texts = [
            data
            for kind in KINDS
            for name in catalog.names(kind)
            if isinstance(data := catalog.entry_bytes(kind, name), bytes)
        ]
        facts = catalog.facts
        self._own = {facts.root_sha256, facts.snapshot_sha256}
        self._own |= {word for signer in facts.signed_by for word in signer.split()}

    def holds(self, digest: str) -> bool:
        """Whether the registry pins a digest, or an entry or its own facts name it."""
        index = self._catalog.index
        rows = () if isinstance(index, Refused) else index.rows(digest)
        if not isinstance(rows, Refused) and rows:
            return True
        return digest in self._own or any(digest.encode() in text for text in self._texts)

    def nearest(self, digest: str) -> str | None:
        """Name the digest of an entry that a quoted one is one typed digit away from."""
        every = (m[0].decode() for text in self._texts for m in agreement.DIGEST.finditer(text))
        return nearest_digest(digest, {each: each for each in every})


def _read_documents(patterns: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    for pattern in patterns:
        names = [n for n in sorted(glob.glob(pattern, recursive=True)) if Path(n).is_file()]  # noqa: PTH207
        if not names:
            raise UnavailableError(
                f"--docs {pattern}: no file of that name",
                code="cannot-read",
                remedy="quote the pattern, so that the shell leaves it; ** is any depth",
            )
        for name in names:
            yield name, file.read(name, limit=HOST_BYTES).data


# ── judging ────────────────────────────────────────────────────────────────────────────────────


def _outcome(
    kind: str,
    findings: tuple[Finding, ...],
    details: Mapping[str, str],
    facts: tuple[ProducerFacts, ...] = (),
) -> Outcome:
    broken = {finding.row.facet for finding in findings}
    coverage = [
        Covered(
            facet=facet,
            state=State.NOT_HELD
            if facet in broken
            else (State.HELD if facet in details else State.NOT_CHECKED),
            detail=details.get(facet, ""),
        )
        for facet in FACETS[kind]
    ]
    return Outcome(
        kind=kind,
        identified=(),
        findings=findings,
        coverage=tuple(coverage),
        not_proven=_NOT_PROVEN if kind == "audit" else (),
        producers=facts,
    )


def _judged(outcome: Outcome, name: str, demanded: frozenset[str], trust: Trust) -> Result:
    return judge(
        outcome,
        subject=Subject(name=name),
        demanded=demanded,
        waivers=trust.policy.waivers,
        now=trust.now,
    )
