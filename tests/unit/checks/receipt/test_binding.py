"""Rules B: each broken in every way that its text names, and each without what it needs.

A row gives a rule, what is changed, and what is found: the code with the claims that are taken
away, `holds` or `uncheckable`. `beside` is what is given beside the receipt, changed.
"""

from typing import Any, Final, NamedTuple

import pytest
from support import receipts
from support.receipts import BASE, COMMIT, OTHER_COMMIT, beside_but, claim, digest, less

from verifier.checks.receipt.study import Other
from verifier.core.digest import Pin

Json = dict[str, Any]
OTHER: Final = {"gitCommit": OTHER_COMMIT}
SCHEDULER: Final = "vllm/v1/core/sched/scheduler.py"
CLAIMS: Final = [
    claim("faster", "improvement", feature="FINE"),
    claim("owed", "attribution", feature="FINE"),
    claim("head", "isolatedHead"),
    claim("tool", "publishedTool"),
    claim("number", "measured"),
]


class Case(NamedTuple):
    rule: str
    changes: Json
    found: str
    beside: Json = {}  # noqa: RUF012  (never changed)


def hex_of(name: str) -> str:
    text: str = digest(name)["sha256"]
    return text


def equal(measured: str = "scheduler", head: str = "scheduler") -> Json:
    return {"path": SCHEDULER, "measured": digest(measured), "head": digest(head)}


def loaded(rank: int, *, now: str = "scheduler", then: str = "scheduler") -> Json:
    return {"rank": rank, "path": SCHEDULER, "loaded": digest(now), "recorded": digest(then)}


def deviation(*affects: str) -> list[Json]:
    return [{"what": "one more import", "affects": list(affects)}]


def other(name: str, *, supersedes: str | None = None, key: str = "fine-cache-2026-11-20") -> Other:
    return Other(id=key, sha256=hex_of(name), supersedes=supersedes, figures={"median": "3012500"})


def copied(value: str = "3012500", *, figure: str = "median") -> Json:
    return {"receipt": digest("source"), "figure": figure, "value": value}


#: A workload and its normal form; two arms that ran the same in other bytes.
FORM_AT: Final = (hex_of("workload"), "sorted-json")
OTHER_FORM_AT: Final = (hex_of("another"), "sorted-json")
TWO_FILES: Final = {
    "arms.1.workload": digest("another"),
    "workloads": [
        {
            "id": name,
            "source": digest(name),
            "normalisation": "sorted-json",
            "producer": digest("producer"),
        }
        for name in ("workload", "another")
    ],
}
REFERENCE: Final = {
    "repository": "https://github.test/profiles",
    "commit": {"gitCommit": BASE},
    "path": "receipts/matrix.json",
    "blob": {"gitBlob": "9f" * 20},
}
PLACE: Final = (REFERENCE["repository"], BASE, REFERENCE["path"])

