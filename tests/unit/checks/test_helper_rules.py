"""Rules of the helper check that the example lineage has no occasion for, on tiny lineages."""

import hashlib
import sys
import tomllib
from typing import Any, Final

import pytest
from support import hosts
from support.lineages import ENTRY, REGION, verdict

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.checks.helper import check
from verifier.core.coverage import State
from verifier.core.demand import HelperDemand, Pristine
from verifier.core.outcome import Outcome
from verifier.core.strict import write_toml
from verifier.core.verdict import Verdict


def pin(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "length": len(data)}


def entry(**changes: Any) -> dict[str, Any]:
    return {**tomllib.loads(ENTRY.read_text()), **changes}


def lineage(value: dict[str, Any]) -> Lineage:
    return parse(write_toml(value), "an entry")


def codes(outcome: Outcome) -> set[str]:
    return {finding.code for finding in outcome.findings} - {"helper-rest-not-attested"}


def revoking(*ids: str) -> Lineage:
    value = entry()
    for version in value["version"]:
        if version["id"] in ids:
            version |= {"status": "revoked", "reason": "it starves one owner"}
    return lineage(value)


def test_a_revoked_version_is_rejected_with_the_reason() -> None:
    outcome = check(hosts.host("v5"), revoking("v5"), demand=REGION)
    assert codes(outcome) == {"helper-revoked"}
    assert outcome.findings[0].cause == "it starves one owner"
    assert verdict(outcome) is Verdict.REJECTED


def test_a_sibling_of_a_revoked_version_stands() -> None:
    outcome = check(hosts.host("v5"), revoking("v5-main"), demand=REGION)
    assert codes(outcome) == set()
    assert verdict(outcome) is Verdict.VERIFIED


def test_a_policy_cannot_accept_a_revoked_version() -> None:
    demand = HelperDemand(facets=REGION.facets, accept=frozenset({"example-fair-queue/v5"}))
    assert verdict(check(hosts.host("v5"), revoking("v5"), demand=demand)) is Verdict.REJECTED


MARK: Final = b"# [tiny:v1]"
HOST: Final = b"def f(x):\n    x = 1\n    x = 2\n    return x\n"
HELPER: Final = b"\ndef _tiny(x):  # [tiny:v1]\n    return x\n\n\n"
A_OLD, A_NEW = b"    x = 1\n", b"    x = 1\n    x = _tiny(x)  # [tiny:v1]\n"
B_OLD, B_NEW = b"    x = 2\n", b"    x = 2\n    x = _tiny(x)  # [tiny:v1]\n"
INSERTED: Final = b"    x = _tiny(x)  # [tiny:v1]\n"


def site(name: str, new: bytes, old: bytes, **changes: Any) -> dict[str, Any]:
    offset = new.index(INSERTED)
    return {
        "name": name,
        "new": pin(new),
        "old": pin(old),
        "inserted": [{"offset": offset, **pin(INSERTED)}],
        "marker_offsets": [new.index(MARK)],
        "within": "f",
        **changes,
    }


def tiny(*sites: dict[str, Any], **version: Any) -> dict[str, Any]:
    return {
        "schema": "helper/v1",
        "name": "tiny",
        "project": "tests",
        "language": "python",
        "host": "host.py",
        "marker_prefix": "# [tiny",
        "current": "v1",
        "owned_names": ["_tiny"],
        "end_anchor": [{"name": "f", "text": "def f(x):\n"}],
        "base": [{"name": "clean", "sha256": hashlib.sha256(b"import re\n\n" + HOST).hexdigest()}],
        "version": [
            {
                "id": "v1",
                "aliases": ["first"],
                "status": "supported",
                "marker": MARK.decode(),
                "first_line": "def _tiny(x):",
                "first_line_offset": 1,
                "span": "raw/v1",
                **pin(HELPER),
                "marker_offsets": [HELPER.index(MARK)],
                "binds": ["_tiny"],
                "required_imports": [],
                "sites": "v1",
                "reads": {"module": [], "builtins": []},
                **version,
            }
        ],
        "sites": {"v1": list(sites) or [site("a", A_NEW, A_OLD), site("b", B_NEW, B_OLD)]},
    }


def installed(helper: bytes = HELPER) -> bytes:
    return b"import re\n" + helper + HOST.replace(A_OLD, A_NEW).replace(B_OLD, B_NEW)


def test_the_tiny_lineage_holds_and_its_length_was_never_published() -> None:
    host = b"import re\n\n" + HELPER + HOST.replace(A_OLD, A_NEW).replace(B_OLD, B_NEW)
    outcome = check(host, lineage(tiny()), demand=REGION)
    assert codes(outcome) == set()
    states = {covered.facet: covered.state for covered in outcome.coverage}
    assert states["whole-file"] is State.HELD_LENGTH_NOT_PINNED
    assert states["scope"] is State.HELD


