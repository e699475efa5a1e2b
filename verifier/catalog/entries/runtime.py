"""runtime/v1: what a measured or deployed runtime was: image, components, models, settings, ranks.

Ranks are numbers, not host names. What has to be the same on every rank is named: the image's
configuration, or the files that its layers hold.
"""

from enum import StrEnum

from verifier.core.digest import Digest
from verifier.core.value import frozen


class Same(StrEnum):
    """What the ranks of a runtime have in common."""

    IMAGE_CONFIG = "image-config"
    LOADED_FILES = "loaded-files"


@frozen
class Model:
    """A model that is loaded, by the full revision of its repository."""

    role: str
    repository: str
    revision: str


@frozen
class RuntimeComponent:
    """A component that the runtime is built from."""

    name: str
    commit: str


@frozen
class Ranks:
    """How many ranks there are, and what is the same on all of them."""

    count: int
    same: tuple[Same, ...]


@frozen
class RuntimeEntry:
    """A parsed runtime/v1 entry. `image` is the name of an image entry, or a typed digest."""

    name: str
    project: str
    image: str | Digest | None
    components: tuple[RuntimeComponent, ...]
    models: tuple[Model, ...]
    settings: tuple[tuple[str, str], ...]
    ranks: Ranks | None
