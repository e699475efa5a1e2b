"""The event file that a forge gives to a workflow: claims, which are compared and never believed.

Of GitHub: `pull_request` (also as `pull_request_target` and `pull_request_review` have it) and
`merge_group` (docs.github.com, "Webhook events and payloads"). A file whose fields are missing says
nothing; a field of another type than documented refuses the file.
"""

from typing import Any, Final, Self

from verifier.checks.head.holds import Claimed
from verifier.core.finding import Finding
from verifier.core.strict import read_json
from verifier.core.table import MalformedError
from verifier.core.value import frozen

_REMEDY: Final = "give the file that GITHUB_EVENT_PATH names, of an event about a pull request"


@frozen
class Event:
    """What an event says; None where it does not."""

    head: str | None
    base: str | None
    branch: str | None
    merge: str | None
    claimed: Claimed

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read an event file. Raises `MalformedError` for one that is about no merge."""
        try:
            document = read_json(data)
        except ValueError as error:
            raise MalformedError(what, [str(error)], remedy=_REMEDY) from None
        if isinstance(document, dict) and isinstance(document.get("merge_group"), dict):
            return cls._of_group(document["merge_group"], what)
        request = document.get("pull_request") if isinstance(document, dict) else None
        if not isinstance(request, dict):
            raise MalformedError(what, ["has neither pull_request nor merge_group"], remedy=_REMEDY)
        base, head = (_table(request, name, what) for name in ("base", "head"))
        return cls(
            head=_text(head, "sha", what),
            base=_text(base, "sha", what),
            branch=_text(base, "ref", what),
            merge=_text(request, "merge_commit_sha", what),
            claimed=Claimed(draft=_flag(request, "draft", what), labels=_labels(request, what)),
        )

    @classmethod
    def _of_group(cls, group: dict[str, Any], what: str) -> Self:
        branch = _text(group, "base_ref", what)
        return cls(
            head=_text(group, "head_sha", what),
            base=_text(group, "base_sha", what),
            branch=branch and branch.removeprefix("refs/heads/"),
            merge=None,
            claimed=Claimed(draft=False, labels=()),
        )

    def others(self, base: str, head: str) -> list[Finding]:
        """Say where the event is about other commits than were given."""
        return [
            Finding(
                code="head-event-other",
                expected=f"--{name} {said}, as the event says",
                got=given,
                cause="a push has come in between, or the ids are those of another pull request",
                remedy="run again for the newest event; what was said of the older commit does not "
                "hold for the newer one",
            )
            for name, said, given in (("base", self.base, base), ("head", self.head, head))
            if said is not None and said != given
        ]


def _table(document: dict[str, Any], key: str, what: str) -> dict[str, Any]:
    found = document.get(key)
    if found is not None and not isinstance(found, dict):
        raise _wrong(what, key, "no table")
    return found or {}


def _text(document: dict[str, Any], key: str, what: str) -> str | None:
    found = document.get(key)
    if found is not None and not isinstance(found, str):
        raise _wrong(what, key, "no text")
    return found


def _flag(document: dict[str, Any], key: str, what: str) -> bool:
    found = document.get(key)
    if found is not None and not isinstance(found, bool):
        raise _wrong(what, key, "neither true nor false")
    return found is True


def _labels(request: dict[str, Any], what: str) -> tuple[str, ...]:
    found = request.get("labels")
    if found is None:
        return ()
    listed = found if isinstance(found, list) else [None]
    named = [each.get("name") if isinstance(each, dict) else None for each in listed]
    names = tuple(name for name in named if isinstance(name, str))
    if len(names) != len(listed):
        raise _wrong(what, "labels", "no list of labels, each with a name")
    return names


def _wrong(what: str, key: str, why: str) -> MalformedError:
    return MalformedError(what, [f"{key}: is {why}"], remedy=_REMEDY)
