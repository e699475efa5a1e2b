"""Image sources as arguments: a layout's folder, an archive of one, a docker archive, a claim.

`oci:DIR[:REF]`, `oci-archive:FILE[:REF]` and `docker-archive:FILE[:REF]` are written as skopeo does
(FORMATS §5). `docker-inspect:FILE` is a claim, not an image. The longest existing path before a
colon is the file or folder, so that names with colons can be given.
"""

import os
from typing import Final, NamedTuple

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.printable import printable

FORMS: Final = ("oci", "oci-archive", "docker-archive", "docker-inspect")
_SHOWN: Final = 200


class Source(NamedTuple):
    """An image source: its form, the path, and the name in it that is meant, if one is."""

    form: str
    path: str
    ref: str | None
    name: str


def is_image(argument: str) -> bool:
    """Whether an argument is written as an image source."""
    prefix, colon, _ = argument.partition(":")
    return bool(colon) and prefix in FORMS


def parse(argument: str) -> Source:
    """Read an argument.

    Raises `WrongCallError` if it has no prefix of an image, `UnavailableError` if there is no
    such file or folder.
    """
    form, _, rest = argument.partition(":")
    if not is_image(argument) or not rest:
        raise WrongCallError(
            f"{printable(argument)[:_SHOWN] or 'an empty argument'}: is no image source",
            code="wrong-call",
            remedy="write oci:DIR[:REF], oci-archive:FILE[:REF], docker-archive:FILE[:REF], or "
            "docker-inspect:FILE for what `docker image inspect` printed",
        )
    if form == "docker-inspect":
        return Source(form, rest, None, argument)
    cuts = [len(rest), *(at for at in range(len(rest) - 1, 0, -1) if rest[at] == ":")]
    for at in cuts:
        if os.path.lexists(rest[:at]):  # pathlib's raises for names that are too long
            ref = rest[at + 1 :]
            if at < len(rest) and not ref:
                break
            return Source(form, rest[:at], ref or None, argument)
    what = "folder" if form == "oci" else "archive"
    raise UnavailableError(
        f"{printable(rest[:_SHOWN])}{'…' * (len(rest) > _SHOWN)}: no {what} of that name",
        code="cannot-read",
        remedy=f"check the path of the {what}, and put an image's name behind a colon",
    )
