"""The event file of a forge: claims, read strictly and compared."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.checks.head.event import Event
from verifier.core.table import MalformedError

HEAD, BASE, OTHER = "1" * 40, "2" * 40, "3" * 40
REQUEST: Final[dict[str, Any]] = {
    "draft": False,
    "labels": [{"name": "bug"}, {"name": "wait", "color": "red"}],
    "head": {"sha": HEAD, "ref": "topic"},
    "base": {"sha": BASE, "ref": "main"},
    "merge_commit_sha": OTHER,
    "number": 7,
}


def parsed(document: object) -> Event:
    return Event.parse(json.dumps(document).encode(), what="event.json")


def request(**changes: Any) -> Event:
    return parsed({"action": "opened", "pull_request": {**REQUEST, **changes}})


def test_a_pull_request() -> None:
    event = request()
    assert (event.head, event.base, event.branch, event.merge) == (HEAD, BASE, "main", OTHER)
    assert event.claimed.labels == ("bug", "wait")
    assert not event.claimed.draft
    assert event.others(BASE, HEAD) == []
    assert [f.code for f in event.others(BASE, OTHER)] == ["head-event-other"]
    assert [f.code for f in event.others(HEAD, BASE)] == ["head-event-other"] * 2


def test_a_queue_of_merges() -> None:
    event = parsed(
        {"merge_group": {"head_sha": HEAD, "base_sha": BASE, "base_ref": "refs/heads/main"}}
    )
    assert (event.head, event.base, event.branch, event.merge) == (HEAD, BASE, "main", None)


def test_what_is_not_said_is_not_compared() -> None:
    event = parsed({"pull_request": {}})
    assert event.others(BASE, HEAD) == []
    assert event.claimed.labels == ()
    assert request(merge_commit_sha=None, labels=None, draft=None).merge is None


@pytest.mark.parametrize(
    "changes",
    [
        {"draft": "false"},
        {"draft": 0},
        {"labels": 5},
        {"labels": True},
        {"labels": "do-not-merge"},
        {"labels": {"name": "do-not-merge"}},
        {"labels": ["do-not-merge"]},
        {"labels": [{"name": None}]},
        {"labels": [{}]},
        {"labels": [{"name": "a"}, 1]},
        {"head": HEAD},
        {"head": [HEAD]},
        {"head": {"sha": 1}},
        {"head": {"sha": [HEAD]}},
        {"base": {"sha": HEAD, "ref": 1}},
        {"merge_commit_sha": 1},
    ],
)
def test_fields_of_another_form_refuse_the_file(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        request(**changes)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"pull_request": null}',
        b'{"pull_request": []}',
        b'{"merge_group": 1}',
        b'{"pull_request": {}, "pull_request": {}}',
        b'{"pull_request": {"draft": true, "draft": false}}',
        b'{"pull_request": {"draft": true}} {}',
        b'\xef\xbb\xbf{"pull_request": {}}',
        b'{"pull_request": {"number": NaN}}',
        b'{"pull_request": ' + b"[" * 5_000,
        b"\xff",
    ],
)
def test_what_is_no_event_of_a_merge(text: bytes) -> None:
    with pytest.raises(MalformedError):
        Event.parse(text, what="event.json")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["pull_request", "merge_group", "head", "base", "sha", "ref", "labels"])
            | st.sampled_from(["name", "draft", "head_sha", "base_sha", "base_ref"]),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_document_is_read_or_refused(document: Any) -> None:
    try:
        event = parsed({"pull_request": document})
    except MalformedError:
        return
    assert all(isinstance(name, str) for name in event.claimed.labels)
    event.others(BASE, HEAD)
