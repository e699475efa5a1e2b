"""What it would take to bring a host to another version, or why that is refused (CHECKS migrate).

1. The file is a plain one that can be replaced: no link, no mount point, one name.
2. It is judged as it is, by the policy: a supported version, one that the policy names, or a
   registered base. What `verify helper` refuses is refused here, for the same reasons.
3. The payload is searched for the texts of the target, each proved by its pin.
4. The version is taken out; what remains is the host that an install would start from.
5. The target is put in, at the place of the old helper, or for a first install before its anchor.
6. The result is judged by the same check, must be the target, and must compile; what is neither
   helper nor site is byte for byte what it was, but for the import line.

Nothing is written: `verifier.actions.migrate` does that with a plan.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from verifier.ask import migration_words as words
from verifier.ask.answers import unregistered
from verifier.ask.helper import demanded, lineages, outcomes, subject, verdict
from verifier.ask.migration_words import BASE
from verifier.ask.payloads import texts
from verifier.ask.reading import Reach
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.helper import Base, Lineage, Status, Version
from verifier.catalog.open import Refused
from verifier.checks import python_source
from verifier.checks.helper import check
from verifier.checks.helper.companions import loaded
from verifier.checks.helper.install import (
    Bare,
    Moved,
    as_base,
    compared,
    installed_in,
    put_in,
    taken_out,
)
from verifier.checks.helper.payload import Search
from verifier.checks.helper.regions import Installed
from verifier.core.companions import Companions
from verifier.core.demand import HelperDemand, Pristine
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.migration import Plan, Planned
from verifier.core.outcome import Failed, Outcome, Result
from verifier.core.table import nearest
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.sources import argument, beside, standing
from verifier.sources.file import STDIN, FileBytes


@frozen
class Request:
    """What is asked of every file of one call; `to` is a version, or `base:NAME`."""

    to: str
    payload: tuple[str, ...] = ()
    lineage: str | None = None
    break_hard_link: bool = False
    drop_attributes: bool = False
    max_size: int = HOST_BYTES
    reach: Reach = Reach()


@frozen
class _Made:
    """The bytes that would be written, and what stood in the host before."""

    data: bytes
    installed: Installed | None = None


def plan_migration(
    files: Sequence[str], request: Request, *, trust: Trust | None = None
) -> Planned:
    """Plan the migration of host files; nothing is written.

    `files` are plain paths. Every file gets a result, and a plan if the result is verified: what
    stands in it may be migrated, and what would then stand in it is `request.to`.

    Raises `WrongCallError` if `files` is empty or names one twice, if the target is not
    registered or was never published, or if the policy demands nothing of helpers.
    """
    trust = trust or open_trust()
    demand = demanded(trust, None)
    _refuse_call(files, request, trust)
    results: list[Result | Failed] = []
    plans: list[Plan | None] = []
    for name in files:
        try:
            result, plan = _planned(name, request, trust, demand)
        except WrongCallError:
            raise
        except PinproofError as error:
            results.append(Failed.of(name, error))
            plans.append(None)
            continue
        results.append(result)
        plans.append(plan)
    return Planned(report=trust.report(tuple(results)), plans=tuple(plans))


def resolved(name: str) -> str:
    """Return the path that a journal names a file by: no link is left in it but the file itself.

    Raises `UnavailableError` for a path that is not UTF-8.
    """
    place = Path(name)
    path = str(place.parent.resolve() / place.name)
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UnavailableError(
            f"{name}: its path is not UTF-8, and a journal could not name it",
            code="cannot-read",
            remedy="move it to a folder whose name is UTF-8, and back afterwards",
        ) from None
    return path


def named_twice(name: str) -> WrongCallError:
    """Return the error for a file that one call names twice."""
    return WrongCallError(
        f"{name}: named twice", code="wrong-call", remedy="name each file of a set once"
    )


def compiled_from(found: FileBytes, *, shown: str) -> tuple[str, ...]:
    """Return the compiled files beside a host that Python would go on loading in its place.

    Raises `UnavailableError` if they lie behind a link, where nothing is removed.
    """
    there = beside.companions(found)
    for compiled in there.bytecode if there else ():
        if compiled.data is None:
            raise UnavailableError(
                f"{shown}: {compiled.path} beside it cannot be read, and Python may load from it",
                code="cannot-read",
                remedy="make it readable for this user, or remove it: Python writes it again",
            )
    names = loaded(there, found.data, found.name) if there else ()
    if names and (Path(found.name).parent / "__pycache__").is_symlink():
        raise UnavailableError(
            f"{shown}: expected a folder __pycache__ beside it, got a link",
            code="migrate-link",
            remedy="remove the link, or what it leads to: Python writes compiled files again",
        )
    return names


def identified(data: bytes, lineage: str, trust: Trust) -> str | None:
    """Name the version, or `base:NAME`, that bytes are or carry; None if that was revoked.

    For undoing and recovering: regions must be those that were published, or the whole a base; the
    policy that once accepted the host need not be the present one.
    """
    entry = None if isinstance(trust.catalog, Refused) else trust.catalog.helper(lineage)
    if not isinstance(entry, Lineage):
        return None
    installed = installed_in(data, entry)
    if installed is not None:
        version = installed.helper.version
        return None if version.status is Status.REVOKED else version.id
    bare = Bare(data=data, contexts={})
    bases = (base for base in entry.bases if not isinstance(as_base(bare, entry, base), Finding))
    return next((f"{BASE}{base.name}" for base in bases), None)


# ── one file ───────────────────────────────────────────────────────────────────────────────────


def _planned(
    name: str, request: Request, trust: Trust, demand: HelperDemand
) -> tuple[Result, Plan | None]:
    with standing.folder_of(name) as (folder, base_name):  # 1
        target = standing.look(name, folder, base_name, limit=request.max_size)
        standing.refuse_obstacles(
            target,
            break_hard_link=request.break_hard_link,
            drop_attributes=request.drop_attributes,
        )
    found = FileBytes(name=name, data=target.data, mtime=target.standing.modified // 10**9)
    bytecode = compiled_from(found, shown=name)
    source = replace(demand, current_only=False, pristine=Pristine.VERIFIED)
    names = _names(found, request, trust)
    judged = {}
    asked: list[str | None] = [*names] or [request.lineage]
    for name_of in asked:  # 2
        outcome = outcomes(found, trust.catalog, source, lineage=name_of)[0]
        judged[name_of] = outcome, verdict(outcome, subject(found), trust, source)
    # Whatever rejects the file counts, also a lineage that is not the one to be migrated.
    gravest = sorted(judged.values(), key=lambda both: both[1].verdict is not Verdict.REJECTED)
    lineage = None
    if names and gravest[0][1].verdict is not Verdict.REJECTED:
        lineage = _lineage(found, names, request, trust)
    outcome, result = judged[lineage.name] if lineage else gravest[0]
    if result.verdict is not Verdict.VERIFIED or lineage is None:
        return result, None
    made = _made(found, lineage, request, outcome)
    if isinstance(made, Finding):
        return _refused(outcome, made, found, trust, source), None
    if made.data == found.data:
        after, changes = result, "nothing"
    else:
        compiled = python_source.compiling(made.data)
        wanted = replace(source, expect=_version_id(request, lineage))
        after = _judged(found, made.data, lineage, trust, wanted)
        moved = compared(found.data, made.installed, made.data, lineage)
        finding = _unsound(after, moved, compiled=compiled())
        if moved is None or finding is not None:
            return _refused(outcome, finding, found, trust, source), None
        changes = words.changes(moved)
    plan = Plan(
        name=name,
        lineage=lineage.name,
        source=words.standing_as(result, lineage),
        target=_version_id(request, lineage) or request.to,
        before=found.data,
        after=made.data,
        now=words.of(result),
        then=words.of_target(after),
        changes=changes,
        bytecode=() if made.data == found.data else bytecode,
    )
    return result, plan


def _refused(
    outcome: Outcome, finding: Finding | None, found: FileBytes, trust: Trust, demand: HelperDemand
) -> Result:
    findings = (*outcome.findings, *([finding] if finding else []))
    return verdict(replace(outcome, findings=findings), subject(found), trust, demand)


def _names(found: FileBytes, request: Request, trust: Trust) -> list[str]:
    """Name the lineages that a file is judged by; none where that cannot be told."""
    if isinstance(trust.catalog, Refused):
        return []
    names = [request.lineage] if request.lineage else lineages(found.data, trust.catalog)
    return [] if isinstance(names, Refused) else names


def _lineage(
    found: FileBytes, names: Sequence[str], request: Request, trust: Trust
) -> Lineage | None:
    """Return the one lineage that is meant; None leaves it to the check to say what is wrong."""
    if isinstance(trust.catalog, Refused):
        return None
    entries = [entry for name in names if isinstance(entry := trust.catalog.helper(name), Lineage)]
    able = [entry for entry in entries if _target(request.to, entry) is not None]
    if len(able) > 1:
        raise WrongCallError(
            f"{found.name}: {' and '.join(e.name for e in able)} have {request.to}",
            code="wrong-call",
            remedy="name the one to migrate with --lineage",
        )
    if entries and not able:
        raise _no_such_target(request.to, entries[0])
    return able[0] if able else None


def _made(
    found: FileBytes, lineage: Lineage, request: Request, outcome: Outcome
) -> _Made | Finding:
    """Make the bytes that would be written (steps 3 to 5), or say what they cannot be made of."""
    target = _target(request.to, lineage)
    if any(isinstance(target, Version) and i.version == target.id for i in outcome.identified):
        return _Made(data=found.data)
    installed = installed_in(found.data, lineage)
    bare = taken_out(found.data, installed) if installed else Bare(data=found.data, contexts={})
    if isinstance(target, Base):
        made = as_base(bare, lineage, target)
    elif target is None or target.body is None:
        raise _no_such_target(request.to, lineage)
    else:
        search = Search(lineage, target, target.body)
        finding = _searched(search, found.data, request)
        made = finding or put_in(bare, lineage, target.body, search.pieces())
    return made if isinstance(made, Finding) else _Made(data=made, installed=installed)


def _searched(search: Search, host: bytes, request: Request) -> Finding | None:
    """Search the host, then the payload until all is found; say what is missing at its end."""
    search.look(host)
    looked_at = []
    for text in () if search.complete else texts(request.payload, reach=request.reach):
        search.look_at_file(text.data, python=text.python)
        looked_at.append(text.data)
        if search.complete:
            break
    if search.complete:
        return None
    files = "1 file" if len(looked_at) == 1 else f"{len(looked_at):,} files"
    where = f"{files} of the payload" if request.payload else "the host: no payload was given"
    return search.missing(looked_at, looked_at=where)


def _judged(
    found: FileBytes, made: bytes, lineage: Lineage, trust: Trust, demand: HelperDemand
) -> Result:
    """Step 6: judge what would be written, with the compiled files that would then be left."""
    there = beside.companions(found)
    gone = set(loaded(there, found.data, found.name)) if there else set()
    left = there and Companions(
        entries=there.entries,
        bytecode=tuple(pyc for pyc in there.bytecode if pyc.path not in gone),
        mtime=-1,  # none of them is as old as a file that is yet to be written
        size=len(made),
    )
    outcome = check(made, lineage, demand=demand, filename=found.name, companions=left)
    return verdict(outcome, subject(FileBytes(name=found.name, data=made)), trust, demand)


def _unsound(result: Result, moved: Moved | None, *, compiled: bool) -> Finding | None:
    problem = None
    if result.verdict is not Verdict.VERIFIED:
        codes = ", ".join(dict.fromkeys(f.code for f in result.findings)) or "nothing that holds"
        problem = f"{result.verdict}: {codes}"
    elif not compiled:
        problem = "a file that Python does not compile"
    elif moved is None:
        problem = "other bytes than the helper's, its sites' and its import line's"
    if problem is None:
        return None
    return Finding(
        code="migrate-unsound",
        expected="a result that the same policy verifies as the version asked for",
        got=problem,
        cause="the policy does not accept the target, or this host is not what it was made for",
        remedy="judge with a policy that accepts the target (pinproof show prints its status), "
        "or install it on the host that the entry's base pins",
    )


# ── the target ─────────────────────────────────────────────────────────────────────────────────


def _target(to: str, lineage: Lineage) -> Version | Base | None:
    if to.startswith(BASE):
        return next((base for base in lineage.bases if base.name == to.removeprefix(BASE)), None)
    version = lineage.version(to)
    return version if version is not None and version.body is not None else None


def _version_id(request: Request, lineage: Lineage) -> str | None:
    target = _target(request.to, lineage)
    return target.id if isinstance(target, Version) else None


def _refuse_call(files: Sequence[str], request: Request, trust: Trust) -> None:
    if not files:
        raise WrongCallError(
            "no file to migrate", code="wrong-call", remedy="name at least one host file"
        )
    paths: set[str] = set()
    for name in files:
        if argument.is_prefixed(name) or name in (STDIN, ""):
            raise WrongCallError(
                f"{name or 'an empty argument'}: expected the path of a file to write",
                code="wrong-call",
                remedy="name the installed file itself; commits and archives are never changed",
            )
        if (path := resolved(name)) in paths:
            raise named_twice(name)
        paths.add(path)
    if isinstance(trust.catalog, Refused):
        return
    names = trust.catalog.names("helper")
    if request.lineage is not None and request.lineage not in names:
        raise unregistered(request.lineage, names, option="--lineage")


def _no_such_target(to: str, lineage: Lineage) -> WrongCallError:
    """Return the error for a target that cannot be installed, with those that can."""
    targets = [v.id for v, _ in lineage.published if v.status is not Status.REVOKED]
    targets += [f"{BASE}{base.name}" for base in lineage.bases]
    named = lineage.version(to)
    if named is not None:
        message = f"--to: {named.id} was never published: {named.reason}"
    else:
        near = nearest(to, targets)
        what = "base" if to.startswith(BASE) else "version"
        hint = f", did you mean {near}?" if near else ""
        message = f"--to: {lineage.name} has no {what} {to.removeprefix(BASE)}{hint}"
    return WrongCallError(message, code="wrong-call", remedy=f"name one of {', '.join(targets)}")
