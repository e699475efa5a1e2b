"""The example's overlays as registry values: each a lineage with sentinels and one call site."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any, Final

from support import hosts
from support.composed import Everything, Files, changes, entries, tree
from verifier.catalog.entries.composition import (
    Agreement,
    Composition,
    Origin,
    Scope,
    Stage,
    StageKind,
)
from verifier.catalog.entries.helper import Lineage, Version
from verifier.catalog.entries.helper_format import parse
from verifier.checks.composition.components import Read
from verifier.checks.composition.lineage import Ancestry
from verifier.checks.composition.proof import Material
from verifier.checks.composition.region_stage import Helpers
from verifier.core.digest import Pin
from verifier.core.strict import write_toml

_FILE: Final = hosts.EXAMPLE / "overlays.py"
HOST: Final = "queue/host.py"


@cache
def module() -> Any:
    spec = importlib.util.spec_from_file_location("overlays", Path(_FILE))
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def pin(data: bytes) -> dict[str, object]:
    found = Pin.of(data)
    return {"sha256": found.sha256, "length": found.length}


def installed(names: tuple[str, ...]) -> bytes:
    """Return the host with these overlays in it, one after the other."""
    data = hosts.host("clean")
    for name in names:
        data = module().install(data, name)
    return data


@cache
def lineage(name: str) -> Lineage:
    """Return the lineage of one overlay."""
    return parse(source(name), name)


def source(name: str) -> bytes:
    """Return the registry's entry for one overlay."""
    (overlay,) = (one for one in module().OVERLAYS if one.name == name)
    region = f"{overlay.begin}{overlay.region}{overlay.end}".encode()
    old, line = overlay.site.encode(), overlay.line.encode()
    marker = f"# [example-{name}:v1]"
    word = overlay.region.partition(":")[0]
    entry = {
        "schema": "helper/v1",
        "name": f"example-{name}",
        "project": "tests",
        "language": "python",
        "host": HOST,
        "marker_prefix": f"# [example-{name}",
        "current": "v1",
        "owned_names": [word],
        "end_anchor": [],
        "base": [{"name": "clean", **pin(hosts.host("clean"))}],
        "version": [
            {
                "id": "v1",
                "status": "supported",
                "marker": marker,
                "span": "raw/v1",
                "sentinels": {"begin": overlay.begin, "end": overlay.end},
                **pin(region),
                "marker_offsets": [0, region.index(overlay.end.encode())],
                "binds": [word],
                "required_imports": [],
                "sites": "v1",
                "reads": {"module": [], "builtins": []},
            }
        ],
        "sites": {
            "v1": [
                {
                    "name": "site",
                    "new": pin(old + line),
                    "old": pin(old),
                    "inserted": [{"offset": len(old), **pin(line)}],
                    "marker_offsets": [len(old) + line.index(marker.encode())],
                }
            ]
        },
    }
    return write_toml(entry)


def as_entry(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the overlays, independent, as an entry; its base is the commit `@base`."""
    stages = []
    before = installed(())
    for number, name in enumerate(names, 1):
        after = installed(names[:number])
        row = {"path": HOST, "operation": "replace", "pre": pin(before), "post": pin(after)}
        stages.append(
            {
                "name": name,
                "kind": "regions",
                "regions": f"example-{name}/v1",
                "independent": "bytes",
                "files": [{**row, "mode": "100644"}],
            }
        )
        before = after
    return {
        "schema": "composition/v1",
        "name": "overlays",
        "project": "tests",
        "base": {"commit": "0" * 40},
        "scope": {"include": ["./"], "complete": True},
        "stage": stages,
    }


def named(text: str) -> tuple[Lineage, Version] | None:
    name, _, version = text.partition("/")
    found = lineage(name.removeprefix("example-"))
    known = found.version(version)
    return None if known is None else (found, known)


def composition(
    names: tuple[str, ...], agreement: Agreement = Agreement.BYTES
) -> tuple[Composition, Material]:
    """Return the overlays, independent, on the host, and everything that a proof reads."""
    base: Files = {HOST: hosts.host("clean")}
    before, stages, held = base, [], [base]
    for name in names:
        after = {HOST: module().install(before[HOST], name)}
        stages.append(
            Stage(
                name=name,
                kind=StageKind.REGIONS,
                files=changes(before, after),
                regions=f"example-{name}/v1",
                independent=agreement,
                tree=tree(after),
            )
        )
        held.append(after)
        before = after
    entry = Composition(
        name="overlays",
        project="tests",
        source=None,
        base=Origin(repository=None, commit="1" * 40, tree=tree(base)),
        target=None,
        scope=Scope(include=("./",), exclude=(), complete=True),
        manifest=None,
        stages=tuple(stages),
        components=(),
        retained=(),
        files_table=None,
    )
    material = Material(
        base=Read(entries=entries(base), read=lambda _: None),
        target=None,
        ancestry=Ancestry(known=False),
        patches={},
        contents=Everything(*held),
        helpers=Helpers(lineages=named),
    )
    return entry, material
