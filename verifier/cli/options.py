"""Options that several verbs share, each defined once, and how a verb ends."""

import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TypeVar

import click

from verifier.actions import output
from verifier.ask.answers import Listing
from verifier.cli.environment import colour_wanted, state_folder
from verifier.core.clock import parse_time
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.limits import HOST_BYTES, LARGEST_FILE
from verifier.core.outcome import Failed, Report
from verifier.core.printable import quoted
from verifier.core.verdict import Exit

if TYPE_CHECKING:
    from verifier.ask.reading import Reach
    from verifier.ask.trusted import Trust

F = TypeVar("F", bound=Callable[..., Any])

#: Where a command keeps what signs its verdict (`judging`).
SIGNER: Final = "verifier.signer"
FORMATS: Final = ("text", "json")
#: What a report can be printed as, beside these; nothing else has a verdict to show.
SURFACES: Final = ("sarif", "junit", "markdown", "github")


class Decorator(Protocol):
    """What adds one option to a verb."""

    def __call__(self, function: F, /) -> F:
        """Return the function with the option."""


class _Time(click.ParamType[datetime]):
    """A time as RFC 3339 with Z, the one spelling that is read."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        time = value if isinstance(value, datetime) else parse_time(value)
        if time is None:
            self.fail(f"{quoted(str(value))} is no time as 2026-11-29T00:00:00Z", param, ctx)
        return time


class _Target(click.ParamType[tuple[str, str]]):
    """FORMAT=PATH; one that cannot be meant is a wrong call."""

    name = "target"

    def __init__(self, forms: tuple[str, ...]) -> None:
        self._forms = forms

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002  (click's signature)
        ctx: click.Context | None,  # noqa: ARG002
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        form, equals, path = value.partition("=")
        problem = None
        if not equals or not path:
            problem = f"expected FORMAT=PATH, got {value}"
        elif form not in self._forms:
            problem = f"there is no format {form}"
        elif path == "-":
            problem = "expected a file, got -"
        if problem is not None:
            raise WrongCallError(
                f"--output: {problem}",
                code="wrong-call",
                remedy=f"write for example json=report.json; formats are {', '.join(self._forms)}; "
                "--format chooses what is printed",
            )
        return form, path


def who_options(function: F) -> F:
    """Add who has to have signed: keys, or signers of the registry, and how many of them."""
    return _added(
        function,
        click.option(
            "--key",
            "keys",
            multiple=True,
            metavar="PEM",
            help="A public key that has to have signed; repeatable.",
        ),
        click.option(
            "--signer",
            "signers",
            multiple=True,
            metavar="NAME",
            help="A signer of the registry that has to have signed; or ENTRY/NAME.",
        ),
        click.option(
            "--threshold",
            type=int,
            metavar="N",
            help="So many of them are enough; without it, all.",
        ),
    )


def trust_options(function: F) -> F:
    """Add what a run judges with, and what its answer looks like."""
    return _trust_options(output_options(function))


def judging_options(function: F) -> F:
    """Add what a run judges with, and what its report looks like."""
    return _trust_options(report_options(function))


def _trust_options(function: F) -> F:
    return _added(
        function,
        click.option("--registry", metavar="DIR", help="A registry in place of the embedded one."),
        click.option("--root", metavar="FILE", help="The TUF root that DIR must chain from."),
        click.option("--floor", metavar="FILE", help="Versions already seen (floor/v1)."),
        click.option("--effective-time", type=_Time(), help="Judge as at this time, now or later."),
        click.option("--insecure-past-time", is_flag=True, help="Allow a past --effective-time."),
    )


def output_options(function: F) -> F:
    """Add what an answer looks like, and where it goes."""
    return _output_options(function, FORMATS)


def report_options(function: F) -> F:
    """Add the same to a verb that ends with a report: it has renderings for a CI too."""
    return _output_options(function, (*FORMATS, *SURFACES))


def _output_options(function: F, forms: tuple[str, ...]) -> F:
    return _added(
        function,
        click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            default="text",
            show_default=True,
            help="What to print.",
        ),
        click.option(
            "--output",
            "outputs",
            multiple=True,
            type=_Target(forms),
            metavar="FORMAT=PATH",
            help="Also write this format to a file; repeatable.",
        ),
    )


_alternates = click.option(
    "--allow-alternates", is_flag=True, help="Follow a repository's alternates anywhere."
)


def reach_options(function: F) -> F:
    """Add how far a repository's own pointers are followed."""
    return _added(
        function,
        click.option(
            "--clone",
            "clones",
            multiple=True,
            metavar="PATH",
            help="A folder that a repository's pointers may lead into; repeatable.",
        ),
        _alternates,
    )


def alternates_option(function: F) -> F:
    """Add whether alternates are followed, for verbs whose --clone says something else."""
    return _added(function, _alternates)


def _added(function: F, *decorators: Callable[[F], F]) -> F:
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


