"""Making a key: the private half for its owner alone, the public half for everybody else.

Both files are new, whole and on the disk when this returns; the public one comes last, so that a
run that is stopped in between leaves no public key whose private half was never kept.
"""

import os
import re
from pathlib import Path
from typing import Final

from verifier.actions import output
from verifier.actions.durable import create, opened, sync_folder
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.printable import quoted
from verifier.core.value import frozen
from verifier.evidence import private_key
from verifier.evidence.keys import PublicKey

_NAME: Final = re.compile("[a-z0-9][a-z0-9._-]{0,99}")
PRIVATE: Final = ".key"
PUBLIC: Final = ".pub"


@frozen
class NewKey:
    """A key that was made, and the paths of its halves."""

    public: PublicKey
    private_path: str
    public_path: str


def new_key(name: str, *, to: str, scheme: str, passphrase: bytes | None) -> NewKey:
    """Write `to/name.key` and `to/name.pub`; `passphrase` encrypts the first.

    Raises `WrongCallError` for a name that is no file name, `UnavailableError` if one of the files
    is there already or cannot be written; nothing is left behind then.
    """
    if not _NAME.fullmatch(name):
        raise WrongCallError(
            f"new key: {quoted(name)} is no plain name",
            code="wrong-call",
            remedy="use a-z, 0-9, dot, dash and underscore",
        )
    folder = Path(to)
    paths = [str(folder / f"{name}{suffix}") for suffix in (PRIVATE, PUBLIC)]
    output.refuse_existing(*paths)
    made = private_key.generate(scheme)
    files = {f"{name}{PRIVATE}": made.pem(passphrase), f"{name}{PUBLIC}": made.public_pem()}
    try:
        with opened(folder) as descriptor:
            _write(descriptor, files)
    except OSError as error:
        raise UnavailableError(
            f"{to}: {(error.strerror or 'cannot be written').lower()}",
            code="cannot-write",
            remedy="name a folder that you may write to; no key was made",
        ) from None
    return NewKey(public=made.public, private_path=paths[0], public_path=paths[1])


def _write(folder: int, files: dict[str, bytes]) -> None:
    written: list[str] = []
    try:
        for name, data in files.items():
            descriptor = create(folder, name, data)
            written.append(name)
            try:
                if name.endswith(PUBLIC):
                    os.fchmod(descriptor, 0o644)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(folder)
    except OSError:
        for name in written:
            os.unlink(name, dir_fd=folder)
        raise
