"""What authenticating a registry leaves: plain values that no part of TUF is needed to read."""

from collections.abc import Mapping
from datetime import datetime

from verifier.core.digest import Pin
from verifier.core.value import frozen


@frozen
class Target:
    """One file below `targets/`: its path, the pin that was signed, and the role that did."""

    path: str
    pin: Pin
    role: str


@frozen
class Held:
    """A role of an authenticated registry: whose keys it takes, and which of them have signed."""

    role: str
    version: int
    expires: datetime
    threshold: int
    keyids: tuple[str, ...]
    signed: tuple[str, ...]


@frozen
class Trusted:
    """An authenticated registry. `expires` is when the first of its roles does.

    `roles` maps every targets role to its version, as the snapshot records it; `signed_by`
    lists role and key id of every signature that counted.
    """

    root_version: int
    root_sha256: str
    timestamp_version: int
    snapshot_version: int
    snapshot_sha256: str
    roles: Mapping[str, int]
    expires: datetime
    signed_by: tuple[str, ...]
    targets: Mapping[str, Target]
    held: tuple[Held, ...] = ()
