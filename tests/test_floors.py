"""The rooms stand on floors: each imports only from those before it, or from itself.

Also: one adapter a dependency (law 7), and only where it is allowed.
"""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import verifier

PACKAGE: Final = Path(verifier.__file__).parent
FLOORS: Final = (
    "core",
    "sources",
    "catalog",
    "evidence",
    "checks",
    "policy",
    "ask",
    "render",
    "actions",
    "cli",
    "__main__",
)
#: Third-party package → the modules that may import it (prefixes of dotted names).
ADAPTERS: Final = {
    "click": ("cli",),
    "tuf": ("catalog.tuf",),
    "securesystemslib": ("catalog.tuf",),
    "cryptography": ("catalog.tuf", "evidence"),
    "sigstore": ("evidence.sigstore",),
    "sigstore_models": ("evidence.sigstore",),
    "rfc3161_client": ("evidence.timestamp",),
    "in_toto": ("evidence.layout",),
    "git": ("sources.explore",),
    "tomli_w": ("core.strict",),
    "isal": ("sources.archives.inflate",),
    "zstandard": ("sources.archives.inflate",),
}


@functools.cache  # asked by every one of 800 tests
def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_shipped" not in path.parts
    }


@functools.cache
def imports(path: Path) -> tuple[str, ...]:
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor(module: str) -> int:
    return FLOORS.index(module.split(".", maxsplit=1)[0])


@pytest.mark.parametrize("name", [name for name in modules() if name != "__init__"])
def test_imports_come_from_lower_floors(name: str) -> None:
    for imported in imports(modules()[name]):
        if imported == "verifier.__version__":
            continue
        if imported.startswith("verifier."):
            assert floor(imported.removeprefix("verifier.")) <= floor(name), imported


def test_no_module_needs_itself_through_others() -> None:
    """Nor late, from inside of a function: two that need each other are one, or three."""
    known = modules()
    needs = {name: set(_needed(name, known)) for name in known}
    done: set[str] = set()
    while free := {name for name in needs if name not in done and needs[name] <= done}:
        done |= free
    assert not needs.keys() - done


def _needed(name: str, known: dict[str, Path]) -> Iterator[str]:
    """Return the modules that one imports, or imports something from."""
    for imported in imports(known[name]):
        module = imported.removeprefix("verifier.")
        found = module if module in known else module.rpartition(".")[0]
        if found in known and found != name:
            yield found


@pytest.mark.parametrize("name", list(modules()))
def test_each_dependency_has_one_adapter(name: str) -> None:
    for imported in imports(modules()[name]):
        allowed = ADAPTERS.get(imported.split(".")[0])
        if allowed is not None:
            assert name.startswith(allowed), f"{name} imports {imported}"
            segments = imported.split(".")
            assert not any(s.startswith("_") for s in segments), f"private name {imported}"


def test_only_declared_dependencies_are_imported() -> None:
    import sys

    known = {*sys.stdlib_module_names, *ADAPTERS, "verifier"}
    for name, path in modules().items():
        for imported in imports(path):
            assert imported.split(".")[0] in known, f"{name} imports {imported}"


def test_the_floors_are_those_of_the_house() -> None:
    rooms = {name.split(".")[0] for name in modules()} - {"__init__"}
    assert rooms <= set(FLOORS), "a room without a floor"
    assert {"core", "catalog", "checks", "ask", "cli"} <= rooms


def test_no_module_of_the_public_api_hides_a_name_of_it() -> None:
    """Once `ask.x` is imported as a module, `ask.x` is that module and nothing else."""
    from verifier import ask

    hidden = [name for name in ask.__all__ if (PACKAGE / "ask" / f"{name}.py").exists()]
    assert not hidden
