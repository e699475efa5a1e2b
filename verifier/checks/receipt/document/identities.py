"""What a receipt is bound to: digests as they are written, and whatever carries them.

Digests are kept as they are written, because an abbreviated one is an answer of a rule (B3) and no
reason to read nothing; `full` says which of them bind.
"""

from verifier.core.digest import HEX64
from verifier.core.value import frozen

#: Digits of a git object id, SHA-1 or SHA-256.
_IDS = (40, 64)


@frozen
class Written:
    """A digest as it is written: its algorithm, its text, and where in the document it stands."""

    algorithm: str
    text: str
    path: str

    @property
    def full(self) -> str | None:
        """The digest if it is complete and lower-case, else None: then it binds nothing."""
        if self.algorithm == "sha256":
            return self.text if HEX64.fullmatch(self.text) else None
        hexadecimal = not set(self.text) - set("0123456789abcdef")
        return self.text if hexadecimal and len(self.text) in _IDS else None


def full(written: Written | None) -> str | None:
    """Return the digest that binds: None where there is none, or an incomplete one."""
    return written.full if written else None


@frozen
class Evidence:
    """A file by its digest and size; `reason` says why it is not published, where it is not."""

    name: str
    digest: Written | None
    length: int | None
    published: bool
    reason: str | None
    role: str | None


@frozen
class Collector:
    """The program that measured."""

    name: str
    version: str
    executable: Written | None
    source: Written | None
    archive: Written | None


@frozen
class Workload:
    """What was run: its bytes, what they normalise to, and what generated them.

    `file` is its name in the evidence folder; `generated` says whether a program made its prompts.
    """

    id: str
    source: Written | None
    normalised: Written | None
    normalisation: str | None
    producer: Written | None
    file: str | None
    generated: bool


@frozen
class Model:
    """A model that was loaded."""

    role: str
    uri: str
    revision: Written | None


@frozen
class RankImage:
    """The image of one rank: its id (the digest of its configuration) and its registry digest."""

    rank: int
    id: Written | None
    registry: Written | None


@frozen
class LoadedFile:
    """A file as it was after start-up on one rank, and as it is recorded."""

    rank: int
    path: str
    loaded: Written | None
    recorded: Written | None


@frozen
class Runtime:
    """What ran."""

    composed: bool | None
    dirty: bool | None
    components: tuple[tuple[str, Written | None], ...]
    images: tuple[RankImage, ...]
    files: tuple[LoadedFile, ...]


@frozen
class Environment:
    """What it ran on. `clock` is the source of every time; all are free text, absent is None."""

    hardware: str | None
    driver: str | None
    toolchain: str | None
    interconnect: str | None
    clock: str | None


@frozen
class Equality:
    """A file whose bytes at the measured commit and at the head of the claim are compared."""

    path: str
    measured: Written | None
    head: Written | None


@frozen
class Reference:
    """Something cited by its place at a commit (B18)."""

    repository: str
    commit: Written | None
    path: str
    blob: Written | None
