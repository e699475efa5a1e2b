"""What pull requests of the field said, written as receipts: binding, gates, outputs.

Commits, digests and numbers are those of the threads (seeds 000, 002, 003 and 004; two others
are named where they stand); everything around them is the sound receipt.
"""

from typing import Any, Final

import pytest
from support import receipts
from support.receipts import beside_but, claim, digest, less

from verifier.checks.receipt.answer import Broken

# seeds/000: vllm, fine-grained prefix cache
APC: Final = "18daea462848947dbd8999e121ca8ae9f7c56dcf"
APC_BEFORE: Final = "26332fae0cc6927fbda9df76125d7dad4fe15975"
# seeds/002: vllm, concurrent prefill
PREFILL_RUNTIME: Final = "f906ee990596486e10ddbe381efa6f0e496f77e3"
PREFILL_HEAD: Final = "4ffef088edb18797ba2763a84e38fd520d39a0f7"
# seeds/003: continuation coalescing, its pull request and the composition that was measured
COALESCING: Final = "a6c8407645cf5e751711883f24e8822e73dba9a0"
COMPOSED: Final = "abb715f132bdccb592a34b2596a3d3a8d757ffbc"
B12X: Final = "70fe41974ef4b18f61caaa2579c81cdc05d1265f"

FAILURES: Final = [f"case-{number:02}" for number in range(10)]


def commit(text: str) -> dict[str, str]:
    return {"gitCommit": text}


def subject(text: str) -> dict[str, Any]:
    return {"digest": commit(text)}