HEADS: Final = [
    Case("B1", {"claimHead": OTHER}, "receipt-b1-exact-head"),
    Case("B1", {}, "receipt-b1-exact-head", {"head": OTHER_COMMIT}),
    Case("B1", {"runtime.dirtyTree": True}, "receipt-b1-exact-head-dirty"),
    Case("B1", {"subject.source": ...}, "uncheckable"),
    Case("B1", {"subject.source": {"digest": {"gitCommit": COMMIT[:12]}}}, "uncheckable"),
    Case("B1", {"claimHead": {"gitCommit": COMMIT[:12]}}, "uncheckable"),
    Case("B1", {"claimHead": ...}, "uncheckable", {"head": None}),
    Case("B1", {"claimHead": ...}, "holds"),
    Case("B1", {"runtime.dirtyTree": ...}, "holds"),
    # An equality proof stands for the head that the receipt names, for no other one.
    Case("B1", {"claimHead": OTHER, "equality": [equal()]}, "holds", {"head": OTHER_COMMIT}),
    Case(
        "B1", {"claimHead": OTHER, "equality": [equal()]}, "receipt-b1-exact-head", {"head": BASE}
    ),
    Case(
        "B1",
        {"claimHead": OTHER, "equality": [equal(head="edited")]},
        "receipt-b1-exact-head",
        {"head": OTHER_COMMIT},
    ),
    Case("B2", {"claimHead": OTHER, "equality": [equal()]}, "holds", {"head": OTHER_COMMIT}),
    Case("B2", {"claimHead": OTHER}, "receipt-b2-refreshed-head", {"head": None}),
    Case("B2", {}, "receipt-b2-refreshed-head", {"head": OTHER_COMMIT}),
    Case("B2", {"equality": [equal()]}, "receipt-b2-refreshed-head", {"head": OTHER_COMMIT}),
    Case("B2", {"equality": [equal(head="edited")]}, "receipt-b2-refreshed-head"),
    Case(
        "B2",
        {"claimHead": OTHER, "equality": [{**equal(), "path": "another.py"}]},
        "receipt-b2-refreshed-head",
        {"head": OTHER_COMMIT},
    ),
    Case(
        "B2",
        {"claimHead": OTHER, "equality": [equal("elsewhere", "elsewhere")]},
        "receipt-b2-refreshed-head",
        {"head": OTHER_COMMIT},
    ),
    Case(
        "B2",
        {"claimHead": OTHER, "equality": [equal()], "runtime.loadedFiles": ...},
        "receipt-b2-refreshed-head",
        {"head": None},
    ),
    Case("B2", {"equality": [{"path": SCHEDULER, "measured": digest("scheduler")}]}, "holds"),
    Case("B2", {"subject.source": ...}, "uncheckable"),
    Case("B2", {"claimHead": ...}, "uncheckable", {"head": None}),
    Case("B14", {"targetBranchHead": OTHER}, "receipt-b14-base-commit"),
    Case("B14", {"baseCommit": ...}, "uncheckable"),
    Case("B14", {"targetBranchHead": ...}, "uncheckable"),
    Case("B14", {"baseCommit": {"gitCommit": BASE[:7]}}, "uncheckable"),
]

DIGESTS: Final = [
    Case("B3", {"collector.executable": {"sha256": "ee03dc9c…"}}, "receipt-b3-full-digests"),
    Case("B3", {"collector.executable": {"sha256": "bf582e4e"}}, "receipt-b3-full-digests"),
    Case("B3", {"claimHead": {"gitCommit": COMMIT[:12]}}, "receipt-b3-full-digests"),
    Case("B3", {"samples.7.request": {"sha256": "c5b83d38…"}}, "receipt-b3-full-digests"),
    Case("B3", {"samples.7.epoch": {"sha256": "c5b83d38"}}, "receipt-b3-full-digests"),
    Case("B3", {"collector.executable": {"sha256": "SHA-25601cc"}}, "holds"),
    Case("B4", {"collector.executable": {"sha256": "5a" * 64}}, "receipt-b4-whole-digests"),
    Case(
        "B4",
        {"collector.executable": {"sha256": "SHA-256" + "01" * 32}},
        "receipt-b4-whole-digests",
    ),
    Case("B4", {"collector.executable": {"sha256": "AB" * 32}}, "receipt-b4-whole-digests"),
    Case("B4", {"claimHead": {"gitCommit": "4a" * 21}}, "receipt-b4-whole-digests"),
    Case("B4", {"samples.7.response": {"sha256": "5a" * 64}}, "receipt-b4-whole-digests"),
    Case("B4", {"collector.executable": {"sha256": "ee03dc9c…"}}, "holds"),
    Case("B4", {"samples.7.request": {"sha256": "c5b83d38…"}}, "holds"),
]

