"""Policies: what they refuse, and the laws of judging."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.core.codes import CODES
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.outcome import Outcome, Subject
from verifier.core.table import MalformedError
from verifier.core.verdict import Verdict
from verifier.policy import Waiver, judge, load

NOW: Final = datetime(2026, 11, 29, tzinfo=UTC)
SUBJECT: Final = Subject(name="host.py", digests=(Digest(kind="file", hex="0" * 64),))
GOOD: Final = (
    'schema = "policy/v1"\nname = "own"\ndescription = "x"\n[helper]\ndemand = ["helper"]\n'
)
WAIVER: Final = (
    '[[waiver]]\ncode = "helper-drifted"\nsubject = "host.py"\nreason = "r"\nby = "b"\n'
    "until = 2026-12-31T00:00:00Z\n"
)


def test_a_good_policy_parses() -> None:
    policy = load((GOOD + WAIVER).encode(), where="own")
    assert policy.helper is not None
    assert policy.helper.facets == {"helper"}
    assert len(policy.waivers) == 1


def test_a_policy_may_be_of_compositions_alone() -> None:
    text = GOOD.replace("[helper]", "[composition]").replace('"helper"', '"final-stage"')
    policy = load(text.encode(), where="own")
    assert policy.helper is None
    assert policy.composition == frozenset({"final-stage"})
    for wrong in ('"helper"', "", '"final-stage", "final-stage"', "1"):
        with pytest.raises(MalformedError):
            load(text.replace('"final-stage"', wrong).encode(), where="own")
    with pytest.raises(MalformedError, match=r"composition\.accept: unknown key"):
        load(f"{text}accept = []\n".encode(), where="own")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"policy/v1"', '"policy/v2"', "schema"),
        ('name = "own"', 'name = "Own"', "name"),
        ('description = "x"\n', "", "description"),
        ('["helper"]', "[]", "helper.demand"),
        ('["helper"]', '["helper", "helper"]', "helper.demand"),
        ('["helper"]', '["wholefile"]', "helper.demand"),
        ('["helper"]', '["input"]', "helper.demand"),
        ('["helper"]', '"helper"', "helper.demand"),
        ("[helper]", "[helpers]", "helpers"),
        ("[helper]", "inherit = 1\n[helper]", "inherit"),
        ("[helper]", "[registry]\nmin_snapshot = -1\n[helper]", "registry.min_snapshot"),
        ("[helper]", "[registry]\nmin = 1\n[helper]", "registry.min"),
        ('["helper"]\n', '["helper"]\npristine = "maybe"\n', "helper.pristine"),
        ('["helper"]\n', '["helper"]\naccept = ["v5"]\n', "helper.accept"),
        (
            '["helper"]\n',
            '["helper"]\naccept = ["a/b"]\ncurrent_only = true\n',
            "helper.accept",
        ),
        ("[[waiver]]", "[[waiver]]\nwho = 1", "waiver[0].who"),
        ('code = "helper-drifted"', 'code = "helper-drift"', "waiver[0].code"),
        ('code = "helper-drifted"', 'code = "cannot-read"', "waiver[0].code"),
        ('subject = "host.py"', 'subject = "sha256:12"', "waiver[0].subject"),
        ('by = "b"\n', "", "waiver[0].by"),
        ("until = 2026-12-31T00:00:00Z\n", "", "waiver[0].until"),
        ("until = 2026-12-31T00:00:00Z", 'until = "soon"', "waiver[0].until"),
    ],
)
def test_mistakes_are_refused_by_path(old: str, new: str, path: str) -> None:
    text = GOOD + WAIVER
    assert text.count(old) == 1
    with pytest.raises(MalformedError) as caught:
        load(text.replace(old, new).encode(), where="own")
    assert any(mistake.startswith(f"{path}: ") for mistake in caught.value.mistakes), (
        caught.value.mistakes
    )


def test_a_policy_that_demands_nothing_is_refused() -> None:
    with pytest.raises(MalformedError, match="demands nothing"):
        load(b'schema = "policy/v1"\nname = "own"\ndescription = "x"\n', where="own")


FINDINGS = st.lists(
    st.sampled_from([code for code, row in CODES.items() if row.outcome != "error"]), max_size=4
).map(lambda codes: [Finding(code=code, remedy="r") for code in codes])
COVERAGE = st.fixed_dictionaries(
    {facet: st.sampled_from(list(State)) for facet in FACETS["helper"]}
).map(lambda states: [Covered(facet=f, state=s) for f, s in states.items()])
DEMANDED = st.frozensets(st.sampled_from(FACETS["helper"]), min_size=1)


def judged(
    findings: Sequence[Finding],
    coverage: Sequence[Covered],
    demanded: frozenset[str],
    waivers: Sequence[Waiver] = (),
    now: datetime = NOW,
) -> Verdict:
    outcome = Outcome(
        kind="helper", identified=(), findings=tuple(findings), coverage=tuple(coverage)
    )
    return judge(outcome, subject=SUBJECT, demanded=demanded, waivers=waivers, now=now).verdict


@given(FINDINGS, COVERAGE, DEMANDED)
def test_verified_means_every_demanded_facet_holds_and_nothing_counts(
    findings: list[Finding], coverage: list[Covered], demanded: frozenset[str]
) -> None:
    verdict = judged(findings, coverage, demanded)
    rejected = any(f.row.outcome == "rejected" for f in findings)
    assert (verdict is Verdict.REJECTED) == rejected
    if verdict is Verdict.VERIFIED:
        states = {c.facet: c.state for c in coverage}
        assert all(states[f].holds or states[f] is State.NOT_APPLICABLE for f in demanded)
        assert any(states[f].holds for f in demanded)
        assert not any(f.row.facet in demanded | {"input", "registry"} for f in findings)


@given(FINDINGS, COVERAGE, DEMANDED, st.sampled_from(FACETS["helper"]))
def test_demanding_more_never_turns_no_into_yes(
    findings: list[Finding], coverage: list[Covered], demanded: frozenset[str], more: str
) -> None:
    states = {c.facet: c.state for c in coverage}
    if judged(findings, coverage, demanded | {more}) is Verdict.VERIFIED and any(
        states[f].holds for f in demanded
    ):
        assert judged(findings, coverage, demanded) is Verdict.VERIFIED


def test_facets_that_nothing_checked_are_undecided() -> None:
    assert judged([], [], frozenset({"helper"})) is Verdict.UNDECIDED
    not_applicable = [Covered(facet="sites", state=State.NOT_APPLICABLE)]
    assert judged([], not_applicable, frozenset({"sites"})) is Verdict.UNDECIDED


def waiver(**changes: object) -> Waiver:
    given: dict[str, object] = {
        "code": "helper-drifted",
        "subject": "host.py",
        "reason": "r",
        "by": "b",
        "until": NOW + timedelta(seconds=1),
    }
    return Waiver(**{**given, **changes})  # type: ignore[arg-type]


HELD = [Covered(facet="sites", state=State.HELD)]
DRIFTED = [Finding(code="helper-drifted", remedy="r")]
NOT_HELD = [*HELD, Covered(facet="helper", state=State.NOT_HELD)]
BOTH = frozenset({"helper", "sites"})


def test_a_waiver_takes_one_code_out_until_its_date() -> None:
    assert judged(DRIFTED, NOT_HELD, BOTH) is Verdict.REJECTED
    assert judged(DRIFTED, NOT_HELD, BOTH, [waiver()]) is Verdict.VERIFIED
    by_digest = waiver(subject="file:sha256:" + "0" * 64)
    assert judged(DRIFTED, NOT_HELD, BOTH, [by_digest]) is Verdict.VERIFIED


@pytest.mark.parametrize(
    "given",
    [
        waiver(until=NOW),
        waiver(subject="other.py"),
        waiver(code="helper-missing"),
        waiver(subject="file:sha256:" + "1" * 64),
    ],
)
def test_other_waivers_do_not_count(given: Waiver) -> None:
    assert judged(DRIFTED, NOT_HELD, BOTH, [given]) is Verdict.REJECTED


def test_a_waiver_does_not_hold_what_was_never_checked() -> None:
    nothing = [Covered(facet="helper", state=State.NOT_CHECKED)]
    assert judged(DRIFTED, nothing, frozenset({"helper"}), [waiver()]) is Verdict.UNDECIDED
