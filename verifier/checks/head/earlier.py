"""An earlier verdict, as a file tells it: a report of ours, or a receipt. Neither is believed.

What is not signed is computed again; the file only says which commit it was about, into which base,
and what it claims to have found.
"""

from typing import Any, Final, Self

from verifier.core.digest import Digest
from verifier.core.strict import read_foreign_json
from verifier.core.table import MalformedError
from verifier.core.value import frozen

_SCHEMA: Final = "pinproof.report/v1"
_REMEDY: Final = "give a report that pinproof verify head wrote: --output json=report.json"
_LIMIT: Final = 64 << 20


@frozen
class Earlier:
    """One head of an earlier report: its commit, its base, the verdict, the policy's digest."""

    head: str
    base: str
    verdict: str
    policy: str

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read a report about one head. Raises `MalformedError` for anything else."""
        try:
            document = read_foreign_json(data, limit=_LIMIT)
        except ValueError as error:
            raise MalformedError(what, [str(error)], remedy=_REMEDY) from None
        if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
            raise MalformedError(what, [f"schema: expected {_SCHEMA}"], remedy=_REMEDY)
        heads = [each for each in _listed(document, "results") if each.get("kind") == "head"]
        if len(heads) != 1:
            got = f"results: expected one head, got {len(heads)}"
            raise MalformedError(what, [got], remedy=_REMEDY)
        return cls(
            head=_head(heads[0], what),
            base=_base(heads[0], what),
            verdict=str(heads[0].get("verdict")),
            policy=str(_below(document, "policy").get("sha256")),
        )


def is_report(data: bytes) -> bool:
    """Whether a file says that it is a report; other files are read as receipts."""
    return f'"{_SCHEMA}"'.encode() in data[:4096]


def _below(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _listed(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _head(result: dict[str, Any], what: str) -> str:
    texts = _below(result, "subject").get("digests")
    digests = [Digest.parse(each) for each in texts or () if isinstance(each, str)]
    commits = [each.hex for each in digests if each is not None and each.kind == "git-commit"]
    if len(commits) != 1:
        raise MalformedError(what, ["subject.digests: names no one commit"], remedy=_REMEDY)
    return commits[0]


def _base(result: dict[str, Any], what: str) -> str:
    commits = [
        str(each.get("version"))
        for each in _listed(result, "identified")
        if each.get("entry") == "base" and each.get("status") == "commit"
    ]
    if len(commits) != 1 or Digest.parse(f"git-commit:{commits[0]}") is None:
        raise MalformedError(what, ["identified: names no base"], remedy=_REMEDY)
    return commits[0]