RUNTIME: Final = [
    Case("B5", {"runtime.images.1.id": digest("another")}, "receipt-b5-one-image"),
    Case("B5", {"runtime.images.1.registryDigest": digest("another")}, "receipt-b5-one-image"),
    Case("B5", {"runtime.images.*.id": digest("manifest")}, "receipt-b5-one-image-kinds"),
    Case("B5", {"subject.image": {"digest": digest("old")}}, "receipt-b5-one-image-subject"),
    Case("B5", {"subject.image": {"digest": digest("manifest")}}, "holds"),
    Case("B5", {"runtime.images.*.registryDigest": ...}, "holds"),
    Case(
        "B5",
        {"runtime.images.*.registryDigest": ..., "subject.image": {"digest": digest("manifest")}},
        "uncheckable",
    ),
    Case("B5", {"subject.image": ...}, "uncheckable"),
    Case("B5", {"runtime": ...}, "uncheckable"),
    Case("B5", {"runtime.images": []}, "uncheckable"),
    Case("B5", {"runtime.images.1.rank": 2}, "uncheckable"),
    Case("B5", {"runtime.images.1.rank": 1 << 53}, "uncheckable"),
    Case(
        "B5",
        {"runtime.images.1.rank": 0, "runtime.images.0.id": digest("another")},
        "receipt-b5-one-image",
    ),
    Case("B5", {"runtime.images.1": ...}, "uncheckable"),
    Case(
        "B5",
        {"runtime.images.0.id": ..., "runtime.images.1.registryDigest": ...},
        "uncheckable",
    ),
    Case("B6", {"runtime.loadedFiles.1.loaded": digest("patched")}, "receipt-b6-loaded-bytes"),
    Case(
        "B6",
        {"runtime.loadedFiles.1": loaded(1, now="patched", then="patched")},
        "receipt-b6-loaded-bytes",
    ),
    Case(
        "B6",
        {
            "runtime.loadedFiles.1": loaded(1, now="patched"),
            "deviations": deviation("another/file.py"),
        },
        "receipt-b6-loaded-bytes",
    ),
    Case(
        "B6",
        {
            "runtime.loadedFiles.1": loaded(1, now="patched"),
            "deviations": deviation(SCHEDULER, "B1"),
            "claims": [
                claim("head", "isolatedHead", arms=["A1"]),
                claim("there", "measured", arms=["B1"]),
                claim("elsewhere", "measured", arms=["A1"]),
                claim("whole", "measured"),
            ],
        },
        less("receipt-b6-loaded-bytes-disclosed", "head there whole"),
    ),
    Case(
        "B6",
        {
            "runtime.loadedFiles.1": loaded(1, now="patched"),
            "deviations": [*deviation(SCHEDULER), *deviation("another.py", "B1")],
            "claims": CLAIMS,
        },
        less("receipt-b6-loaded-bytes-disclosed", "head owed"),
    ),
    Case("B6", {"runtime.loadedFiles": []}, "uncheckable"),
    Case("B6", {"runtime": ...}, "uncheckable"),
    Case("B6", {"runtime.loadedFiles.1.recorded": ...}, "uncheckable"),
    Case("B6", {"runtime.loadedFiles": [loaded(0)]}, "uncheckable"),
    Case("B7", {"models.0.revision": {"gitCommit": "main"}}, "receipt-b7-model-revisions"),
    Case("B7", {"models.1.revision": {"gitCommit": "8e8e8e8e"}}, "receipt-b7-model-revisions"),
    Case("B7", {"models.1": ...}, "receipt-b7-model-revisions"),
    Case("B7", {"models.0.revision": ...}, "uncheckable"),
    Case("B7", {"models.2": ...}, "uncheckable"),
    Case("B7", {"models.1": ..., "samples.*.counterDeltas": {"drafts": 0}}, "holds"),
    Case(
        "B13",
        {"runtime.composed": True, "claims": CLAIMS},
        less("receipt-b13-composition", "head"),
    ),
    Case(
        "B13",
        {"runtime.components.0.digest": OTHER, "claims": CLAIMS},
        less("receipt-b13-composition", "head"),
    ),
    Case("B13", {"runtime.composed": True}, "holds"),
    Case("B13", {"runtime.composed": True, "runtime.components.0.digest": ...}, "uncheckable"),
    Case("B13", {"runtime.components": []}, "uncheckable"),
    Case("B13", {"runtime.composed": ...}, "uncheckable"),
    Case("B13", {"subject.source": ...}, "uncheckable"),
    Case("B13", {"runtime": ...}, "uncheckable"),
]

