"""The questions pinproof answers, one function each; also its public Python API.

Every function goes the same way: source → catalog → check → judge. None changes anything, and
none reaches the network.

>>> from verifier import ask
>>> trust = ask.trust(policy="region")
>>> report = ask.verify_helper(["no/such/scheduler.py"], trust=trust)
>>> report.exit.name, report.verdict
('ENVIRONMENT', None)
>>> report.results[0].code
'cannot-read'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from verifier.ask.answers import Answer, Answered, Listing
    from verifier.ask.audit import Audit, audit_registry
    from verifier.ask.bundle import verify_bundle
    from verifier.ask.chain import verify_chain
    from verifier.ask.commit import verify_commit
    from verifier.ask.composition import verify_composition
    from verifier.ask.explaining import why
    from verifier.ask.helper import verify_helper
    from verifier.ask.history import list_history
    from verifier.ask.identity import identify
    from verifier.ask.image import verify_image
    from verifier.ask.migration import Request, plan_migration
    from verifier.ask.proof import prove_composition
    from verifier.ask.reading import Reach
    from verifier.ask.receipt import verify_receipt
    from verifier.ask.registry import check_registry, explain, list_entries, show
    from verifier.ask.registry_difference import diff_registry
    from verifier.ask.release import verify_release
    from verifier.ask.runtime import verify_runtime
    from verifier.ask.statement import verify_statement
    from verifier.ask.trees import diff_tree, list_tree
    from verifier.ask.trusted import Trust, trust

__all__ = [
    "Answer",
    "Answered",
    "Audit",
    "Listing",
    "Reach",
    "Request",
    "Trust",
    "audit_registry",
    "check_registry",
    "diff_registry",
    "diff_tree",
    "explain",
    "identify",
    "list_entries",
    "list_history",
    "list_tree",
    "plan_migration",
    "prove_composition",
    "show",
    "trust",
    "verify_bundle",
    "verify_chain",
    "verify_commit",
    "verify_composition",
    "verify_helper",
    "verify_image",
    "verify_receipt",
    "verify_release",
    "verify_runtime",
    "verify_statement",
    "why",
]

#: Where each name lives. They are imported when first used: a run asks one question, and the
#: modules of the others would be a tenth of its time.
_HOMES: Final = {
    "answers": ("Answer", "Answered", "Listing"),
    "audit": ("Audit", "audit_registry"),
    "bundle": ("verify_bundle",),
    "chain": ("verify_chain",),
    "commit": ("verify_commit",),
    "composition": ("verify_composition",),
    "explaining": ("why",),
    "helper": ("verify_helper",),
    "history": ("list_history",),
    "identity": ("identify",),
    "image": ("verify_image",),
    "migration": ("Request", "plan_migration"),
    "proof": ("prove_composition",),
    "reading": ("Reach",),
    "receipt": ("verify_receipt",),
    "registry": ("check_registry", "explain", "list_entries", "show"),
    "registry_difference": ("diff_registry",),
    "release": ("verify_release",),
    "runtime": ("verify_runtime",),
    "statement": ("verify_statement",),
    "trees": ("diff_tree", "list_tree"),
    "trusted": ("Trust", "trust"),
}


def __getattr__(name: str) -> Any:
    """Import the public name `name` (PEP 562)."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"verifier.ask.{home}"), name)
    raise AttributeError(f"module 'verifier.ask' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
