"""Migrations for people and for programs (`pinproof.migration/v1`)."""

from collections.abc import Iterator
from typing import Any

from verifier.core.digest import Pin
from verifier.core.migration import Migrated, Plan, Planned, Recovered, Replaced
from verifier.core.outcome import Failed, Report, Result
from verifier.core.printable import printable
from verifier.render import json, text
from verifier.render.layout import first, rows, second

_RESTART = "restart what runs it: a process keeps the code that it has loaded"
_UNDO = "keep the journal it prints for --undo"


def planned(value: Planned, form: str, *, colour: bool = False, diff: bool = False) -> bytes:
    """Render plans, and why there is none for some files; `diff` adds the lines that change."""
    if form == "json":
        document = json.of_report(value.report)
        plans = [plan and _of_plan(plan, diff=diff) for plan in value.plans]
        return _document("plan", {**document, "plans": plans})
    blocks = [
        text.block(item, value.report, colour=colour)
        if plan is None or isinstance(item, Failed)
        else _plan(plan, item, value.report, colour=colour, diff=diff)
        for plan, item in zip(value.plans, value.report.results, strict=True)
    ]
    return "\n".join(blocks).encode()


def migrated(value: Migrated, form: str, *, colour: bool = False) -> bytes:
    """Render what was written."""
    if form == "json":
        return _document(value.word, {"exitCode": int(value.exit), **_of_migrated(value)})
    return _migrated(value, colour=colour).encode()


def recovered(value: Recovered, form: str, *, colour: bool = False) -> bytes:
    """Render what was left unfinished and how it was ended."""
    if form == "json":
        ended = [{"state": one.word, **_of_migrated(one)} for one in value.ended]
        return _document("recovered", {"exitCode": int(value.exit), "ended": ended})
    if not value.ended:
        said = first("recovered", "nothing was left unfinished", colour=colour)
        return f"{said}\n".encode()
    return "\n".join(_migrated(one, colour=colour) for one in value.ended).encode()


# ── text ───────────────────────────────────────────────────────────────────────────────────────


def _plan(plan: Plan, item: Result, report: Report, *, colour: bool, diff: bool) -> str:
    about = f"{plan.name} · {plan.lineage} {plan.source} → {plan.target}"
    if plan.idle:
        head = first(
            "unchanged", f"{plan.name} is {plan.lineage} {plan.target} already", colour=colour
        )
        lines = [head, second("nothing to do; its bytes and times stay as they are"), ""]
        told = [("now", f"{Pin.of(plan.before)} · {plan.now}")]
        return "\n".join([*lines, *rows([*told, *text.facts(item, report)]), ""])
    lines = [first("plan", f"{about} · nothing written", colour=colour), ""]
    told = [
        ("now", f"{Pin.of(plan.before)} · {plan.now}"),
        ("then", f"{Pin.of(plan.after)} · {plan.then}, as a fresh install"),
        ("changes", plan.changes + ("" if diff else " (--diff shows it)")),
        ("not proven", "; ".join(item.not_proven)),
        *text.facts(item, report),
        ("you may", f"add --write; {_UNDO}; then {_RESTART}"),
    ]
    lines += rows(told)
    if diff:
        lines += ["", *map(printable, plan.difference())]
    return "\n".join([*lines, ""])


def _migrated(value: Migrated, *, colour: bool) -> str:
    told = {
        "written": "read back, and as planned",
        "undone": "the bytes from before are back",
        "finished": "all of its files are written",
        "restored": "all of its files hold the bytes from before",
    }
    several = len(value.files) > 1
    names = f"{len(value.files)} files" if several else value.files[0].name
    one = value.files[0]
    about = "" if several else f" · {one.lineage} {one.source} → {one.target}"
    lines = [first(value.word, names + about, colour=colour), second(told[value.word]), ""]
    lines += rows([row for done in value.files for row in _rows(done, value, several=several)])
    if value.word != "restored":
        lines += rows([("journal", value.journal), ("you may", _next(value))])
    else:
        lines += rows([("you may", "plan again")])
    return "\n".join([*lines, ""])


def _rows(done: Replaced, value: Migrated, *, several: bool) -> Iterator[tuple[str, str]]:
    if several:
        yield "file", f"{done.name} · {done.lineage} {done.source} → {done.target}"
    if value.word != "restored":
        yield "before", str(done.before)
    yield "now", str(done.before if value.word == "restored" else done.after)
    if done.bytecode and value.word != "restored":
        yield "bytecode", f"removed, compiled from the old bytes: {', '.join(done.bytecode)}"
    for note in done.notes:
        yield "note", note


def _next(value: Migrated) -> str:
    back = "take it back" if value.word == "undone" else "go back"
    return f"{_RESTART}; {back} with pinproof migrate --undo {value.journal}"


# ── JSON ───────────────────────────────────────────────────────────────────────────────────────


def _document(state: str, rest: dict[str, Any]) -> bytes:
    return json.printed({**rest, "schema": "pinproof.migration/v1", "state": state})


def _of_plan(plan: Plan, *, diff: bool) -> dict[str, Any]:
    shown = {"diff": list(plan.difference())} if diff else {}
    return {
        **_of_change(plan, Pin.of(plan.before), Pin.of(plan.after)),
        "idle": plan.idle,
        "now": plan.now,
        "then": plan.then,
        "changes": plan.changes,
        **shown,
    }


def _of_migrated(value: Migrated) -> dict[str, Any]:
    files = [
        {
            **_of_change(done, done.before, done.after),
            "bytecode": list(done.bytecode),
            "notes": list(done.notes),
        }
        for done in value.files
    ]
    return {"journal": value.journal or None, "files": files}


def _of_change(one: Plan | Replaced, before: Pin, after: Pin) -> dict[str, Any]:
    return {
        "name": one.name,
        "lineage": one.lineage,
        "source": one.source,
        "target": one.target,
        "before": {"sha256": before.sha256, "length": before.length},
        "after": {"sha256": after.sha256, "length": after.length},
    }