TOOLS: Final = [
    Case("B8", {"arms.2.collector": digest("rebuilt")}, "receipt-b8-one-collector"),
    Case("B8", {"collector.executable": digest("rebuilt")}, "receipt-b8-one-collector"),
    Case("B8", {"arms.2.collector": ...}, "uncheckable"),
    Case("B8", {"collector": ...}, "uncheckable"),
    Case("B8", {"arms": []}, "uncheckable"),
    Case("B8", {"arms.2.collector": ..., "arms.2.state": "notStarted"}, "holds"),
    Case(
        "B9",
        {"claims": CLAIMS},
        less("receipt-b9-published-tool-staging", "tool"),
        {"staging": frozenset({hex_of("collector")})},
    ),
    Case(
        "B9",
        {"claims": CLAIMS},
        less("receipt-b9-published-tool", "tool"),
        {"published": frozenset()},
    ),
    Case(
        "B9",
        {},
        "receipt-b9-published-tool",
        {"published": frozenset({hex_of("collector archive")})},
    ),
    Case("B9", {"collector.executable": ...}, "uncheckable"),
    Case("B9", {"collector": ...}, "uncheckable"),
    Case(
        "B10",
        {},
        "receipt-b10-workload-bytes",
        {"files": {"workload.json": Pin(sha256=hex_of("edited"), length=512)}},
    ),
    Case("B10", {"workloads.0.source": digest("edited")}, "receipt-b10-workload-bytes"),
    Case(
        "B10",
        {"workloads.0.normalised": digest("edited")},
        "receipt-b10-workload-bytes-normalised",
    ),
    Case("B10", {}, "uncheckable", {"files": None}),
    Case("B10", {}, "uncheckable", {"normalised": None}),
    Case("B10", {"workloads.0.source": ...}, "uncheckable"),
    Case("B10", {"workloads": []}, "uncheckable"),
    Case("B10", {"workloads.0.file": ...}, "holds"),
    Case("B10", {}, "uncheckable", {"normalised": {}, "formless": {FORM_AT: "not JSON"}}),
    Case("B10", {"workloads.0.normalisation": ...}, "uncheckable"),
    Case("B11", TWO_FILES, "holds", {"normalised": {FORM_AT: "aa", OTHER_FORM_AT: "aa"}}),
    Case(
        "B11",
        TWO_FILES,
        "receipt-b11-one-workload",
        {"normalised": {FORM_AT: "aa", OTHER_FORM_AT: "bb"}},
    ),
    Case("B11", TWO_FILES, "receipt-b11-one-workload", {"normalised": {FORM_AT: "aa"}}),
    Case("B11", TWO_FILES, "receipt-b11-one-workload", {"normalised": None}),
    Case(
        "B11",
        {"arms.1.workload": digest("another")},
        "receipt-b11-one-workload",
        {"normalised": {FORM_AT: "aa", OTHER_FORM_AT: "aa"}},
    ),
    Case("B11", {"arms.1.workload": digest("another")}, "receipt-b11-one-workload"),
    Case("B11", {"arms.*.workload": digest("another")}, "receipt-b11-one-workload"),
    Case("B11", {"arms.1.workload": ...}, "uncheckable"),
    Case("B11", {"workloads": []}, "uncheckable"),
    Case("B11", {"arms": []}, "uncheckable"),
    Case("B11", {"workloads.0.producer": ...}, "uncheckable"),
    Case("B11", {"workloads.0.producer": ..., "workloads.0.generated": False}, "holds"),
]

