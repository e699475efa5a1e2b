"""How a root that is proposed is shown: its keys, before anybody signs it."""

from typing import TYPE_CHECKING

from verifier.cli import options as shared
from verifier.cli import signing as signed
from verifier.core.verdict import exit_of_answer

if TYPE_CHECKING:
    from verifier.actions.maintain import Step
    from verifier.actions.sign_registry import Proposal


def shown_proposal(proposal: "Proposal", step: "Step | None", folder: str) -> int:
    """Print the keys of a proposed root, then what a run did with it."""
    lines = [
        f"proposed   {proposal.what} {proposal.version} of {folder}",
        "           with these keys",
        "",
    ]
    lines += [f"  {label:<11} {text}" for label, text in proposal.rows]
    if step is None:
        lines += ["", "  you may     sign it with --key, if these are the keys it should have"]
    shared.put("\n".join([*lines, ""]).encode())
    return exit_of_answer(known=False) if step is None else signed.shown(step, folder)
