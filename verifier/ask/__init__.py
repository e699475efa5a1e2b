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

from verifier.ask.answers import Answer, Answered
from verifier.ask.helper import verify_helper, why
from verifier.ask.identify import identify
from verifier.ask.registry import check_registry, explain, list_entries, show
from verifier.ask.trust import Trust, trust

__all__ = [
    "Answer",
    "Answered",
    "Trust",
    "check_registry",
    "explain",
    "identify",
    "list_entries",
    "show",
    "trust",
    "verify_helper",
    "why",
]