SETTINGS: Final = [
    Case(
        "B12",
        {"arms.0.settings.DEPTH": "3", "claims": CLAIMS},
        less("receipt-b12-declared-settings", "faster owed"),
    ),
    Case(
        "B12",
        {"arms.0.settings.DEPTH": "3", "claims.0.arms": ["Z"]},
        less("receipt-b12-declared-settings", "faster"),
    ),
    Case("B12", {"arms.0.settings.NEW": "1"}, less("receipt-b12-declared-settings", "faster")),
    Case(
        "B12",
        {
            "arms.0.settings.DEPTH": "3",
            "claims": [claim("between", "equivalence", arms=["A1", "A2"])],
        },
        "receipt-b12-declared-settings",
    ),
    Case(
        "B12",
        {
            "arms.0.settings.DEPTH": "3",
            "design.differingSettings": ["FINE", "DEPTH"],
            "claims": CLAIMS,
        },
        less("receipt-b12-declared-settings-several", "owed"),
    ),
    Case(
        "B12",
        {"arms.0.settings.DEPTH": "3", "design.differingSettings": ["FINE", "DEPTH"]},
        "holds",
    ),
    Case("B12", {"arms.1.settings": {"DEPTH": "2"}}, "uncheckable"),
    Case("B12", {"arms.1.settings": {}}, "uncheckable"),
    Case("B12", {"claims": CLAIMS}, "holds"),
    Case("B12", {"design": ...}, "uncheckable"),
    Case("B12", {"arms": []}, "uncheckable"),
    Case("B15", {"arms.0.activation.1": ...}, less("receipt-b15-activation", "faster")),
    Case("B15", {"arms.3.activation.0": ...}, less("receipt-b15-activation", "faster")),
    Case(
        "B15",
        {"arms.0.activation.0.state": "notObserved"},
        less("receipt-b15-activation", "faster"),
    ),
    Case("B15", {"arms.0.activation.0.basis": "flag"}, less("receipt-b15-activation", "faster")),
    Case(
        "B15", {"arms.0.activation.0.basis": "alignment"}, less("receipt-b15-activation", "faster")
    ),
    Case("B15", {"arms.0.activation.0.basis": "counter"}, "holds"),
    Case(
        "B15",
        {
            "arms.0.activation.0.basis": "flag",
            "claims": [
                claim(f"on {arm}", "improvement", feature="FINE", arms=[arm])
                for arm in ("B1", "B2")
            ],
        },
        "receipt-b15-activation on B1",
    ),
    Case("B15", {"arms.0.activation": []}, "uncheckable"),
    Case("B15", {"arms.0.activation.0.evidence": ...}, "uncheckable"),
    Case("B15", {"arms.0.activation.0.basis": ...}, "uncheckable"),
    Case("B15", {"claims": [claim("on", "activation")]}, "uncheckable"),
    Case("B15", {"claims.0.arms": ["A1", "A2"]}, "uncheckable"),
    Case("B15", {"claims.0.feature": ...}, "holds"),
    Case("B17", {"arms.0.settings.DEPTH": "3"}, "receipt-b17-planned-settings"),
    Case("B17", {"arms.0.plannedSettings.DEPTH": ...}, "receipt-b17-planned-settings"),
    Case("B17", {"arms.0.settings.DEPTH": ...}, "receipt-b17-planned-settings"),
    Case("B17", {"arms.0.plannedSettings": ...}, "uncheckable"),
    Case("B17", {"arms": []}, "uncheckable"),
    Case("B21", {"environment.clock": ...}, less("receipt-b21-environment", "faster")),
    Case(
        "B21",
        {"environment": ..., "claims": CLAIMS},
        less("receipt-b21-environment", "faster owed"),
    ),
    Case(
        "B21",
        {"arms.0.environment": {"hardware": "GB10"}},
        less("receipt-b21-environment", "faster"),
    ),
    Case(
        "B21",
        {
            "arms.0.environment": {
                **receipts.sound()["predicate"]["environment"],
                "driver": "590.0",
            }
        },
        less("receipt-b21-environment-differs", "faster"),
    ),
]