SAID: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "000: earlier runtime receipts remain tied to their recorded candidate": (
        "B1",
        {"subject.source": subject(APC), "claimHead": commit(APC_BEFORE)},
        "receipt-b1-exact-head",
    ),
    "000: a refreshed head inherits nothing": (
        "B2",
        {"subject.source": subject(APC_BEFORE), "claimHead": commit(APC)},
        "receipt-b2-refreshed-head",
    ),
    "000: the measured coordinator had one more import, disclosed": (
        "B6",
        {
            "runtime.loadedFiles.*.loaded": digest("coordinator with one more import"),
            "deviations": [
                {
                    "what": "the coordinator has one more import",
                    "affects": ["vllm/v1/core/sched/scheduler.py"],
                }
            ],
            "claims": [claim("hits", "cacheHit"), claim("head", "isolatedHead")],
        },
        less("receipt-b6-loaded-bytes-disclosed", "head"),
    ),
    "000: an enabled 64-token alignment is insufficient evidence": (
        "B15",
        {
            "arms.0.activation.*.basis": "alignment",
            "arms.3.activation.*.basis": "alignment",
        },
        less("receipt-b15-activation", "faster"),
    ),
    "000: this does not qualify the full 850K configuration": (
        "G13",
        {"scope.measured": {"contextMax": "131072"}, "claims.0.scope": {"contextMax": "850K"}},
        less("receipt-g13-scope", "faster"),
    ),
    "000: exit 0 or DESCRIPTIVE alone is not a performance PASS": (
        "G5",
        {"outcomes.0.state": "DESCRIPTIVE", "outcomes.0.exitCode": 0},
        less("receipt-g5-not-a-pass", "faster"),
    ),
    "000: we have not independently reproduced that study": (
        "G15",
        {"assurance": "authorReported", "claims": [claim("again", "reproduced")]},
        less("receipt-g15-reproduced", "again"),
    ),
    "000: a performance report cannot fill those gaps": (
        "G12",
        {"outcomes.1": ..., "claims": [claim("safe", "correctness")]},
        less("receipt-g12-separate-gates", "safe"),
    ),
    "000: the same 63/73 checker result and the same ten failures": (
        "X3",
        {"arms.*.failingChecks": FAILURES, "claims": [claim("safe", "noRegression")]},
        "holds",
    ),
    "002: the published head is not what ran": (
        "B1",
        {"subject.source": subject(PREFILL_RUNTIME), "claimHead": commit(PREFILL_HEAD)},
        "receipt-b1-exact-head",
    ),
    "002: older-base publication does not qualify current main": (
        "B14",
        {
            "baseCommit": commit("d8ad1831182412dfc7323d90f4ad91b8d636451e"),
            "targetBranchHead": commit("b3bd1f6928930727b0e9521478340dfd074b16c8"),
        },
        "receipt-b14-base-commit",
    ),
    "002: one truncated trace, two stream time-outs": (
        "G7",
        {
            "samples.12.status": "truncated",
            "samples.13.status": "timedOut",
            "samples.14.status": "timedOut",
        },
        "receipt-g7-broken-stream",
    ),
    "002: B was cancelled; both responses were 200": (
        "G8",
        {"samples.1.status": "cancelled"},
        "receipt-g8-unfinished",
    ),
    "002: the first warm-up returned 404, there were zero measured waves": (
        "G9",
        {
            "samples": [
                {
                    **receipts.samples()[0],
                    "status": "failed",
                    "httpStatus": 404,
                }
            ],
            "derived": [],
        },
        "receipt-g9-nothing-measured",
    ),
    "003: measurements of the composed runtime, not of the exact heads": (
        "B13",
        {
            "subject.source": subject(COMPOSED),
            "runtime.composed": True,
            "runtime.components": [
                {"name": "vllm", "digest": commit(COMPOSED)},
                {"name": "b12x", "digest": commit(B12X)},
            ],
            "claims": [claim("coalescing", "isolatedHead"), claim("both", "improvement")],
        },
        less("receipt-b13-composition", "coalescing"),
    ),
    "003: the standalone revision has not run GPU validation": (
        "B1",
        {"subject.source": subject(COMPOSED), "claimHead": commit(COALESCING)},
        "receipt-b1-exact-head",
    ),
    "003: it cannot isolate either feature's speedup": (
        "B12",
        {
            "arms.0.settings": {"FINE": "1", "DEPTH": "3"},
            "arms.3.settings": {"FINE": "1", "DEPTH": "3"},
            "design.differingSettings": ["FINE", "DEPTH"],
            "claims": [claim("one", "attribution", feature="FINE"), claim("both", "improvement")],
        },
        less("receipt-b12-declared-settings-several", "one"),
    ),
    "003: TP2 is not qualified by this submission": (
        "G13",
        {
            "scope.measured": {"topology": "TP4/DCP1, TP4/DCP2"},
        },
        less("receipt-g13-scope", "faster"),
    ),
    "003: GPU operations in the suites use CPU doubles": (
        "X4",
        {"outcomes.1.execution": "double", "claims": [claim("right", "correctness")]},
        less("receipt-x4-stand-ins", "right"),
    ),
    "003: research-only": ("G16", {"status": "research-only"}, "holds"),
    "004: kv_cache_manager.py: ee03dc9c… to c5b83d38…": (
        "B3",
        {
            "runtime.loadedFiles.0.recorded": {"sha256": "ee03dc9c…"},
            "runtime.loadedFiles.0.loaded": {"sha256": "c5b83d38…"},
        },
        "receipt-b3-full-digests",
    ),
    "004: deployable source SHA-25601cc…": (
        "B4",
        {
            "runtime.loadedFiles.0.recorded": {
                "sha256": "SHA-25601cc59bf2c45af60f02813b771a484e65829e4f464eb27aa1756ca7067c82c9f"
            }
        },
        "receipt-b4-whole-digests",
    ),
    "004: two identities in one run of 128 digits": (
        "B4",
        {
            "runtime.loadedFiles.0.recorded": {
                "sha256": "5a6561a5bbab990dcd03bfd6a485ea26c3b5a578c2fd61b76305767b16dbfba0"
                "4a23f25b540760aa3f793427017e3ee39605e60de7af1b851cbbd6cc0faeddec"
            }
        },
        "receipt-b4-whole-digests",
    ),
    "flashinfer 4765: 301 of 354 rows": (
        "G10",
        {"outcomes.1.rows": {"passed": 301, "of": 354}},
        "receipt-g10-every-row",
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_what_the_field_said(said: str) -> None:
    rule, changes, found = SAID[said]
    document = receipts.spoilt(changes)
    assert receipts.found(rule, document, beside_but(head=None)) == found


def test_both_broken_trials_are_named_by_their_rows() -> None:
    _, changes, _ = SAID["002: one truncated trace, two stream time-outs"]
    answer = receipts.answer("G7", receipts.spoilt(changes))
    assert isinstance(answer, Broken)
    assert answer.got == (
        "samples[12]: A1 truncated; samples[13]: A1 timedOut; samples[14]: A1 timedOut"
    )
