"""`pinproof migrate FILE --to VERSION`: plan, write, undo, recover."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli import options as shared
from verifier.cli.environment import state_folder
from verifier.core.errors import WrongCallError

if TYPE_CHECKING:
    from verifier.ask.migration import Request


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
    from verifier.ask.migration import plan_migration  # noqa: PLC0415
    from verifier.render import migration as render  # noqa: PLC0415

    request = _request(options)
    trust = shared.opened(options, policy=options["policy"])
    planned = plan_migration(files, request, trust=trust)
    options["inputs"] = files
    if options["writing"] and planned.sound and not all(p and p.idle for p in planned.plans):
        from verifier.actions import migrate  # noqa: PLC0415

        written = migrate.write(planned, request, journals=_journals(), now=trust.now)
        return shared.finish(
            written, options, render=lambda v, form, c: render.migrated(v, form, colour=c)
        )
    return shared.finish(
        planned,
        options,
        render=lambda v, form, c: render.planned(v, form, colour=c, diff=options["diff"]),
    )


def _undo(options: dict[str, Any]) -> int:
    from verifier.actions import migrate  # noqa: PLC0415
    from verifier.render import migration as render  # noqa: PLC0415

    trust = shared.opened(options, policy=options["policy"])
    undone = migrate.undo(
        options["undo"], trust, _request(options), journals=_journals(), now=trust.now
    )
    return shared.finish(
        undone, options, render=lambda v, form, c: render.migrated(v, form, colour=c)
    )


def _recover(options: dict[str, Any]) -> int:
    from verifier.actions import migrate  # noqa: PLC0415
    from verifier.render import migration as render  # noqa: PLC0415

    recovered = migrate.recover(journals=_journals())
    return shared.finish(
        recovered, options, render=lambda v, form, c: render.recovered(v, form, colour=c)
    )


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
    return folder / "journals"


def _refuse_mixed(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse a call that asks for two things, or for several files without saying how."""
    problem = None
    acts = [f"--{name}" for name in ("undo", "recover") if options[name]]
    given = [f"--{name}" for name in ("to", "payloads", "writing", "together") if options[name]]
    if acts and (files or given or len(acts) > 1):
        problem = (
            f"{acts[0]} stands alone: the journal says which files, and what they held",
            f"leave out everything else: pinproof migrate {acts[0]}",
        )
    elif not acts and not options["to"]:
        problem = ("--to: expected a version", "add --to VERSION; pinproof list shows them")
    elif len(files) > 1 and not options["together"]:
        problem = (
            f"{len(files)} files: expected one, or --set",
            "add --set: all of them are written, or none",
        )
    if problem is not None:
        raise WrongCallError(problem[0], code="wrong-call", remedy=problem[1])