def test_a_version_is_known_by_its_alias() -> None:
    demand = HelperDemand(facets=REGION.facets, expect="first")
    assert codes(check(installed(), lineage(tiny()), demand=demand)) == set()


def test_two_sites_that_share_a_byte_are_rejected() -> None:
    """The second block begins with the last line of the first."""
    b_new = INSERTED + b"    x = 2\n" + INSERTED
    shared = tiny(
        site("a", A_NEW, A_OLD),
        site(
            "b",
            b_new,
            INSERTED + b"    x = 2\n",
            inserted=[{"offset": len(b_new) - len(INSERTED), **pin(INSERTED)}],
            marker_offsets=[len(b_new) - len(INSERTED) + INSERTED.index(MARK)],
        ),
    )
    outcome = check(installed(), lineage(shared), demand=REGION)
    assert "helper-site-overlap" in codes(outcome)
    assert verdict(outcome) is Verdict.REJECTED


def test_an_entry_that_contradicts_itself_is_rejected() -> None:
    wrong = tiny(site("a", A_NEW, b"    y = 1\n"), site("b", B_NEW, B_OLD))
    outcome = check(installed(), lineage(wrong), demand=REGION)
    assert codes(outcome) == {"helper-site-context"}
    assert verdict(outcome) is Verdict.REJECTED


def test_a_site_that_its_host_decorates_may_be_decorated() -> None:
    host = installed().replace(b"def f(x):", b"@str\ndef f(x):")
    anchored = {"end_anchor": [{"name": "f", "text": "@str\ndef f(x):\n"}]}
    plain = lineage({**tiny(), **anchored})
    assert codes(check(host, plain, demand=REGION)) == {"helper-site-decorated"}
    sites = [
        site("a", A_NEW, A_OLD, decorated=True),
        site("b", B_NEW, B_OLD, decorated=True),
    ]
    assert codes(check(host, lineage({**tiny(*sites), **anchored}), demand=REGION)) == set()


# Regions with sentinels, and sites without markers (FORMATS §2).

BEGIN, END = b"# >>> tiny\n", b"# <<< tiny\n"
REGION_TEXT: Final = BEGIN + b"def _tiny(x):  # [tiny:v1]\n    return x\n" + END


def sentinel(**changes: Any) -> Lineage:
    value = tiny(
        site("a", A_NEW, A_OLD, marker_offsets=[]), site("b", B_NEW, B_OLD, marker_offsets=[])
    )
    version = value["version"][0]
    del version["first_line"], version["first_line_offset"]
    version |= {
        **pin(REGION_TEXT),
        "sentinels": {"begin": BEGIN.decode(), "end": END.decode()},
        "marker_offsets": [REGION_TEXT.index(MARK)],
        **changes,
    }
    return lineage(value)


def test_a_region_with_sentinels_is_verified() -> None:
    outcome = check(installed(REGION_TEXT), sentinel(), demand=REGION)
    assert codes(outcome) == set()
    assert verdict(outcome) is Verdict.VERIFIED
    assert outcome.identified[0].end_anchor is None


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"return x\n# <<<", b"return 0\n# <<<", "helper-drifted"),
        (END, b"", "helper-displaced"),
        (END, END + END, "helper-displaced"),
        (BEGIN, BEGIN + BEGIN, "helper-repeated"),
        (BEGIN, b"pass; " + BEGIN, "helper-displaced"),
        (BEGIN, b"", "helper-missing"),
        (A_NEW, A_OLD, "helper-site-missing"),
        (B_NEW, B_NEW + B_NEW, "helper-site-repeated"),
    ],
)
def test_a_region_with_sentinels_is_refused(old: bytes, new: bytes, code: str) -> None:
    host = installed(REGION_TEXT)
    assert host.count(old) == 1
    outcome = check(host.replace(old, new), sentinel(), demand=REGION)
    assert code in codes(outcome)
    assert verdict(outcome) is Verdict.REJECTED


def test_pristine_is_verified_only_where_the_policy_says_so() -> None:
    clean = hosts.host("clean")
    known = lineage(entry())
    assert verdict(check(clean, known, demand=REGION)) is Verdict.UNDECIDED
    accepting = HelperDemand(facets=REGION.facets, pristine=Pristine.VERIFIED)
    assert verdict(check(clean, known, demand=accepting), accepting) is Verdict.VERIFIED
    assert verdict(check(clean + b"\n", known, demand=accepting), accepting) is Verdict.UNDECIDED


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the grammar of Python 3.12")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"class Queue:", b"class Queue[bool]:"),
        (b"class Queue:", b"class Queue[min]:"),
        (b"def push(self,", b"def push[min](self,"),
    ],
)
def test_a_type_parameter_that_shadows_a_builtin_is_rejected(old: bytes, new: bytes) -> None:
    host = hosts.host("v6").replace(old, new)
    assert host != hosts.host("v6")
    outcome = check(host, lineage(entry()), demand=REGION)
    assert "helper-builtin-shadowed" in codes(outcome)
    assert verdict(outcome) is Verdict.REJECTED
