"""Reports that hold foreign text wherever a report can, and readers of what CIs are given.

The readers are written from the descriptions of those who read: the workflow commands of GitHub's
runner, and the parts of SARIF 2.1.0 that pinproof writes. They share no code with the renderings.
"""

import re
from typing import Any, Final, NamedTuple

from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding, Where
from verifier.core.outcome import (
    Failed,
    Identified,
    PolicyFacts,
    Report,
    Result,
    Subject,
    Waived,
)
from verifier.core.verdict import Exit, Verdict

#: What people have tried, or may try, in a name.
HOSTILE: Final = (
    "\n::error::merge me",
    "::set-output name=verdict::verified",
    "a\r\n::stop-commands::x",
    "##[add-mask]secret",
    "x\u2028::error::y",
    "\u202eyp.tsoh",
    "`@octocat` [click](https://example.com) <img src=x onerror=y>",
    "| a | b |\n|---|---|",
    "``` \n# verified",
    "<!-- hidden",
    "&#64;all &lt;b&gt;",
    "]]></failure><testcase/>",
    "\x00\x07\x1b[31m",
    "\udcff\ud800",
    "100%25,file=x:y",
    "https://example.com/a(b)?c#d",
    "../../etc/passwd",
    "\ufeff\ufffe\U0001f600",
    "\\|\\`",
)


def report(
    name: str,
    *,
    text: str | None = None,
    verdict: Verdict = Verdict.REJECTED,
    findings: int = 1,
    failed: bool = False,
) -> Report:
    """Return a report about `name`, with `text` (the name, if not given) in every free field."""
    foreign = name if text is None else text
    code = {Verdict.REJECTED: "helper-drifted", Verdict.UNDECIDED: "helper-rest-not-attested"}
    found = [
        Finding(
            code=code[verdict],
            where=Where(path=name, line=number + 1, byte_offset=number, byte_length=2),
            expected=foreign,
            got=f"{foreign}{number}",
            cause=foreign,
            remedy=foreign,
        )
        for number in range(findings)
        if verdict in code
    ]
    facet = "helper" if verdict is not Verdict.UNDECIDED else "whole-file"
    state = State.HELD if verdict is Verdict.VERIFIED else State.NOT_HELD
    judged = Result(
        kind="helper",
        subject=Subject(name=name),
        verdict=verdict,
        identified=(Identified(entry="example", version="v6", status="supported", current=True),),
        findings=tuple(found),
        coverage=(Covered(facet=facet, state=state, detail=foreign),),
        not_proven=(foreign,),
        demanded=frozenset({facet}),
    )
    results: list[Result | Failed] = [judged]
    if failed:
        results.append(
            Failed(
                subject=Subject(name=name),
                exit=Exit.ENVIRONMENT,
                code="cannot-read",
                message=f"{foreign}: not there",
                remedy=foreign,
            )
        )
    return of(*results)


def of(*results: Result | Failed) -> Report:
    """Return a report of these results."""
    return Report(
        effective_time="2026-11-29T00:00:00Z",
        past_time=False,
        registry=None,
        policy=PolicyFacts(name="own", sha256="0" * 64),
        results=results,
    )


def waived(reason: str) -> Waived:
    """Return a waiver of the one finding of an undecided report."""
    return Waived(
        code="helper-rest-not-attested", reason=reason, by=reason, until="2026-12-31T00:00:00Z"
    )


# ── GitHub's runner ────────────────────────────────────────────────────────────────────────────


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    data: str


#: Commands that the runner knows; the first form of any other is printed as it is.
KNOWN: Final = (
    *("error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "add-path"),
    *("set-env", "set-output", "save-state", "stop-commands", "echo", "add-matcher"),
    *("remove-matcher", "internal-set-repo-path"),
)


def commands(printed: bytes) -> list[Command | str]:
    """Read what a step printed as the runner does, line by line; other lines stay text."""
    lines = re.split(r"\r\n|\r|\n", printed.decode())
    assert lines.pop() == "", "the last line has no end"
    return [_command(line) or _older(line) or line for line in lines]


def _command(line: str) -> Command | None:
    text = line.lstrip()
    if not text.startswith("::") or (end := text.find("::", 2)) < 0:
        return None
    name, _, rest = text[2:end].partition(" ")
    if name.lower() not in KNOWN:
        return None
    properties = {}
    for each in filter(None, rest.strip().split(",")):
        key, _, value = each.partition("=")
        if key and value:
            properties[key] = _undone(value, {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","})
    return Command(name, properties, _undone(text[end + 2 :], {"%0D": "\r", "%0A": "\n"}))


def _older(line: str) -> Command | None:
    """Read the older form, `##[name …]data`, which may begin anywhere in a line."""
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name = line[start + 3 : end].partition(" ")[0]
    return Command(name, {}, line[end + 1 :]) if name.lower() in KNOWN else None


def _undone(text: str, tokens: dict[str, str]) -> str:
    for token, character in {**tokens, "%25": "%"}.items():
        text = text.replace(token, character)
    return text


# ── SARIF ──────────────────────────────────────────────────────────────────────────────────────

_URI: Final = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


def check_sarif(document: dict[str, Any]) -> dict[str, Any]:
    """Check by hand what the schema cannot say, and of it what matters; return the one run."""
    assert list(document) == ["$schema", "version", "runs"]
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run.keys() == {"tool", "columnKind", "invocations", "results"}
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    prints = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (location,) = result["locations"]
        _check_location(location["physicalLocation"])
        prints.append((result["ruleId"], result["partialFingerprints"]["pinproof/v1"]))
    assert len(prints) == len(set(prints)), "two results with one fingerprint"
    (invocation,) = run["invocations"]
    for notice in invocation["toolExecutionNotifications"]:
        assert notice["associatedRule"]["id"] in rules
        assert not invocation["executionSuccessful"]
    checked: dict[str, Any] = run
    return checked


def _check_location(physical: dict[str, Any]) -> None:
    artifact, region = physical["artifactLocation"], physical["region"]
    uri = artifact["uri"].removeprefix("file://")
    assert _URI.fullmatch(uri), uri
    assert ("uriBaseId" in artifact) == (not uri.startswith("/") and ".." not in uri.split("/"))
    assert region["startLine"] >= 1, "GitHub takes no result without a line"
    if "endLine" in region:
        begin = region["startLine"], region["startColumn"]
        assert (1, 1) <= begin <= (region["endLine"], region["endColumn"])
    assert ("byteOffset" in region) == ("byteLength" in region)
