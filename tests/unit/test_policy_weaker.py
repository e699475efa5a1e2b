"""What a policy gives up: every key of it, in each direction."""

from typing import Final

import pytest

from verifier.policy import load
from verifier.policy.weaker import weaker

WAIVER: Final = """
[[waiver]]
code = "registry-resealed"
subject = "registry/"
reason = "r"
by = "b"
until = 2026-12-31T00:00:00Z
"""
HOLD: Final = """
[[hold]]
commit = "1111111111111111111111111111111111111111"
reason = "r"
owner = "o"
next_action = "n"
lifts_when = "l"
"""
FULL: Final = f"""\
schema = "policy/v1"
name = "full"
description = "everything that a policy can demand"
insecure_past_time = "refuse"

[registry]
min_snapshot = 3

[head]
demand = ["objects", "base", "merge", "receipts"]
documentation = ["README.md", "docs/"]
hosts = [{{ path = "a.py", lineage = "one" }}, {{ path = "b.py", lineage = "two" }}]
compositions = [{{ name = "lantern", prefix = "parts" }}]
registry = "registry/"
receipts = "receipts/"
receipt_signers = ["alice"]
hold_labels = ["wait"]

[[head.approvals]]
name = "tests"
predicate = "https://example.org/test/v1"
says = ["PASSED", "SIGNED"]
signers = ["alice", "bob"]
threshold = 2

[helper]
demand = ["helper", "sites"]
current_only = true

[composition]
demand = ["final-stage", "modes"]
[image]
demand = ["graph", "expected"]
[runtime]
demand = ["models", "ranks"]
[release]
demand = ["files", "signed"]
[receipt]
demand = ["identity", "arms"]
unsigned = "undecided"
{WAIVER}{HOLD}"""
ACCEPTING: Final = FULL.replace("current_only = true", 'accept = ["one/v1"]')

#: Old text, new text (of FULL), and what going from one to the other gives up; the way back is
#: no weaker, or, where it is, gives up what is named last.
EACH: Final = [
    ("min_snapshot = 3", "min_snapshot = 2", "registry.min_snapshot: 3 → 2", ""),
    ('insecure_past_time = "refuse"', 'insecure_past_time = "allow"', "insecure_past_time", ""),
    (', "receipts"]\ndoc', "]\ndoc", "head.demand no longer asks for receipts", ""),
    ('["README.md", "docs/"]', '["README.md", "docs/", "x"]', "head.documentation: x as well", ""),
    (', { path = "b.py", lineage = "two" }', "", "head.hosts: without b.py (two)", ""),
    ('"b.py", lineage = "two"', '"b.py", lineage = "six"', "without b.py (two)", "without b.py"),
    ('"b.py", lineage', '"c.py", lineage', "head.hosts: without b.py (two)", "without c.py"),
    ('[{ name = "lantern", prefix = "parts" }]', "[]", "without lantern at parts", ""),
    ('prefix = "parts"', 'prefix = "other"', "without lantern at parts", "without lantern at"),
    ('registry = "registry/"\n', "", "head.registry: registry/ → none", ""),
    ('registry = "registry/"', 'registry = "other/"', "head.registry: registry/ → other/", "other"),
    ('\nreceipts = "receipts/"', "", "head.receipts: receipts/ → none", "head.receipts: none"),
    ('receipt_signers = ["alice"]', 'receipt_signers = ["alice", "eve"]', "eve as well", ""),
    ('receipt_signers = ["alice"]', "receipt_signers = []", "", "alice as well"),
    ('hold_labels = ["wait"]', "hold_labels = []", "head.hold_labels: without wait", ""),
    ('name = "tests"', 'name = "others"', "without tests", "without others"),
    ("example.org/test/v1", "example.org/test/v2", "tests asks for less", "tests asks for less"),
    ('["PASSED", "SIGNED"]', '["PASSED"]', "tests asks for less", ""),
    ('["alice", "bob"]', '["alice", "bob", "eve"]', "tests asks for less", ""),
    ("threshold = 2", "threshold = 1", "tests asks for less", ""),
    (
        'demand = ["helper", "sites"]',
        'demand = ["helper"]',
        "helper.demand no longer asks for sites",
        "",
    ),
    ("current_only = true", "current_only = false", "helper.current_only: true → false", ""),
    ("current_only = true", 'pristine = "verified"\ncurrent_only = true', "helper.pristine", ""),
    (
        '["final-stage", "modes"]',
        '["final-stage"]',
        "composition.demand no longer asks for modes",
        "",
    ),
    ('["graph", "expected"]', '["graph"]', "image.demand no longer asks for expected", ""),
    ('["models", "ranks"]', '["ranks"]', "runtime.demand no longer asks for models", ""),
    ('["files", "signed"]', '["files"]', "release.demand no longer asks for signed", ""),
    (
        '[image]\ndemand = ["graph", "expected"]\n',
        "",
        "image.demand no longer asks for expected, graph",
        "",
    ),
    ('["identity", "arms"]', '["identity"]', "receipt.demand no longer asks for arms", ""),
    ('unsigned = "undecided"', 'unsigned = "accept"', "receipt.unsigned: undecided → accept", ""),
    (WAIVER, "", "", "waiver of registry-resealed for registry/: new"),
    ("2026-12-31", "2027-12-31", "waiver of registry-resealed", "waiver of registry-resealed"),
    ('subject = "registry/"', 'subject = "x"', "waiver of registry-resealed for x", "new"),
    (HOLD, "", "hold on 1111", ""),
    ("1" * 40, "2" * 40, "hold on 1111", "hold on 2222"),
    ('name = "full"', 'name = "other"', "", ""),
    ("everything that", "all that", "", ""),
    ('reason = "r"\nowner', 'reason = "s"\nowner', "", ""),
]


