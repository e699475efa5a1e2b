"""A composition of the registry in words: for `list`, and for `show`."""

from verifier.ask.answers import Answer
from verifier.catalog.entries.composition import Change, Component, Composition, Origin, Stage
from verifier.catalog.entries.composition_rows import ids, pins


def listed(entry: Composition) -> Answer:
    """Return what `list` says of a composition."""
    stages = [stage.name for stage in entry.stages]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"composition {entry.name}, final stage {stages[-1]}",
        rows=(("stages", ", ".join(stages)), _scope(entry), ("project", entry.project)),
        data={
            "kind": "composition",
            "entry": entry.name,
            "stages": stages,
            "complete": entry.scope.complete,
        },
    )


def shown(entry: Composition) -> Answer:
    """Return what `show` says of a composition: where it begins, every stage, every file."""
    rows = [("project", entry.project), ("base", _origin(entry.base))]
    if entry.target:
        rows.append(("target", _origin(entry.target)))
    rows.append(_scope(entry))
    for stage in entry.stages:
        rows.append((stage.name, _stage(stage)))
        rows += [("", _change(change)) for change in stage.files or ()]
    for component in entry.components:
        rows.append((component.name, _component(component)))
        rows += [
            ("", f"{source.algorithm} of {source.root} {source.sha256}")
            for source in component.sources
        ]
    for retained in entry.retained:
        count = retained.count if retained.files is None else len(retained.files)
        known = "" if retained.files is not None else ", not named"
        rows.append((retained.name, f"{count} retained files{known}"))
        rows += [("", f"{path} {file.sha256}") for path, file in retained.files or ()]
    if entry.files_table:
        rows.append(("table", f"{len(entry.table):,} files in {entry.files_table.path}"))
    return Answer(
        known=True,
        name=entry.name,
        headline=f"composition {entry.name}, final stage {entry.stages[-1].name}",
        rows=tuple(rows),
        data={
            "kind": "composition",
            "entry": entry.name,
            "pins": [
                {"row": r.row, "kind": r.kind, "sha256": r.pin.sha256, "length": r.pin.length}
                for r in pins(entry)
            ],
            "ids": [{"row": r.row, "kind": r.kind, "id": r.id} for r in ids(entry)],
        },
    )


def _scope(entry: Composition) -> tuple[str, str]:
    scope = entry.scope
    excluded = f" without {', '.join(scope.exclude)}" if scope.exclude else ""
    whole = "every file listed" if scope.complete else "incomplete: only listed files"
    return "scope", f"{', '.join(scope.include)}{excluded} · {whole}"


def _origin(origin: Origin) -> str:
    found = [origin.repository, origin.commit and f"commit {origin.commit}"]
    found.append(origin.tree and f"tree {origin.tree}")
    return " · ".join(part for part in found if part)


def _stage(stage: Stage) -> str:
    found = [str(stage.kind)]
    if stage.patch:
        found.append(f"patch {stage.patch.pin}")
    found += [part for part in (stage.component, stage.regions) if part]
    if stage.independent:
        found.append(f"in any order, the same {stage.independent}")
    if stage.tree:
        found.append(f"leaves tree {stage.tree}")
    if stage.files is None:
        found.append("files not known")
    return " · ".join(found)


def _change(change: Change) -> str:
    sides = [str(pin) if pin else "?" for pin in (change.pre, change.post)]
    told = {"add": sides[1], "delete": sides[0], "replace": f"{sides[0]} → {sides[1]}"}
    mode = f" · mode {change.mode:o}" if change.mode is not None else ""
    return f"{change.operation} {change.path} {told[change.operation]}{mode}"


def _component(component: Component) -> str:
    found = [component.repository, component.commit and f"commit {component.commit}"]
    found.append(component.tree and f"tree {component.tree}")
    found.append(f"contract {component.contract}" if component.contract else None)
    return "component · " + " · ".join(part for part in found if part)
