"""The closed table of kinds and rules: which rules a kind of study has no use for (FORMATS §6).

Only this table says that a rule does not apply; a receipt cannot.
"""

from typing import Final

from verifier.checks.receipt.document.model import Kind

#: Rules about requests to a server: its counters, its cache, its models and ranks.
_SERVING: Final = frozenset(
    {
        *(f"K{n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15)),
        *("B5", "B6", "B7", "B15", "D5", "D8", "G6"),
        # What happens to a server that is kept running: a command is started anew for each sample.
        *("K13", "K14"),
    }
)
#: Rules about arms that are set against each other.
_ARMS: Final = frozenset(
    {
        *(f"A{n}" for n in range(1, 17)),
        *("B8", "B11", "B12", "B17", "E2", "E3", "E6", "E7", "E9", "E15"),
        *("N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8", "N9"),
        *("D3", "D4", "D6", "D7", "D9", "D10", "T2", "X2", "X3"),
    }
)
#: Rules about requests that only a server has: tokens and caps, stored responses.
_REQUESTS: Final = frozenset({"A10", "E8"})
#: Rules about samples and arms; a suite of tests has counts instead, and rule E11.
_SAMPLES: Final = frozenset({"E1", "E4", "E5", "E12", "E13", "G7", "G8"})
#: Rules about the counts of a test suite. Doubles and skips (X4) are no matter of suites alone: a
#: kernel may have run in an interpreter, a canary against a stub.
_TESTS: Final = frozenset({"E11"})

DOES_NOT_APPLY: Final[dict[Kind, frozenset[str]]] = {
    Kind.SERVING: frozenset(),
    # Every run of a command is a process of its own, so each of them repeats the experiment (N6).
    Kind.TIMING: _SERVING | _REQUESTS | _TESTS | {"B13", "K1", "N6", "X4"},
    Kind.KERNEL: (_SERVING | _REQUESTS | _TESTS | {"K1"}) - {"B5", "B6", "B15"},
    Kind.CANARY: _ARMS
    | _TESTS
    | {"K2", "K3", "K4", "K5", "K6", "K7", "K9", "K10", "K13", "K14"}
    | {"K15", "D8"},
    Kind.TESTS: _SERVING | _ARMS | _SAMPLES | {"B9", "B10", "K1", "E8", "X1", "G9"},
}
