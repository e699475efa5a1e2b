"""Independent stages in every order: our three overlays, and ones that depend on each other."""

import tracemalloc
from itertools import permutations

import pytest
from support import hosts, lineages, overlays
from support.composed import Composed

from verifier.catalog.entries.composition import Agreement
from verifier.checks.composition.edits import Swap, region_edit, swaps_of, without
from verifier.checks.composition.orders import Edit, Files, findings, try_orders
from verifier.checks.composition.proof import prove
from verifier.checks.composition.region_stage import version_in
from verifier.checks.composition.syntax import facts
from verifier.core.coverage import State

THREE = ("quota", "trace", "pause")
PLANTED = ("quota", "trace", "late")


def test_three_overlays_of_ours_in_all_six_orders() -> None:
    outcome = prove(*overlays.composition(THREE)).outcome
    assert outcome.findings == ()
    row = next(row for row in outcome.coverage if row.facet == "orders")
    assert (row.state, row.detail) == (State.HELD, "6 of 6 orders, same bytes")
    results = set()
    for order in permutations(THREE):
        data = hosts.host("clean")
        for name in order:
            data = overlays.module().install(data, name)
        results.add(data)
    assert len(results) == 1, "the example's own installer, as a peer"


def test_a_planted_dependence_refutes_exactly_the_orders_that_have_it() -> None:
    outcome = prove(*overlays.composition(PLANTED)).outcome
    assert {finding.code for finding in outcome.findings} == {"order-different"}
    refuted = {(finding.got or "").partition(":")[0] for finding in outcome.findings}
    expected = {
        ", then ".join(order)
        for order in permutations(PLANTED)
        if order.index("late") < order.index("quota")
    }
    assert refuted == expected
    assert len(refuted) == 3
    causes = {finding.cause for finding in outcome.findings}
    assert len(causes) == 1
    (cause,) = causes
    assert cause is not None
    assert cause.startswith("the shortest counter-example: late, then quota: queue/host.py differs")
    byte = {finding.where.byte_offset for finding in outcome.findings}
    for order in expected:
        data = [hosts.host("clean"), hosts.host("clean")]
        for at, names in enumerate((PLANTED, order.split(", then "))):
            for name in names:
                data[at] = overlays.module().install(data[at], name)
        first = next(n for n, (a, b) in enumerate(zip(*data, strict=True)) if a != b)
        assert first in byte
    row = next(row for row in outcome.coverage if row.facet == "orders")
    assert (row.state, row.detail) == (State.NOT_HELD, "6 of 6 orders, same bytes, 3 refuted")


def test_an_install_is_found_again_as_an_edit() -> None:
    example = lineages.example()
    for name, at in (("v6", "v6"), ("v5", "v5"), ("v5 then aging", "v5")):
        data = hosts.host(name)
        version = example.version(at)
        assert version is not None
        installed = version_in(data, example, version)
        assert installed is not None
        edit = region_edit(name, b"f", swaps_of(data, installed))
        assert edit.take({b"f": without(data, installed)}) == {b"f": data}


# ── patches in other orders ────────────────────────────────────────────────────────────────────

LINES = b"".join(b"%d\n" % number for number in range(40))


def patched(*edits: tuple[bytes, bytes], agreement: Agreement = Agreement.BYTES) -> Composed:
    steps = [("base", {"f.py": LINES}), ("overlay", {"f.py": LINES, "o": b""})]
    for number, (old, new) in enumerate(edits):
        before = steps[-1][1]
        steps.append((f"p{number}", {**before, "f.py": before["f.py"].replace(old, new)}))
    return Composed(steps=steps, independent=agreement)


def test_patches_that_shift_each_other_s_lines_are_independent() -> None:
    made = patched((b"\n5\n", b"\n5\nfive\n"), (b"\n20\n", b"\ntwenty\n"), (b"\n33\n", b"\n"))
    outcome = made.prove().outcome
    assert outcome.findings == ()
    assert next(row.detail for row in outcome.coverage if row.facet == "orders") == (
        "6 of 6 orders, same bytes"
    )


def test_patches_of_the_same_lines_are_not() -> None:
    made = patched((b"\n5\n", b"\nfive\n"), (b"\nfive\n", b"\nFIVE\n"))
    found = made.prove().outcome.findings
    assert {f.code for f in found} == {"order-impossible"}
    assert "p1 does not apply: f.py: the hunk of line 4: its lines stand nowhere" in (
        found[0].got or ""
    )


def test_what_is_not_at_hand_is_not_tried() -> None:
    made = patched((b"\n5\n", b"\nfive\n"), (b"\n20\n", b"\n"))
    del made.patches["p1"]
    assert "order-unknown" in made.codes()
    row = next(r for r in made.prove().outcome.coverage if r.facet == "orders")
    assert row.state is State.NOT_HELD