SOURCES: Final = [
    Case(
        "B16",
        {},
        "receipt-b16-evidence-bytes",
        {"files": {"capture.tar": Pin(sha256=hex_of("edited"), length=16384)}},
    ),
    Case(
        "B16",
        {},
        "receipt-b16-evidence-bytes",
        {"files": {"capture.tar": Pin(sha256=hex_of("capture"), length=16385)}},
    ),
    Case(
        "B16",
        {"arms.1.captures.0.evidence.digest": digest("edited")},
        "receipt-b16-evidence-bytes",
    ),
    Case("B16", {"evidence.0.bytes": 0}, "receipt-b16-evidence-bytes"),
    Case("B16", {"evidence.0.bytes": ...}, "holds"),
    Case("B16", {}, "uncheckable", {"files": None}),
    Case("B16", {}, "uncheckable", {"files": {}, "problems": {"capture.tar": "is a link"}}),
    Case("B16", {"evidence.0.digest": ...}, "uncheckable"),
    Case(
        "B16",
        {"summarises": {"name": "private.json", "digest": digest("p"), "published": False}},
        "uncheckable",
    ),
    Case("B16", {"evidence": [], "arms.*.captures": []}, "holds", {"files": None}),
    Case("B18", {"references": [REFERENCE]}, "holds", {"blobs": {PLACE: "9f" * 20}}),
    Case(
        "B18",
        {"references": [REFERENCE]},
        "receipt-b18-references",
        {"blobs": {PLACE: "8f" * 20}},
    ),
    Case("B18", {"references": [REFERENCE]}, "receipt-b18-references", {"blobs": {PLACE: None}}),
    Case("B18", {"references": [REFERENCE]}, "uncheckable"),
    Case(
        "B18",
        {"references": [{name: REFERENCE[name] for name in ("repository", "commit", "path")}]},
        "uncheckable",
        {"blobs": {PLACE: "9f" * 20}},
    ),
    Case("B18", {"references": [{**REFERENCE, "commit": {"gitCommit": "main"}}]}, "uncheckable"),
    Case("B19", {"derived.0.copiedFrom": copied()}, "holds", {"others": (other("source"),)}),
    Case("B19", {"derived.0.copiedFrom": copied()}, "uncheckable"),
    Case("B19", {"derived.0.copiedFrom": copied("3012501")}, "receipt-b19-copied-figures"),
    Case(
        "B19",
        {"derived.0.copiedFrom": copied("3012501"), "derived.0.value": "3012501"},
        "receipt-b19-copied-figures",
        {"others": (other("source"),)},
    ),
    Case(
        "B19",
        {"derived.0.copiedFrom": copied(figure="mean")},
        "receipt-b19-copied-figures",
        {"others": (other("source"),)},
    ),
    Case("B20", {}, "receipt-b20-silent-edit", {"others": (other("old"),)}),
    Case("B20", {"supersedes": digest("old")}, "holds", {"others": (other("old"),)}),
    Case("B20", {}, "holds", {"others": (other("old", key="another study"),)}),
    Case(
        "B20",
        {"supersedes": digest("middle")},
        "holds",
        {"others": (other("old"), other("middle", supersedes=hex_of("old")))},
    ),
    Case(
        "B20",
        {"supersedes": digest("old")},
        "receipt-b20-silent-edit",
        {"others": (other("old"), other("fork", supersedes=hex_of("old")))},
    ),
    Case("B20", {"supersedes": digest("middle")}, "uncheckable", {"others": (other("old"),)}),
    Case("B20", {"supersedes": {"sha256": "ae5ad50"}}, "uncheckable"),
]


@pytest.mark.parametrize(
    "case", [*HEADS, *DIGESTS, *RUNTIME, *TOOLS, *SETTINGS, *SOURCES], ids=lambda c: c.rule
)
def test_what_is_found(case: Case) -> None:
    document = receipts.spoilt(case.changes)
    assert receipts.found(case.rule, document, beside_but(**case.beside)) == case.found


def places(value: Any, at: str = "") -> list[str]:
    """Return the dotted path of every digest below `value`."""
    if isinstance(value, dict):
        if value.keys() & {"sha256", "gitCommit"}:
            return [f"{at}.{next(iter(value))}"]
        return [p for key, below in value.items() for p in places(below, f"{at}.{key}")]
    if isinstance(value, list):
        return [p for number, below in enumerate(value) for p in places(below, f"{at}.{number}")]
    return []


def test_no_digest_of_a_receipt_may_be_spelt_otherwise() -> None:
    """Shortened anywhere it binds nothing, run together with anything it is no digest."""
    predicate = receipts.sound()["predicate"]
    every = [p[1:] for p in places({k: v for k, v in predicate.items() if k != "samples"})]
    every += [p[1:] for p in places({"samples": {"11": predicate["samples"][11]}})]
    assert len(every) > 50
    for path in every:
        kind = path.rpartition(".")[2]
        whole = "c" * (64 if kind == "sha256" else 40)
        short = receipts.change(receipts.sound(), path, whole[:-1])
        assert receipts.found("B3", short) == "receipt-b3-full-digests", path
        joined = receipts.change(receipts.sound(), path, f"{kind}:{whole}")
        assert receipts.found("B4", joined) == "receipt-b4-whole-digests", path


def test_a_receipt_without_any_digest_binds_nothing() -> None:
    document = {
        "subject": [],
        "predicate": {
            "receiptId": "bare",
            "kind": "command-timing",
            "reporter": "somebody",
            "assurance": "authorReported",
        },
    }
    assert receipts.found("B3", document) == "uncheckable"
    assert receipts.found("B4", document) == "uncheckable"
