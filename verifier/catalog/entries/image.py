"""image/v1: one published image by every digest that is known of it, each with its kind.

What people call "the image's digest" is one of four things: the digest of an index, of a manifest,
of a configuration (Docker's image id under one store, and not under the other), or the diff-ids of
its layers. An entry says which is which. A digest that was published without saying so is
`unstated`: it is known, and never satisfies a demand. FORMATS §2 is the source of every field.
"""

from typing import Final

from verifier.core.digest import Pin
from verifier.core.value import frozen

UNSTATED: Final = "unstated"
#: What a digest of an image may be the digest of.
KINDS: Final = ("archive", "index", "manifest", "config", "layer", "diff-id", UNSTATED)
#: Kinds that pin an image as a whole, by themselves.
WHOLE: Final = ("archive", "index", "manifest", "config")


@frozen
class ImageDigest:
    """One digest of an image: its kind, and the pin, whose length may not be published."""

    kind: str
    pin: Pin


@frozen
class Contained:
    """A component that the image is published to contain, at a commit."""

    component: str
    commit: str


@frozen
class ImageEntry:
    """A parsed image/v1 entry. `diff-id` rows stand in the order of the layers."""

    name: str
    project: str
    repository: str | None
    platform: str | None
    digests: tuple[ImageDigest, ...]
    contains: tuple[Contained, ...]
    compositions: tuple[str, ...]

    def of(self, kind: str) -> tuple[Pin, ...]:
        """Return the pins of one kind, in the order of the entry."""
        return tuple(digest.pin for digest in self.digests if digest.kind == kind)

    @property
    def diff_ids(self) -> tuple[str, ...]:
        """The diff-ids of its layers in order, none if they are not known."""
        return tuple(pin.sha256 for pin in self.of("diff-id"))
