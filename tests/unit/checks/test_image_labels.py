"""Labels are compared with what was computed, and prove nothing by themselves."""

from verifier.checks.image.labels import OURS, REVISION, Recomputed, compared, unproven

ONE, TWO = "1" * 40, "2" * 40
TREE = "tree:sha256:" + "a" * 64
FOUND = Recomputed(
    revisions=frozenset({ONE}),
    helpers=(("example-fair-queue", "v6"),),
    stages=(("example-lantern", "020-night"),),
    root=TREE,
)
TRUE = {
    REVISION: ONE,
    f"{OURS}helper.example-fair-queue": "v6",
    f"{OURS}composition.example-lantern": "020-night",
    f"{OURS}root": TREE,
    "maintainer": "anybody",
}


def test_labels_that_say_what_was_computed_are_no_finding() -> None:
    assert compared(TRUE, FOUND) == ()
    assert unproven(TRUE, FOUND) == ()


def test_a_label_of_ours_that_says_something_else_is_rejected() -> None:
    for key, value in TRUE.items():
        if key.startswith(OURS):
            (finding,) = compared({**TRUE, key: "other"}, FOUND)
            assert (finding.code, finding.where.path) == ("image-label-contradicts", key)
            assert (finding.expected, finding.got) == (f"{value}, as computed", "other")
            assert finding.row.outcome == "rejected"


def test_another_revision_is_worth_knowing() -> None:
    (finding,) = compared({REVISION: TWO}, FOUND)
    assert (finding.code, finding.row.outcome) == ("image-label-revision", "undecided")
    assert (finding.expected, finding.got) == (ONE, TWO)


def test_without_anything_computed_a_label_is_not_proven_and_no_finding() -> None:
    nothing = Recomputed()
    assert compared(TRUE, nothing) == ()
    assert len(unproven(TRUE, nothing)) == 4
    assert compared({}, FOUND) == ()
    assert unproven({}, nothing) == ()


def test_a_label_cannot_break_a_line_or_fill_a_screen() -> None:
    (finding,) = compared({f"{OURS}root": "x\n" * 900}, FOUND)
    assert finding.got is not None
    assert "\n" not in finding.got
    assert len(finding.got) <= 120
