"""Migrations for people and for programs (`pinproof.migration/v1`)."""

from collections.abc import Iterator
from typing import Any, Final

from verifier.core.digest import Pin
from verifier.core.migration import Migrated, Plan, Planned, Recovered, Replaced
from verifier.core.outcome import Failed, Report, Result
from verifier.core.printable import printable
from verifier.render import json, text
from verifier.render.layout import first, rows, second

_RESTART: Final = "restart what runs it: a process keeps the code that it has loaded"
_IN_WORDS: Final = {
    "written": "read back, and as planned",
    "undone": "the bytes from before are back",
    "finished": "all of its files are written",
    "restored": "all of its files hold the bytes from before",
}


def planned(value: Planned, form: str, *, colour: bool = False, diff: bool = False) -> bytes:
    """Render plans, and why there is none for some files; `diff` adds the lines that change."""
    if form == "json":
        plans = [plan and _of_plan(plan, diff=diff) for plan in value.plans]
        report = json.of_report(value.report)
        return _document("plan", int(value.exit), {"report": report, "files": plans})
    blocks = [
        text.block(item, value.report, colour=colour)
        if plan is None or isinstance(item, Failed)
        else _plan(plan, item, value, colour=colour, diff=diff)
        for plan, item in zip(value.plans, value.report.results, strict=True)
    ]
    if len(blocks) > 1:
        sound = sum(plan is not None for plan in value.plans)
        said = f"{len(blocks)} files: {sound} can be migrated, {len(blocks) - sound} cannot"
        blocks.insert(0, first("plan" if value.sound else "refused", said, colour=colour) + "\n")
    return "\n".join(blocks).encode()


def migrated(value: Migrated, form: str, *, colour: bool = False, diff: bool = False) -> bytes:
    """Render what was written; `diff` adds the lines that changed."""
    if form == "json":
        report = value.planned and json.of_report(value.planned.report)
        return _document(value.word, int(value.exit), {"report": report, **_of_migrated(value)})
    plans = [p for p in (value.planned.plans if value.planned else ()) if p is not None]
    lines = [_migrated(value, colour=colour)]
    lines += [_difference(plan) for plan in plans if diff and not plan.idle]
    return "\n".join(lines).encode()


def recovered(value: Recovered, form: str, *, colour: bool = False) -> bytes:
    """Render what was left unfinished, how each was ended, and what could not be."""
    if form == "json":
        ended = [{"state": one.word, **_of_migrated(one)} for one in value.ended]
        failed = [json.of_failed(one) for one in value.failed]
        return _document("recovered", int(value.exit), {"ended": ended, "failed": failed})
    blocks = [_migrated(one, colour=colour) for one in value.ended]
    blocks += [text.failed(one, colour=colour) for one in value.failed]
    nothing = first("recovered", "nothing was left unfinished", colour=colour) + "\n"
    return ("\n".join(blocks) or nothing).encode()


# ── text ───────────────────────────────────────────────────────────────────────────────────────


def _plan(plan: Plan, item: Result, value: Planned, *, colour: bool, diff: bool) -> str:
    if plan.idle:
        return _idle(plan, item, value.report, colour=colour)
    about = f"{plan.name} · {plan.lineage} {plan.source} → {plan.target} · nothing written"
    told = [
        ("now", f"{Pin.of(plan.before)} · {plan.now}"),
        ("then", f"{Pin.of(plan.after)} · {plan.then}"),
        ("changes", plan.changes + ("" if diff else " (--diff shows it)")),
    ]
    if plan.bytecode:
        told.append(("bytecode", f"to be removed with the old bytes: {', '.join(plan.bytecode)}"))
    told += [("not proven", "; ".join(item.not_proven)), *text.facts(item, value.report)]
    told.append(("you may", _may(value)))
    lines = [first("plan", about, colour=colour), "", *rows(told)]
    if diff:
        lines += ["", _difference(plan).rstrip("\n")]
    return "\n".join([*lines, ""])


def _may(value: Planned) -> str:
    if not value.sound:
        return "see to the refused file first: all files of the set are written, or none"
    return f"add --write; keep the journal it prints for --undo; then {_RESTART}"


def _idle(plan: Plan, item: Result, report: Report, *, colour: bool) -> str:
    said = f"{plan.name} is {plan.lineage} {plan.target} already"
    lines = [
        first("unchanged", said, colour=colour),
        second("nothing to do; its bytes and times stay as they are"),
        "",
        *rows([("now", f"{Pin.of(plan.before)} · {plan.now}"), *text.facts(item, report)]),
    ]
    return "\n".join([*lines, ""])


def _difference(plan: Plan) -> str:
    return "\n".join([*map(printable, plan.difference()), ""])


def _migrated(value: Migrated, *, colour: bool) -> str:
    several = len(value.files) > 1
    about = f"{len(value.files)} files" if several else _about(value.files[0], value.word)
    told = [row for done in value.files for row in _rows(done, value, several=several)]
    told += [("unchanged", f"{plan.name} is {plan.target} already") for plan in _idle_ones(value)]
    if value.word == "restored":
        told.append(("you may", "plan again"))
    else:
        back = "take it back" if value.word == "undone" else "go back"
        undo = f"{back} with pinproof migrate --undo {value.journal}"
        told += [("journal", value.journal), ("you may", f"{_RESTART}; {undo}")]
    lines = [
        first(value.word, about, colour=colour),
        second(_IN_WORDS[value.word]),
        "",
        *rows(told),
    ]
    return "\n".join([*lines, ""])


def _about(done: Replaced, word: str) -> str:
    if word == "restored":
        return f"{done.name} · {done.lineage} {done.source}"
    return f"{done.name} · {done.lineage} {done.source} → {done.target}"


def _idle_ones(value: Migrated) -> list[Plan]:
    plans = value.planned.plans if value.planned else ()
    return [plan for plan in plans if plan is not None and plan.idle]


def _rows(done: Replaced, value: Migrated, *, several: bool) -> Iterator[tuple[str, str]]:
    if several:
        yield "file", _about(done, value.word)
    if value.word != "restored":
        yield "before", str(done.before)
    yield "now", str(done.before if value.word == "restored" else done.after)
    if done.bytecode and value.word != "restored":
        yield "bytecode", f"removed with the old bytes: {', '.join(done.bytecode)}"
    for note in done.notes:
        yield "note", note


# ── JSON ───────────────────────────────────────────────────────────────────────────────────────


def _document(state: str, code: int, rest: dict[str, Any]) -> bytes:
    known = {"schema": "pinproof.migration/v1", "state": state, "exitCode": code}
    return json.printed({**known, **rest})


def _of_plan(plan: Plan, *, diff: bool) -> dict[str, Any]:
    return {
        **_of_change(plan, Pin.of(plan.before), Pin.of(plan.after)),
        "bytecode": list(plan.bytecode),
        "idle": plan.idle,
        "now": plan.now,
        "then": plan.then,
        "changes": plan.changes,
        "diff": list(plan.difference()) if diff else None,
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
