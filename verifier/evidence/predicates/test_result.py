"""Test Result v0.1: one run of a suite (in-toto/attestation, spec/predicates/test-result.md)."""

from typing import Final

from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.resource import Resource, resources, uri

TYPE: Final = "https://in-toto.io/attestation/test-result/v0.1"
FAILED: Final = "FAILED"
RESULTS: Final = ("PASSED", "WARNED", FAILED)


@frozen
class TestResult:
    """The result of a run, what configured it, and the names of its tests by how they ended."""

    __test__ = False  # pytest collects what is called so

    result: str
    configuration: tuple[Resource, ...]
    url: str
    passed: tuple[str, ...]
    warned: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """What may be demanded that it says."""
        return frozenset({self.result, *([FAILED] if self.says_no else [])})

    @property
    def says_no(self) -> bool:
        """Whether it says that the tests did not pass; WARNED means passed, with warnings.

        The specification's simplest policy asks for the result and that no failed test is listed.
        """
        return self.result == FAILED or bool(self.failed)

    @property
    def said(self) -> str:
        """What it says, in a line."""
        return f"tests {self.result}: {len(self.passed)} passed, {len(self.failed)} failed"


def read(table: Table) -> TestResult:
    """Read the predicate; mistakes are noted in `table`."""
    return TestResult(
        result=table.text("result", choices=RESULTS),
        configuration=resources(table, "configuration", required=True),
        url=uri(table, "url") if table.has("url") else "",
        passed=table.texts("passedTests", default=(), repeated=True),
        warned=table.texts("warnedTests", default=(), repeated=True),
        failed=table.texts("failedTests", default=(), repeated=True),
    )
