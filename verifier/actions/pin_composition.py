"""Pinning a composition: its entry is made from clones and patches, proved, and only then written.

Nothing is signed, and no registry is touched: the entry is a proposal, which people review and
whose project signs it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from verifier.actions import output
from verifier.ask.clones import BASE, TARGET, Clones
from verifier.ask.reading import Reach
from verifier.catalog.entries.composition import Scope
from verifier.catalog.entries.composition_format import parse, with_table
from verifier.checks.composition.lineage import Ancestry
from verifier.checks.composition.proof import Material, demanded, prove
from verifier.checks.composition.written import Origins, Step, write_down
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Pin
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Outcome, Report, Result, Subject
from verifier.core.strict import write_toml
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources import file
from verifier.sources.git.history import History


@frozen
class Pinned:
    """What was pinned: the report of its proof, and the files that were written, if any."""

    report: Report
    written: tuple[str, ...]


def pin_composition(
    name: str,
    *,
    project: str,
    clones: Mapping[str, str],
    base: str | None,
    target: str | None,
    patches: Sequence[str],
    include: Sequence[str],
    exclude: Sequence[str],
    to: str,
    repository: str | None,
    now: datetime,
    reach: Reach | None = None,
) -> Pinned:
    """Write the entry `to` a file; nothing is written unless all of it is proved.

    `base` and `target` are full commit ids; without them `clones` names plain folders, which hold
    the tree before and the tree after, and the entry pins their git trees. `patches` are files
    in their order, each a stage with the file's name. `include` and `exclude` are the path scope.
    Of more files than an entry lists a table `<name>.files.json` is written beside it.

    Raises `WrongCallError` for what no entry can hold, `UnavailableError` for what cannot be read,
    and for a file that is there already: neither is ever written over.
    """
    scope = Scope(include=tuple(include) or ("./",), exclude=tuple(exclude), complete=True)
    beside = str(Path(to).parent / f"{name}.files.json")
    output.refuse_existing(to, beside)
    if Path(to).name == Path(beside).name:
        raise WrongCallError(
            f"{to}: is where the table of files would be written",
            code="wrong-call",
            remedy=f"name the entry's own file: --to {name}.toml",
        )
    steps = [_step(path) for path in patches]
    if BASE not in clones or clones.keys() - {BASE, TARGET}:
        raise WrongCallError(
            "expected --clone base=PATH, and --clone target=PATH if it is another one",
            code="wrong-call",
            remedy="name the clones that hold the commits",
        )
    with Clones(clones, reach or Reach()) as read:
        side = TARGET if TARGET in clones else BASE
        has_target = target is not None or TARGET in clones
        here = read.origin(BASE, base)
        there = read.origin(side, target) if has_target else None
        if here is None or (has_target and there is None):
            return _refused(name, read.findings or (_no_tree(base or target),), now)
        ancestry = Ancestry(known=False, why="there is no target")
        if base is not None and target is not None:
            history = History(read.repository(side, target))
            ancestry = Ancestry.of(history.is_ancestor(base, target))
        made = write_down(
            name,
            project,
            origins=Origins(base, target, repository),
            scope=scope,
            base=here,
            target=there,
            patches=steps,
            contents=read,
        )
        if isinstance(made, tuple):
            return _refused(name, made, now)
        table = None
        if made.table is not None:
            table = json.dumps(made.table, ensure_ascii=False, indent=0).encode() + b"\n"
            pin = Pin.of(table)
            made.entry["files_table"] = {
                "path": f"{name}.files.json",
                "sha256": pin.sha256,
                "length": pin.length,
            }
        data = write_toml(made.entry)
        entry = parse(data, to)
        if table is not None:
            entry = with_table(entry, table, f"{name}.files.json")
        material = Material(
            base=here,
            target=there,
            ancestry=ancestry,
            patches={step.name: step.data for step in steps},
            contents=read,
        )
        outcome = prove(entry, material).outcome
    result = judge(
        outcome, subject=Subject(name=name), demanded=demanded(entry, frozenset()), now=now
    )
    report = _report(result, now)
    if result.verdict is not Verdict.VERIFIED:
        return Pinned(report=report, written=())
    written = [to]
    if table is not None:
        output.write(beside, table, inputs=patches)
        written.append(beside)
    output.write(to, data, inputs=patches)
    return Pinned(report=report, written=tuple(written))


def _step(path: str) -> Step:
    stem = Path(path).name.removesuffix(".patch").removesuffix(".diff").lower()
    name = re.sub("[^a-z0-9._-]+", "-", stem).strip("-._") or "patch"
    return Step(name=name, data=file.read(path, limit=HOST_BYTES).data, path=None)


def _no_tree(commit: str | None) -> Finding:
    return Finding(
        code="lineage-unread",
        expected="commits in clones, or plain folders without --base and --target",
        got="a repository, and no commit of it is named" if commit is None else "it was not read",
        remedy="name the commit of each repository: --base COMMIT, --target COMMIT",
    )


def _refused(name: str, findings: tuple[Finding, ...], now: datetime) -> Pinned:
    outcome = Outcome(
        kind="proof",
        identified=(),
        findings=findings,
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_CHECKED) for facet in FACETS["composition"]
        ),
    )
    asked = frozenset({"lineage", "patches", "stages"})
    result = judge(outcome, subject=Subject(name=name), demanded=asked, now=now)
    return Pinned(report=_report(result, now), written=())


def _report(result: Result, now: datetime) -> Report:
    return Report.alone(result, print_time(now))