# ── agreement and numbers ──────────────────────────────────────────────────────────────────────


def behind(name: str, line: bytes, new: bytes) -> Edit:
    return region_edit(name, b"f", [Swap(line, line + new)])


def test_the_same_syntax_is_enough_where_that_was_declared() -> None:
    edits = [behind("a", b"x = 1\n", b"# a\n"), behind("b", b"x = 1\n", b"\n")]
    files = {b"f": b"x = 1\n"}
    assert try_orders(edits, files, Agreement.SYNTAX, facts).refuted == ()
    bytes_differ = try_orders(edits, files, Agreement.BYTES, facts)
    assert [r.order for r in bytes_differ.refuted] == [("b", "a")]
    edits[1] = behind("b", b"x = 1\n", b"y = 2\n")
    edits[0] = behind("a", b"x = 1\n", b"z = 2\n")
    assert len(try_orders(edits, files, Agreement.SYNTAX, facts).refuted) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"x = 1\n", b"x  =  1 # c\n\n", True),
        (b"x = 1\n", b"x = True\n", False),
        (b"x = 1\n", b"x = 1.0\n", False),
        (b"x = 'a'\n", b"x = b'a'\n", False),
        (b"def f():\n    pass\n", b"def f():\n\n    pass\n", True),
        (b"a\nb\n", b"b\na\n", False),
        (b"x = [1, [2]]\n", b"x = [1, 2]\n", False),
    ],
)
def test_facts(one: bytes, other: bytes, same: bool) -> None:
    assert (facts(one) == facts(other)) is same


def test_what_does_not_parse_has_no_facts() -> None:
    assert facts(b"(") is None


def test_more_than_six_take_a_fixed_list() -> None:
    edits = [region_edit(f"e{n}", b"f", [Swap(b"%d\n" % n, b"%d!\n" % n)]) for n in range(8)]
    orders = try_orders(
        edits, {b"f": b"".join(b"%d\n" % n for n in range(8))}, Agreement.BYTES, facts
    )
    assert orders.possible == 40_320
    assert 30 < orders.tried < 60
    assert orders.refuted == ()
    edits[7] = region_edit("e7", b"f", [Swap(b"3!\n", b"3?\n"), Swap(b"7\n", b"7!\n")])
    orders = try_orders(
        edits, {b"f": b"".join(b"%d\n" % n for n in range(8))}, Agreement.BYTES, facts
    )
    assert orders.refuted
    assert orders.shortest is not None
    assert orders.shortest.order == ("e7", "e3")
    assert {f.code for f in findings(orders)} == {"order-impossible"}


def test_three_that_fail_only_together() -> None:
    """No pair shows it: the counter-example needs all three."""

    def mark(name: str, wanted: set[str]) -> Edit:
        def take(files: Files) -> Files | str:
            seen = (files[b"f"] or b"").decode()
            worse = name == "c" and set(seen) >= wanted and seen != "abc"[: len(seen)]
            return {b"f": (seen + name).encode() if not worse else b"BAD"}

        return Edit(name=name, take=take)

    def same(data: bytes) -> object:
        return data == b"BAD"

    edits = [mark(name, {"a", "b"}) for name in "abc"]
    orders = try_orders(edits, {b"f": b""}, Agreement.SYNTAX, same)
    assert [r.order for r in orders.refuted] == [("b", "a", "c")]
    assert orders.shortest == orders.refuted[0]


def test_only_the_files_along_one_order_are_held() -> None:
    """Every prefix of every order of six is 1,957 trees: of 256 KB each they would be 500 MB."""
    data = b"".join(b"%d\n" % number for number in range(10)) + b"x" * (1 << 18)
    edits = [region_edit(f"e{n}", b"f", [Swap(b"%d\n" % n, b"%d!\n" % n)]) for n in range(6)]
    tracemalloc.start()
    orders = try_orders(edits, {b"f": data}, Agreement.BYTES, facts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (orders.tried, orders.refuted) == (720, ())
    assert peak < 8 << 20


def test_what_orders_may_cost_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = ((b"\n5\n", b"\n5\nfive\n"), (b"\n20\n", b"\ntwenty\n"))
    for limit in ("proof.ORDER_BYTES", "edits.ORDER_SEARCHED_BYTES"):
        made = patched(*edits)
        assert made.codes() == set()
        with monkeypatch.context() as patch:
            patch.setattr(f"verifier.checks.composition.{limit}", 100)
            outcome = made.prove().outcome
        assert {f.code for f in outcome.findings} == {"order-limit"}
        row = next(r for r in outcome.coverage if r.facet == "orders")
        assert row.state is State.NOT_HELD
