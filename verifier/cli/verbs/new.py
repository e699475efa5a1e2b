"""`pinproof new key|registry|receipt`: what a maintainer or an author starts with."""

from typing import TYPE_CHECKING, Any

import click

from verifier.cli import options as shared
from verifier.cli import signing as signed
from verifier.cli.verbs.new_receipt import receipt
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer

if TYPE_CHECKING:
    from verifier.evidence.private_key import PrivateKey

_SCHEMES = ("ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384")
_MOST_KEYS = 100


@click.group(name="new")
def command() -> None:
    """Make keys and registries, and begin receipts."""


command.add_command(receipt)


@command.command()
@click.argument("name")
@click.option("--to", required=True, metavar="DIR", help="The folder for NAME.key and NAME.pub.")
@click.option(
    "--scheme", type=click.Choice(_SCHEMES), default="ed25519", show_default=True, help="The kind."
)
@signed.passphrase_option
@click.option("--no-passphrase", is_flag=True, help="Write the private half unencrypted.")
def key(
    name: str, *, to: str, scheme: str, passphrase_file: str | None, no_passphrase: bool
) -> int:
    """Make the key NAME: DIR/NAME.key for you alone, DIR/NAME.pub for everybody."""
    from verifier.actions.new_key import new_key  # noqa: PLC0415
    from verifier.catalog.tuf.roles import tuf_id  # noqa: PLC0415

    if (passphrase_file is None) != no_passphrase:
        raise WrongCallError(
            "new key: expected one of --passphrase-file FILE and --no-passphrase",
            code="wrong-call",
            remedy="a key without passphrase is for machines that nobody else may use",
        )
    made = new_key(name, to=to, scheme=scheme, passphrase=signed.passphrase_of(passphrase_file))
    lines = [
        f"made       {made.private_path}: {scheme}, "
        + ("not encrypted" if no_passphrase else "encrypted"),
        f"           {made.public_path} is its public half",
        "",
        f"  key         {made.public.id}",
        f"  in TUF      {tuf_id(made.public.spki)}",
        "",
        "  you may     keep the private half where nobody else can read it, with a copy offline",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)


def _keys(role: str, *, needed: bool = False) -> shared.Decorator:
    return click.option(
        f"--{role}-key",
        f"{role}_keys",
        multiple=True,
        required=needed,
        metavar="FILE",
        help=f"A key of {role}, either half; repeatable.",
    )


def _threshold(role: str) -> shared.Decorator:
    return click.option(
        f"--{role}-threshold",
        type=click.IntRange(min=1, max=_MOST_KEYS),
        default=1,
        show_default=True,
        metavar="N",
        help=f"How many of them must sign {role}.",
    )


@command.command()
@click.argument("folder", metavar="DIR")
@_keys("root", needed=True)
@_threshold("root")
@_keys("targets", needed=True)
@_threshold("targets")
@_keys("snapshot")
@_keys("timestamp")
@click.option("--online-key", metavar="FILE", help="One key for both snapshot and timestamp.")
@click.option(
    "--project",
    "projects",
    multiple=True,
    metavar="NAME=FILE",
    help="A project and a key of it, either half; repeat it for more keys.",
)
@click.option(
    "--project-threshold",
    "thresholds",
    multiple=True,
    metavar="NAME=N",
    help="How many of its keys must sign a project (1); repeatable.",
)
@signed.expires_option
@signed.passphrase_option
def registry(folder: str, *, passphrase_file: str | None, **options: Any) -> int:
    """Begin a registry in DIR, which must be new or empty.

    Keys given by their private half sign at once. Where public halves are given, DIR.draft waits
    for the others: pinproof sign root, then sign registry.
    """
    from verifier.actions.sign_registry import Design, new_registry  # noqa: PLC0415

    held: dict[str, PrivateKey] = {}
    read = signed.key_reader(passphrase_file, held)
    online = [options["online_key"]] if options["online_key"] else []
    files = {
        "root": options["root_keys"],
        "targets": options["targets_keys"],
        "snapshot": options["snapshot_keys"] or online,
        "timestamp": options["timestamp_keys"] or online,
    }
    if not files["snapshot"] or not files["timestamp"]:
        raise WrongCallError(
            "new registry: expected --online-key, or --snapshot-key and --timestamp-key",
            code="wrong-call",
            remedy="one key for both will do where nobody watches over them separately",
        )
    roles = {
        role: (tuple(map(read, given)), options.get(f"{role}_threshold", 1))
        for role, given in files.items()
    }
    projects: dict[str, list[bytes]] = {}
    for text in options["projects"]:
        name, path = signed.named("--project", text)
        projects.setdefault(name, []).append(read(path))
    thresholds = dict(signed.named("--project-threshold", text) for text in options["thresholds"])
    strange = sorted(thresholds.keys() - projects.keys())
    if strange:
        raise WrongCallError(
            f"--project-threshold: there is no --project {strange[0]}",
            code="wrong-call",
            remedy="name the keys of every project",
        )
    least = {
        name: signed.number("--project-threshold", text, most=_MOST_KEYS)
        for name, text in thresholds.items()
    }
    design = Design(
        roles=roles,
        projects={name: (tuple(keys), least.get(name, 1)) for name, keys in projects.items()},
    )
    given = signed.signing(tuple(held.values()), options["days"])
    return signed.shown(new_registry(folder, design, given), folder)
