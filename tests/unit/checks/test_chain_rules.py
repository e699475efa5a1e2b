"""Artifact rules beside in-toto's own functions, on artifacts and rules that chance makes.

Ours refuses exactly what in-toto refuses (DISALLOW, REQUIRE); what it adds is never a `rejected`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_toto.exceptions import RuleVerificationError
from in_toto.models.link import Link as TheirLink
from in_toto.rulelib import unpack_rule
from in_toto.verifylib import verify_item_rules
from securesystemslib.exceptions import FormatError

from verifier.checks.chain.artifacts import of_step
from verifier.evidence.layout.model import Link, Step
from verifier.evidence.layout.rules import Rule, Verb

NAMES = ("a", "b", "src/a", "src/b", "src/x/a", "dst/a", "dst/b", "A", "[a]", "*", "a?b", "ü")
PATTERNS = (*NAMES, "src/*", "*/a", "?", "[ab]", "[!a]", "s*c/?", "**", "nothing", "[", "dst/[a-b]")
PREFIXES = ("src", "src/", "dst", "src/x", "nowhere", "sr")
ARTIFACTS = st.dictionaries(
    st.sampled_from(NAMES),
    st.sampled_from(["00" * 32, "11" * 32]).map(lambda digest: {"sha256": digest}),
    max_size=7,
)


@st.composite
def rules(draw: st.DrawFn) -> list[str]:
    verb = draw(st.sampled_from([*Verb]))
    word = draw(st.sampled_from([verb.upper(), verb.lower(), verb.title()]))
    rule = [word, draw(st.sampled_from(PATTERNS))]
    if verb is not Verb.MATCH:
        return rule
    if draw(st.booleans()):
        rule += ["IN", draw(st.sampled_from(PREFIXES))]
    rule += ["with", draw(st.sampled_from(["MATERIALS", "PRODUCTS", "products"]))]
    if draw(st.booleans()):
        rule += ["IN", draw(st.sampled_from(PREFIXES))]
    return [*rule, "FROM", draw(st.sampled_from(["one", "two"]))]


LISTS = st.lists(rules(), max_size=6)


def link(name: str, sides: tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]) -> Link:
    return Link(name=name, command=(), materials=sides[0], products=sides[1])


@settings(max_examples=600)
@given(st.tuples(ARTIFACTS, ARTIFACTS), st.tuples(ARTIFACTS, ARTIFACTS), LISTS, LISTS)
def test_ours_refuses_what_in_toto_refuses(
    one: tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]],
    two: tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]],
    of_materials: list[list[str]],
    of_products: list[list[str]],
) -> None:
    theirs = {
        "one": TheirLink(name="one", materials=one[0], products=one[1]),
        "two": TheirLink(name="two", materials=two[0], products=two[1]),
    }
    refused = False
    for side, written in (("materials", of_materials), ("products", of_products)):
        try:
            verify_item_rules("one", side, written, theirs)
        except RuleVerificationError:
            refused = True
    step = Step(
        name="one",
        threshold=1,
        key_ids=(),
        command=(),
        rules={
            side: tuple((tuple(rule), Rule.parse(tuple(rule))) for rule in written)
            for side, written in (("materials", of_materials), ("products", of_products))
        },
    )
    found = list(of_step(step, {"one": link("one", one), "two": link("two", two)}))
    assert any(f.row.outcome == "rejected" for f in found) == refused, found


WORDS = st.sampled_from(
    [
        "MATCH",
        "match",
        "a",
        "",
        "IN",
        "with",
        "PRODUCTS",
        "materials",
        "FROM",
        "one",
        "ALLOW",
        "CREATE",
    ]
)


@settings(max_examples=600)
@given(st.lists(WORDS, max_size=11))
def test_a_rule_is_one_for_both_readers(words: list[str]) -> None:
    try:
        theirs = unpack_rule(list(words))
    except FormatError:
        assert Rule.parse(tuple(words)) is None
        return
    ours = Rule.parse(tuple(words))
    assert ours is not None
    assert ours.verb == theirs["rule_type"]
    assert ours.pattern == theirs["pattern"]
    assert ours.other_step == theirs.get("dest_name", "")
    assert ours.other_side == theirs.get("dest_type", "")
    assert ours.source_prefix.rstrip("/") == theirs.get("source_prefix", "")


@pytest.mark.parametrize(
    "pattern", ["*a" * 60 + "b", "*" * 200, "[a" * 50, "?*" * 80 + "!", "*[!b]" * 40 + "b"]
)
def test_no_pattern_costs_more_than_it_may(pattern: str) -> None:
    """Under a backtracking matcher each of these takes longer than the world is old."""
    from verifier.evidence.layout.rules import Pattern

    assert not Pattern(pattern).fits("a" * 4_000 + "\n") or pattern == "*" * 200
