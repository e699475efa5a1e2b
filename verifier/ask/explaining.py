"""What keeps a file or a tree from being what was published, place by place, and what did it."""

from collections.abc import Sequence
from typing import BinaryIO

from verifier.ask.answers import Answered
from verifier.ask.explained import explained
from verifier.ask.helper import verify_helper
from verifier.ask.reading import Reach, is_tree
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.core.errors import WrongCallError
from verifier.core.limits import HOST_BYTES
from verifier.sources.file import STDIN


def why(
    files: Sequence[str],
    *,
    trust: Trust | None = None,
    lineage: str | None = None,
    composition: str | None = None,
    prefix: str = "",
    max_size: int = HOST_BYTES,
    stdin: BinaryIO | None = None,
    reach: Reach | None = None,
) -> Answered:
    """Say of each file what it is nearest to, where it departs from that, and what did it.

    A folder, a whole commit or archive is asked about as a tree: which stage of a composition it
    is nearest to. `composition` names the one that is meant, `prefix` the folder where its paths
    begin; then every argument is a tree. Without it, compositions are looked for. Answers about
    files come first.

    An answer is known if what was asked about was recognised, or if every refusal has a cause.

    Raises `WrongCallError` as `verify_helper` and `verify_composition` do.
    """
    trust = trust or open_trust()
    if composition is not None and lineage is not None:
        raise WrongCallError(
            "--lineage and --composition are given both, and a file is no tree",
            code="wrong-call",
            remedy="ask about files and trees in two calls",
        )
    if prefix and composition is None:
        raise WrongCallError(
            "--prefix: there is no --composition whose paths begin there",
            code="wrong-call",
            remedy="name the composition; pinproof identify SOURCE finds which one it is",
        )
    trees = [n for n in files if n != STDIN and (composition is not None or is_tree(n))]
    plain = [name for name in files if name not in trees]
    report = trust.report(())
    if plain or not files:
        report = verify_helper(
            plain, trust=trust, lineage=lineage, max_size=max_size, stdin=stdin, reach=reach
        )
    answers = [explained(result) for result in report.results]
    if trees:
        # Most questions are about files, which pay for no tree.
        from verifier.ask.tree_why import why_tree  # noqa: PLC0415

        for name in trees:
            answers += why_tree(name, composition, prefix, trust, reach or Reach())
    return Answered(question="why", answers=tuple(answers), report=report)
