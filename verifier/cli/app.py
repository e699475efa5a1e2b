"""The group of verbs, and the one place where errors become words and exit codes."""

import contextlib
import importlib
import sys
import traceback
from datetime import datetime
from typing import Final

import click

from verifier import __version__
from verifier.cli.environment import colour_wanted
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.table import nearest
from verifier.core.verdict import Exit

#: Verb and what it answers. Its module has its name, and `_` behind it if Python reserves that.
VERBS: Final = {
    "verify": "judge a file by a policy",
    "identify": "say what a file or a digest is",
    "why": "say why a file is not what was published",
    "explain": "print the page on a code, or list all codes",
    "list": "list what the registry, or a tree, holds",
    "diff": "compare two trees",
    "show": "show one entry of the registry",
    "check": "check the registry itself",
    "audit": "compare the registry with public source",
    "migrate": "bring a file to another version, or back",
    "new": "make a key or a registry, or begin a receipt",
    "sign": "sign a registry, its next root, or a statement",
    "rotate": "replace keys of a registry",
    "update": "fetch a newer registry (asks a network)",
    "scan": "look for what must not be published",
    "redact": "take what must not be published out of a receipt",
    "pin": "write an entry for a registry",
    "import": "make a receipt of what another program measured",
}
_RESERVED: Final = ("import",)


class _Verbs(click.Group):
    """Imports the module of a verb when the verb is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = f"verifier.cli.verbs.{cmd_name}" + "_" * (cmd_name in _RESERVED)
        command = importlib.import_module(module).command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = nearest(args[0], VERBS)
            raise WrongCallError(
                f"there is no verb {args[0]}" + (f", did you mean {near}?" if near else ""),
                code="wrong-call",
                remedy=f"use one of {', '.join(VERBS)}",
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, prog_name="pinproof", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback for a fault of pinproof.")
@click.pass_context
def _pinproof(ctx: click.Context, *, debug: bool) -> None:  # noqa: ARG001  (execute looks at it)
    """Prove, offline, that bytes are what was pinned; refuse what cannot be proved.

    \b
    Exit codes: 0 verified, 1 rejected, 2 wrong call, 3 undecided,
    4 something could not be read, 5 a fault of pinproof.
    """  # noqa: D301  (\b is click's: do not wrap the next paragraph)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(Exit.USAGE)


def execute(arguments: list[str], *, clock: datetime | None) -> int:
    """Run one command line; every way out of it is an exit code of ARCHITECTURE §3."""
    try:
        outcome = _pinproof.main(
            arguments,
            prog_name="pinproof",
            complete_var="",  # shell completion would exit 0 without a verdict
            standalone_mode=False,
            obj={"clock": clock, "debug": "--debug" in arguments},
        )
    except PinproofError as error:
        _show(error)
        return error.exit
    except (click.exceptions.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except click.ClickException as error:
        _show(_usage(error))
        return Exit.USAGE
    except OSError as error:
        # Most likely click's own output, such as --help, could not be written.
        if not isinstance(error, BrokenPipeError):
            _show(_refused_by_system(error))
        sys.stdout = None
        return Exit.ENVIRONMENT
    except Exception as error:  # noqa: BLE001  (the one net: a crash must not look like a verdict)
        _show_fault(error, debug="--debug" in arguments)
    else:
        # A verb returns its exit code; click returns the code of --help, --version and exit().
        if isinstance(outcome, int):
            return int(outcome)
    return Exit.INTERNAL


def _usage(error: click.ClickException) -> WrongCallError:
    context: click.Context | None = getattr(error, "ctx", None)
    command = context.command_path if context else "pinproof"
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and context:
        group = context.command
        names = group.list_commands(context) if isinstance(group, click.Group) else []
        return WrongCallError(
            f"{command}: expected one of {', '.join(names)}",
            code="wrong-call",
            remedy=f"{command} --help shows what each takes",
        )
    message = " ".join(error.format_message().split())
    return WrongCallError(
        message[:1].lower() + message[1:].rstrip("."),
        code="wrong-call",
        remedy=f"{command} --help shows what it takes",
    )


def _show(error: PinproofError) -> None:
    from verifier.render import text  # noqa: PLC0415

    # An error that cannot be shown keeps its exit code all the same.
    with contextlib.suppress(OSError, AttributeError, ValueError):
        colour = colour_wanted(terminal=sys.stderr.isatty())
        sys.stderr.buffer.write(text.error(error, colour=colour))
        sys.stderr.buffer.flush()


def _refused_by_system(error: OSError) -> PinproofError:
    return PinproofError(
        f"the system refused: {(error.strerror or type(error).__name__).lower()}",
        code="cannot-read",
        remedy="check the paths given, and that there is room where output goes",
    )


def _show_fault(error: Exception, *, debug: bool) -> None:
    _show(
        PinproofError(
            f"a fault of pinproof: {type(error).__name__}",
            code="internal",
            remedy="report it with the command line; --debug before the verb shows where",
        )
    )
    if debug:
        traceback.print_exception(error)