policy_option = click.option(
    "--policy",
    default="strict",
    show_default=True,
    metavar="NAME|FILE",
    help="What is demanded: strict, region, operator-install, or a file.",
)
lineage_option = click.option("--lineage", metavar="NAME", help="Look for this lineage only.")
max_size_option = click.option(
    "--max-size",
    type=click.IntRange(min=1, max=LARGEST_FILE),
    default=HOST_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Refuse larger files.",
)


def opened(options: dict[str, Any], *, policy: str = "strict") -> "Trust":
    """Open registry, policy and time from the shared options."""
    from verifier.ask.trusted import trust  # noqa: PLC0415  (a tree is listed without a registry)

    return trust(
        policy=policy,
        registry=options["registry"],
        root=options["root"],
        floor=options["floor"],
        kept=state_folder(),
        effective_time=options["effective_time"],
        insecure_past_time=options["insecure_past_time"],
        clock=clock(),
    )


def clock() -> datetime | None:
    """Return the time that stands in for the present one, None outside of tests."""
    injected: datetime | None = click.get_current_context().obj["clock"]
    return injected


def reach(options: dict[str, Any]) -> "Reach":
    """Return how far a repository's own pointers are followed."""
    from verifier.ask.reading import Reach  # noqa: PLC0415

    return Reach(clones=options["clones"], allow_alternates=options["allow_alternates"])


class Rendered(Protocol):
    """What a verb can end with: something that has an exit code."""

    @property
    def exit(self) -> Exit:
        """The exit code of the run."""


def finish(
    value: Rendered,
    options: dict[str, Any],
    *,
    render: "Callable[[Any, str, bool], bytes] | None" = None,
) -> int:
    """Write and print what a verb ends with, and return its exit code.

    `render` takes value, format and whether to colour; reports, answers and listings need none.
    """
    digests = bool(options.get("digests"))

    def made(form: str, *, colour: bool = False) -> bytes:
        if render is not None:
            return render(value, form, colour)
        return rendered(value, form, colour=colour, digests=digests)

    for form, path in options["outputs"]:
        output.write(path, made(form), inputs=options.get("inputs", ()))
    if isinstance(value, Report) and click.get_current_context().obj["debug"]:
        _show_faults(value)
    colour = colour_wanted(terminal=sys.stdout is not None and sys.stdout.isatty())
    put(made(options["form"], colour=colour))
    signer = click.get_current_context().meta.get(SIGNER)
    if signer is not None and isinstance(value, Report):
        signer(value)
    return value.exit


def refuse_outputs(options: dict[str, Any], *, inputs: Iterable[str]) -> None:
    """Refuse an --output that cannot be written, before the run does what cannot be repeated."""
    for _, path in options["outputs"]:
        output.refuse(path, inputs)


def _show_faults(value: Report) -> None:
    import traceback  # noqa: PLC0415

    for item in value.results:
        if isinstance(item, Failed) and item.fault is not None:
            traceback.print_exception(item.fault)


def rendered(value: Any, form: str, *, colour: bool = False, digests: bool = False) -> bytes:
    """Render in one of `FORMATS`, a report also in one of `SURFACES`.

    `digests` shows those of a tree's entries in text too.
    """
    if form in SURFACES:
        return _surface(value, form)
    if form == "json":
        from verifier.render import json  # noqa: PLC0415  (only who asks for it pays)

        if isinstance(value, Listing):
            return json.listing(value)
        return json.report(value) if isinstance(value, Report) else json.answered(value)
    from verifier.render import text  # noqa: PLC0415

    if isinstance(value, Listing):
        return text.listing(value, digests=digests, colour=colour)
    if isinstance(value, Report):
        return text.report(value, colour=colour)
    return text.answered(value, colour=colour)


def _surface(value: Report, form: str) -> bytes:
    """Render what a CI shows; only who asks for a form pays for it."""
    if form == "sarif":
        from verifier.render import sarif  # noqa: PLC0415

        return sarif.report(value)
    if form == "junit":
        from verifier.render import junit  # noqa: PLC0415

        return junit.report(value)
    if form == "markdown":
        from verifier.render import markdown  # noqa: PLC0415

        return markdown.report(value)
    from verifier.render import annotations  # noqa: PLC0415

    return annotations.report(value)


def put(data: bytes) -> None:
    """Write bytes to standard output; a full disk there is an error, not a success."""
    reason = "it is closed"
    if sys.stdout is not None:
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError as error:
            reason = (error.strerror or "cannot be written").lower()
            # What is still buffered must not be tried again at the end of the process.
            sys.stdout = None
        else:
            return
    raise UnavailableError(
        f"standard output: {reason}",
        code="cannot-write",
        remedy="make room, keep its reader alive, or write elsewhere with --output FORMAT=PATH",
    )


def stdin() -> BinaryIO | None:
    """Return standard input as bytes, None if it is closed."""
    return None if sys.stdin is None else sys.stdin.buffer
