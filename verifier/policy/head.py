"""The table `[head]` of a policy: what a proposed merge has to be (FORMATS §3)."""

from typing import Final

from verifier.core.demand import (
    FORGE_FOLDER,
    NEVER_DOCUMENTATION,
    Approval,
    HeadComposition,
    HeadDemand,
    HeadHost,
)
from verifier.core.printable import quoted
from verifier.core.table import Table

_NAME: Final = "[a-z0-9][a-z0-9._-]*"
_FORM: Final = "a-z, 0-9, dots and dashes"
_URI: Final = r"[A-Za-z][A-Za-z0-9+.-]*:\S+"


def read(table: Table, *, facets: frozenset[str]) -> HeadDemand:
    """Read it; mistakes are noted in `table`, which the caller closes."""
    if facets and "objects" not in facets:
        table.mistake("demand", "lacks objects: without it nothing says what was read of the head")
    return HeadDemand(
        facets=facets,
        documentation=_documentation(table),
        hosts=tuple(map(_host, table.tables("hosts"))),
        compositions=tuple(map(_composition, table.tables("compositions"))),
        registry=_folder(table, "registry"),
        receipts=_folder(table, "receipts"),
        receipt_signers=table.texts("receipt_signers", default=()),
        approvals=tuple(map(_approval, table.tables("approvals"))),
        hold_labels=table.texts("hold_labels", default=()),
    )


def _documentation(table: Table) -> tuple[str, ...]:
    paths = table.texts("documentation", default=())
    for path in paths:
        wrong = _unfit(path.removesuffix("/"))
        if wrong:
            table.mistake("documentation", f"{quoted(path)} {wrong}")
        parts = path.removesuffix("/").lower().split("/")
        if parts[0] == FORGE_FOLDER or parts[-1] in NEVER_DOCUMENTATION:
            table.mistake("documentation", f"{quoted(path)} never counts as documentation")
    return paths


def _unfit(path: str) -> str | None:
    parts = path.split("/")
    if not path or path.startswith("/"):
        return "is no path inside a repository"
    if any(part in ("", ".", "..") for part in parts):
        return "has an empty or dotted segment"
    return None


def _path(table: Table, key: str) -> str:
    path = table.text(key)
    wrong = _unfit(path) if path else None
    if wrong:
        table.mistake(key, f"{quoted(path)} {wrong}")
    return path


def _host(table: Table) -> HeadHost:
    host = HeadHost(
        path=_path(table, "path"), lineage=table.text("lineage", pattern=_NAME, form=_FORM)
    )
    table.close()
    return host


def _composition(table: Table) -> HeadComposition:
    prefix = table.string("prefix") if table.has("prefix") else ""
    wrong = _unfit(prefix.removesuffix("/")) if prefix else None
    if wrong:
        table.mistake("prefix", f"{quoted(prefix)} {wrong}")
    found = HeadComposition(name=table.text("name", pattern=_NAME, form=_FORM), prefix=prefix)
    table.close()
    return found


def _folder(table: Table, key: str) -> str | None:
    if not table.has(key):
        return None
    path = table.text(key)
    wrong = _unfit(path.removesuffix("/"))
    if wrong or not path.endswith("/"):
        table.mistake(key, f"{quoted(path)} {wrong or 'is no folder: it has to end in /'}")
    return path


def _approval(table: Table) -> Approval:
    found = Approval(
        name=table.text("name", pattern=_NAME, form=_FORM),
        predicate=table.text("predicate", pattern=_URI, form="a predicate type, which is a URI"),
        says=table.texts("says", default=()),
        signers=table.texts("signers"),
        threshold=table.integer("threshold", default=1, least=1),
    )
    if table.has("signers") and not found.signers:
        table.mistake("signers", "is empty: an approval without a signer is nobody's")
    if found.threshold > len(set(found.signers)) > 0:
        table.mistake("threshold", f"is more than the {len(set(found.signers))} signers")
    table.close()
    return found