def gives_up(old: str, new: str) -> str:
    before, after = (load(text.encode(), where="policy") for text in (old, new))
    return "; ".join(weaker(before, after))


@pytest.mark.parametrize(("old", "new", "forth", "back"), EACH)
def test_each_key_in_each_direction(old: str, new: str, forth: str, back: str) -> None:
    assert FULL.count(old) == 1, old
    changed = FULL.replace(old, new)
    for found, expected in ((gives_up(FULL, changed), forth), (gives_up(changed, FULL), back)):
        assert bool(found) == bool(expected), found
        assert expected in found


def test_accepted_versions() -> None:
    more = ACCEPTING.replace('"one/v1"', '"one/v1", "one/v2"')
    assert gives_up(ACCEPTING, more) == "helper.accept: one/v2 as well"
    assert gives_up(more, ACCEPTING) == ""


def test_a_policy_is_no_weaker_than_itself() -> None:
    for text in (FULL, ACCEPTING):
        assert gives_up(text, text) == ""


def test_whole_tables_that_go() -> None:
    head = FULL[FULL.index("[head]") : FULL.index("[helper]")]
    found = gives_up(FULL, FULL.replace(head, ""))
    for words in ("head.demand", "head.hosts", "head.approvals: without tests", "hold_labels"):
        assert words in found


def test_every_key_of_a_policy_is_looked_at() -> None:
    """A key that comes to policies has to come here too: these are all there are."""
    from dataclasses import fields

    from verifier.core.demand import Approval, HeadDemand, HelperDemand, ReceiptDemand
    from verifier.policy import Policy

    assert {field.name for field in fields(Policy)} == {
        *("facts", "description", "min_snapshot", "past_time_allowed", "helper", "composition"),
        *("image", "runtime", "release", "receipt", "head", "holds", "waivers"),
    }
    assert {field.name for field in fields(HeadDemand)} == {
        *("facets", "documentation", "hosts", "compositions", "registry", "receipts"),
        *("receipt_signers", "approvals", "hold_labels"),
    }
    assert {field.name for field in fields(HelperDemand)} == {
        *("facets", "accept", "current_only", "pristine", "expect"),
    }
    assert {field.name for field in fields(ReceiptDemand)} == {"facets", "unsigned"}
    assert {field.name for field in fields(Approval)} == {
        *("name", "predicate", "says", "signers", "threshold"),
    }
