"""Writing a receipt of what another program measured; never over another file."""

import json
from pathlib import Path
from typing import Any

from verifier.actions import output
from verifier.checks.receipt.adapters.foreign import Imported
from verifier.checks.receipt.adapters.hyperfine import hyperfine
from verifier.checks.receipt.adapters.thegrill import thegrill
from verifier.checks.receipt.document.reading import PREDICATE
from verifier.core.limits import RECEIPT_BYTES
from verifier.sources import file
from verifier.sources.evidence_folder import EvidenceFolder


def import_receipt(adapter: str, path: str, *, to: str) -> Imported:
    """Read `path` by an adapter, `thegrill` or `hyperfine`, and write a receipt to `to`.

    Raises `WrongCallError`, `MalformedError` and `UnavailableError`; nothing is written then.
    """
    output.refuse_existing(to)
    made = _folder(path) if adapter == "thegrill" else _export(path)
    output.write(to, printed(made.statement(PREDICATE)), inputs=[path])
    return made


def printed(statement: dict[str, Any]) -> bytes:
    """Print a statement for people to read and edit."""
    return json.dumps(statement, indent=2, ensure_ascii=False).encode() + b"\n"


def _folder(path: str) -> Imported:
    folder = EvidenceFolder(Path(path), name=path)

    def read(name: str) -> bytes:
        return b"".join(folder.pieces(name, pinned=folder.pins[name]))

    return thegrill(folder.pins, folder.problems, read, what=path)


def _export(path: str) -> Imported:
    return hyperfine(file.read(path, limit=RECEIPT_BYTES).data, what=path)
