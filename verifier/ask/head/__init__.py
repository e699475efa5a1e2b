"""Whether exactly this head may be merged: one question, and the rooms that it goes through.

`clone` reads commits, `judges` opens what judges, `pairs` compares base and head, `contents` looks
at what head's tree holds, `receipts` and `approvals` at what is said of it.
"""

from collections.abc import Sequence

from verifier.ask.head.clone import Clone
from verifier.ask.head.judges import Judges
from verifier.ask.head.question import Asked, Question, Statements
from verifier.ask.reading import Reach
from verifier.checks.head.event import Event
from verifier.core.errors import WrongCallError
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.outcome import Report
from verifier.sources import file

__all__ = ["Judges", "Statements", "verify_head"]


def verify_head(
    repo: str,
    *,
    base: str,
    heads: Sequence[str],
    judges: Judges | None = None,
    statements: Statements | None = None,
    event: str | None = None,
    branch: str | None = None,
    reach: Reach | None = None,
) -> Report:
    """Judge proposed merges of `heads` into `base`, full ids of commits of the clone `repo`.

    Of each head there is one result, and one more for every host and composition that the policy
    lists. `judges` names policy and registry; `statements` are receipts and approvals; `event` is
    the file that GitHub gives to a workflow; `branch` is the one that `base` has to be the tip of.

    Raises `WrongCallError` for ids that are not full ids of commits, a policy that demands nothing
    of heads, or judges that may come from the head; `UnavailableError` for what cannot be read.
    """
    if not heads:
        raise WrongCallError(
            "no head to verify", code="wrong-call", remedy="give the full id: --head COMMIT"
        )
    judges = judges or Judges()
    claims = None
    if event is not None:
        claims = Event.parse(file.read(event, limit=DOCUMENT_BYTES).data, what=event)
    with Clone(repo, reach or Reach()) as clone:
        asked = Asked(
            judges=judges, statements=statements or Statements(), event=claims, branch=branch
        )
        question = Question.of(clone, base, asked)
        results = question.judged(heads)
        return question.trust.report(results)
