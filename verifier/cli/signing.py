"""Options of the verbs that sign, each defined once, what they name, and what a run prints."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from verifier.cli import options as shared
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from verifier.actions.maintain import Step
    from verifier.actions.sign_registry import Signing
    from verifier.evidence.private_key import PrivateKey

_LONGEST_DAYS: Final = 3660
_PUBLIC: Final = b"-----BEGIN PUBLIC KEY-----"

passphrase_option = click.option(
    "--passphrase-file", metavar="FILE", help="Holds the passphrase of the keys, on one line."
)
keys_option = click.option(
    "--key", "keys", multiple=True, metavar="FILE", help="A private key to sign with; repeatable."
)
expires_option = click.option(
    "--expires",
    "days",
    multiple=True,
    metavar="ROLE=DAYS",
    help="How long a role that is signed now stands; repeatable. "
    "root 730, targets and projects 365, snapshot 90, timestamp 30.",
)
root_option = click.option("--root", metavar="FILE", help="The root that DIR must chain from.")
floor_option = click.option("--floor", metavar="FILE", help="Versions already seen (floor/v1).")


def passphrase_of(path: str | None) -> bytes | None:
    """Read the passphrase in a file; None where no file is named."""
    from verifier.evidence.private_key import passphrase_in  # noqa: PLC0415

    return None if path is None else passphrase_in(path)


def private_keys(paths: "Sequence[str]", passphrase_file: str | None) -> "tuple[PrivateKey, ...]":
    """Read the private keys in some files, all opened by one passphrase where encrypted."""
    from verifier.evidence.private_key import load  # noqa: PLC0415  (cryptography is not for all)

    passphrase = passphrase_of(passphrase_file)
    return tuple(load(path, passphrase) for path in paths)


def key_reader(
    passphrase_file: str | None, held: "dict[str, PrivateKey]"
) -> "Callable[[str], bytes]":
    """Return what reads the public half of a key from either half; private ones go to `held`."""
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.evidence.private_key import load  # noqa: PLC0415
    from verifier.sources import file  # noqa: PLC0415

    passphrase = passphrase_of(passphrase_file)

    def read(path: str) -> bytes:
        data = file.read(path, limit=DOCUMENT_BYTES).data
        if data.startswith(_PUBLIC):
            return public_key(path)
        key = load(path, passphrase)
        held[key.public.id] = key
        return key.public.spki

    return read


def public_key(path: str) -> bytes:
    """Read a public key, as SubjectPublicKeyInfo."""
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.evidence.keys import PublicKey  # noqa: PLC0415
    from verifier.sources import file  # noqa: PLC0415

    try:
        return PublicKey.pem(file.read(path, limit=DOCUMENT_BYTES).data).spki
    except ValueError as error:
        raise WrongCallError(
            f"{path}: {error}",
            code="malformed",
            remedy="name the file of its public half: NAME.pub",
        ) from None


def signing(
    keys: "Sequence[PrivateKey]",
    days: "Sequence[str]",
    *,
    root: str | None = None,
    floor: str | None = None,
) -> "Signing":
    """Put together what every run of signing has in common."""
    from verifier.actions.sign_registry import Signing  # noqa: PLC0415
    from verifier.catalog.floor import Floor  # noqa: PLC0415
    from verifier.core.limits import DOCUMENT_BYTES, METADATA_BYTES  # noqa: PLC0415
    from verifier.sources import file  # noqa: PLC0415

    least = None
    if floor is not None:
        least = Floor.parse(file.read(floor, limit=DOCUMENT_BYTES).data, what=floor)
    return Signing(
        keys=tuple(keys),
        now=(shared.clock() or datetime.now(UTC)).replace(microsecond=0),
        days={role: _days(option, number) for option, role, number in map(_split, days)},
        root=None if root is None else file.read(root, limit=METADATA_BYTES).data,
        floor=least,
    )


def named(option: str, text: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (equals and value and re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", name)):
        raise WrongCallError(
            f"{option}: expected NAME=VALUE, got {text}",
            code="wrong-call",
            remedy="write for example --project mine=mine.pub, --expires timestamp=14",
        )
    return name, value


def number(option: str, text: str, *, most: int) -> int:
    """Read a whole number of at least 1."""
    if not re.fullmatch("[1-9][0-9]{0,5}", text) or int(text) > most:
        raise WrongCallError(
            f"{option}: expected a number from 1 to {most:,}, got {text}",
            code="wrong-call",
            remedy="write it in digits",
        )
    return int(text)


def shown(step: "Step", folder: str) -> int:
    """Print what a run did and who is missing; 0 if it published, 3 if it could not yet."""
    versions = step.versions
    if step.published:
        first = f"signed     {folder}: published, snapshot {versions['snapshot']}"
        second = f"root {versions['root']} {step.root_sha256[:12]} · expires {step.expires}"
    else:
        first = f"waiting    {folder}: not published, signatures are missing"
        second = f"what is signed so far is in {step.draft}"
    lines = [first, f"           {second}", ""]
    lines += [f"  signed      {role} by {keyid}" for role, keyid in step.signed]
    lines += [f"  anew        {role}: it says something else now" for role in step.restarted]
    for wait in step.waits:
        lines.append(f"  missing     {wait.role}: {wait.count} of these keys{wait.note}")
        lines += [f"              {keyid}" for keyid in wait.keyids]
    if step.published and step.index_lags:
        lines.append("  index       is the old one: look-ups by digest may miss what is new")
    remedy = (
        f"commit {folder} as it is"
        if step.published and not step.waits
        else f"hand {step.draft} on to whose keys are missing, with {folder}"
    )
    lines += ["", f"  you may     {remedy}", ""]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=step.published)


def _split(text: str) -> tuple[str, str, str]:
    role, value = named("--expires", text)
    return f"--expires {role}", role, value


def _days(option: str, text: str) -> int:
    return number(option, text, most=_LONGEST_DAYS)
