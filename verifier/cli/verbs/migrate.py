"""`pinproof migrate FILE --to VERSION`: plan, write, undo, recover."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from verifier.cli import options as shared
from verifier.cli.environment import state_folder
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError

if TYPE_CHECKING:
    from verifier.ask.migration import Request
    from verifier.core.migration import Migrated

_JOURNALS: Final = "journals"
#: Options that a plan is made of, by the words that a user writes.
_PLANNING: Final = {
    "to": "to",
    "payloads": "payload",
    "writing": "write",
    "together": "set",
    "diff": "diff",
}


@click.command(name="migrate")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--to", metavar="VERSION", help="The version wanted; base:NAME takes it out.")
@click.option(
    "--payload",
    "payloads",
    multiple=True,
    metavar="PATH",
    help="What carries that version: a folder, installer, host, commit or archive; repeatable.",
)
@click.option("--write", "writing", is_flag=True, help="Write what is planned.")
@click.option("--diff", "diff", is_flag=True, help="Show the lines that change.")
@click.option("--set", "together", is_flag=True, help="Several FILEs: write all of them, or none.")
@click.option("--undo", metavar="JOURNAL", help="Give back the bytes from before a migration.")
@click.option("--recover", is_flag=True, help="End what a kill or power cut left unfinished.")
@click.option(
    "--break-hard-link", is_flag=True, help="The file's other names may keep the old bytes."
)
@click.option(
    "--drop-attributes", is_flag=True, help="ACLs and attributes of the system may be lost."
)
@shared.lineage_option
@shared.policy_option
@shared.max_size_option
@shared.reach_options
@shared.trust_options
def command(files: tuple[str, ...], **options: Any) -> int:
    """Bring host FILEs to another version, or say why that is refused.

    Nothing is written without --write; --undo and --recover act at once. A refusal leaves bytes,
    times and folder as they were.
    """
    _refuse_mixed(files, options)
    if options["recover"]:
        return _recover(options)
    if options["undo"] is not None:
        return _undo(options)
    return _migrate(files, options)


def _migrate(files: tuple[str, ...], options: dict[str, Any]) -> int:
    from verifier.actions import migrate  # noqa: PLC0415
    from verifier.ask.migration import plan_migration  # noqa: PLC0415
    from verifier.render import migration as render  # noqa: PLC0415

    request = _request(options)
    trust = shared.opened(options, policy=options["policy"])
    options["inputs"] = files
    if (folder := state_folder()) is not None:
        migrate.refuse_unfinished(files, journals=folder / _JOURNALS)
    planned = plan_migration(files, request, trust=trust)
    if options["writing"] and planned.sound and not all(p and p.idle for p in planned.plans):
        return _told(migrate.write(planned, request, journals=_journals(), now=trust.now), options)
    return shared.finish(
        planned,
        options,
        render=lambda v, form, c: render.planned(v, form, colour=c, diff=options["diff"]),
    )


def _undo(options: dict[str, Any]) -> int:
    from verifier.actions import migrate  # noqa: PLC0415

    trust = shared.opened(options, policy=options["policy"])
    request = _request(options)
    undone = migrate.undo(options["undo"], trust, request, journals=_journals(), now=trust.now)
    return _told(undone, options)


def _recover(options: dict[str, Any]) -> int:
    from verifier.actions import migrate  # noqa: PLC0415
    from verifier.render import migration as render  # noqa: PLC0415

    trust = shared.opened(options, policy=options["policy"])
    recovered = migrate.recover(trust, journals=_journals())
    return shared.finish(
        recovered, options, render=lambda v, form, c: render.recovered(v, form, colour=c)
    )


def _told(done: "Migrated", options: dict[str, Any]) -> int:
    """Print what was written. If that fails it is written all the same, and the error says so."""
    from verifier.render import migration as render  # noqa: PLC0415

    try:
        return shared.finish(
            done,
            options,
            render=lambda v, form, c: render.migrated(v, form, colour=c, diff=options["diff"]),
        )
    except PinproofError as error:
        raise UnavailableError(
            f"{done.word}, with journal {done.journal}; but its report was not: {error.message}",
            code=error.code,
            remedy=f"{error.remedy}; pinproof migrate --undo {done.journal} goes back",
        ) from error


def _request(options: dict[str, Any]) -> "Request":
    from verifier.ask.migration import Request  # noqa: PLC0415

    return Request(
        to=options["to"] or "",
        payload=options["payloads"],
        lineage=options["lineage"],
        break_hard_link=options["break_hard_link"],
        drop_attributes=options["drop_attributes"],
        max_size=options["max_size"],
        reach=shared.reach(options),
    )


def _journals() -> Path:
    folder = state_folder()
    if folder is None:
        raise WrongCallError(
            "there is no folder to keep a journal in: neither XDG_STATE_HOME nor HOME is set",
            code="wrong-call",
            remedy="set XDG_STATE_HOME to an absolute path that this user may write to",
        )
    return folder / _JOURNALS


def _refuse_mixed(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse a call that asks for two things, or for several files without saying how."""
    shared.refuse_outputs(options, inputs=files)  # before anything is written
    acts = [f"--{name}" for name in ("undo", "recover") if options[name] not in (None, False)]
    given = [f"--{word}" for name, word in _PLANNING.items() if options[name]]
    if len(acts) > 1:
        problem = ("--undo and --recover: expected one of them", "--recover first, if at all")
    elif acts and (files or given):
        extra = ", ".join([*given, *files])
        problem = (
            f"{acts[0]}: a journal says which files and bytes, got {extra} too",
            f"leave out {extra}",
        )
    elif acts:
        return
    elif not files:
        problem = ("no file to migrate", "name at least one host file")
    elif not options["to"]:
        problem = ("--to: expected a version", "add --to VERSION; pinproof list shows them")
    elif len(files) > 1 and not options["together"]:
        problem = (
            f"{len(files)} files: expected one, or --set",
            "add --set: all of them are written, or none",
        )
    else:
        return
    raise WrongCallError(problem[0], code="wrong-call", remedy=problem[1])
