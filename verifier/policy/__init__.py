"""What is demanded of a subject, and the judgement of what a check found.

Judging adds nothing to an outcome: it decides which of the findings count.
"""

from verifier.policy.document import Policy, Waiver, load
from verifier.policy.judging import judge

__all__ = ["Policy", "Waiver", "judge", "load"]
