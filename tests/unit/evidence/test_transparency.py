"""Inclusion proofs of every entry of small logs, checkpoints in one spelling (RFC 9162, C2SP)."""

from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest
from support.certificates import new_key
from support.transparency import Log, audit_path, sha256, spki, tree_head

from verifier.evidence.bundle import LogEntry, Proof
from verifier.evidence.keys import PublicKey
from verifier.evidence.transparency import Checkpoint, included, promised

WHEN: Final = datetime(2026, 11, 28, tzinfo=UTC)


def entry(body: bytes) -> LogEntry:
    return LogEntry(log=b"", kind="", body=body, index=0, integrated=0, promise=None, proof=None)


@pytest.mark.parametrize("size", range(1, 34))
def test_every_entry_is_included_where_it_is_and_nowhere_else(size: int) -> None:
    bodies = [b"%d" % number for number in range(size)]
    leaves = [sha256(b"\0" + body) for body in bodies]
    root = tree_head(leaves)
    for index, body in enumerate(bodies):
        path = tuple(audit_path(index, leaves))
        proof = Proof(index=index, size=size, root=root, path=path, checkpoint="")
        assert included(entry(body), proof)
        assert not included(entry(body + b"."), proof)
        for other in range(size + 2):
            if other != index:
                assert not included(entry(body), replace(proof, index=other))
        if path:
            assert not included(entry(body), replace(proof, path=path[:-1]))
            assert not included(entry(body), replace(proof, path=(*path[:-1], path[-1][:-1])))
        assert not included(entry(body), replace(proof, path=(*path, sha256(b""))))
        assert not included(entry(body), replace(proof, root=sha256(b"")))


def log() -> Log:
    return Log("log.test", new_key("a log"))


@pytest.mark.parametrize(
    "change",
    [
        ("\n6\n", "\n06\n"),
        ("\n6\n", "\n+6\n"),
        ("\n6\n", "\n6 \n"),
        ("\n6\n", "\n-6\n"),
        ("\n6\n", "\n6_0\n"),
        ("\n\n", "\n"),
        ("\u2014 ", "- "),
        ("\u2014 log.test", "\u2014 log test"),
        ("=\n", "\n"),
    ],
)
def test_a_checkpoint_has_one_spelling(change: tuple[str, str]) -> None:
    made = log()
    made.entry({"kind": "a", "apiVersion": "b"}, WHEN)
    text = made.checkpoint(tree_head(made.leaves), 6)
    assert Checkpoint.parse(text).size == 6
    changed = text.replace(*change, 1)
    assert changed != text
    with pytest.raises(ValueError, match=r"checkpoint|base64"):
        Checkpoint.parse(changed)


def test_a_checkpoint_is_signed_by_its_log_alone() -> None:
    made, other = log(), new_key("another")
    head = Checkpoint.parse(made.checkpoint(sha256(b""), 6))
    assert head.signed_by(PublicKey.der(spki(made.key)), made.key_id)
    assert not head.signed_by(PublicKey.der(spki(other)), made.key_id)
    longer = replace(head, note=head.note + b"more\n")
    assert not longer.signed_by(PublicKey.der(spki(made.key)), made.key_id)


def test_a_promise_is_over_body_time_place_and_log() -> None:
    made = log()
    told = made.entry({"kind": "a", "apiVersion": "b"}, WHEN)
    held = LogEntry(
        log=made.key_id,
        kind="a b",
        body=b64decode(told["canonicalizedBody"]),
        index=int(told["logIndex"]),
        integrated=int(told["integratedTime"]),
        promise=b64decode(told["inclusionPromise"]["signedEntryTimestamp"]),
        proof=None,
    )
    key = PublicKey.der(spki(made.key))
    assert promised(held, key)
    for changed in (
        replace(held, body=held.body + b" "),
        replace(held, index=held.index + 1),
        replace(held, integrated=held.integrated + 1),
        replace(held, log=held.log[::-1]),
        replace(held, promise=None),
        replace(held, integrated=0),
    ):
        assert not promised(changed, key)
