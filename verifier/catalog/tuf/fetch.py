"""Fetching a registry with TUF's own client: the one room that reaches a network, when asked to.

`tuf.ngclient` decides what it downloads and what of it is believed; our own trusted set decides
once more before anything replaces a registry (`actions.update_registry`). The client has its own
fetcher here: no redirect is followed, since whoever may redirect chooses the server; no proxy and
no credential of the environment is used; a server that says nothing, or says it too slowly, is
given up.

Sources: TUF specification 1.0, §5 (client workflow) and §1.5.2 (slow retrieval, endless data);
python-tuf's `Updater`, of which public names are used only. A listing of all targets is not among
them, so roles are made to load by asking for a name that their paths allow, and their targets are
then read from what the client has verified and stored.
"""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tuf.api.exceptions import (
    DownloadError,
    DownloadHTTPError,
    DownloadLengthMismatchError,
    RepositoryError,
)
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from verifier import __version__
from verifier.catalog.tuf.files import safe_name
from verifier.core.limits import DELEGATIONS, METADATA_BYTES, REGISTRY_FILES, ROOT_STEPS
from verifier.core.printable import quoted
from verifier.core.value import frozen

_CHUNK: Final = 1 << 16
_HTTP_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_AGENT: Final = f"pinproof/{__version__}"
_MOST_PATTERNS: Final = 1_000
_TOO_LONG: Final = "it took too long as a whole"


@frozen
class Patience:
    """How long a server may say nothing, and how long all of a fetch may take, in seconds."""

    silence: float = 30.0
    whole: float = 600.0


class FetchError(Exception):
    """Nothing was fetched. `code` is one of `core.codes`."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep the code and the reason in words."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


@frozen
class Place:
    """Where a registry is published: an address that was understood."""

    url: str
    secure: bool
    host: str
    port: int | None
    path: str

    @classmethod
    def parse(cls, url: str) -> "Place":
        """Read an address. Raises `ValueError` with the reason if it will not do."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError("is no address") from None
        if not url.isascii() or not url.isprintable() or " " in url:
            raise ValueError("is no address")
        if parts.scheme not in ("https", "http") or not host:
            raise ValueError("is no https address")
        if parts.username is not None or parts.password is not None:
            raise ValueError("holds credentials")
        if parts.query or parts.fragment:
            raise ValueError("has a query or a fragment")
        if parts.scheme == "http" and not _loopback(host):
            raise ValueError("is not https; only this machine itself may be asked without")
        path = f"{parts.path.rstrip('/')}/"
        return cls(
            url=f"{parts.scheme}://{parts.netloc}{path}",
            secure=parts.scheme == "https",
            host=host,
            port=port,
            path=path,
        )


def fetch_registry(
    place: Place, *, root: bytes, old: Mapping[str, bytes], into: Path, patience: Patience
) -> None:
    """Download metadata and every target of a registry into the new folder `into`.

    `root` is the root that is trusted; `old` is the metadata that was believed last, by role, so
    that the client sees a rollback: of it only the top-level roles are used, so that what lies in
    the client's folder of other roles is what it has loaded now. Raises `FetchError`, and
    `OSError` for what cannot be written.
    """
    cache, made = into / "client", into / "registry"
    cache.mkdir(parents=True)
    for role in old.keys() & {"timestamp", "snapshot", "targets"}:
        (cache / f"{role}.json").write_bytes(old[role])
    try:
        fetcher = _Fetcher(place, patience)
        updater = Updater(
            str(cache),
            f"{place.url}metadata/",
            str(made / "targets"),
            f"{place.url}targets/",
            fetcher=fetcher,
            config=_config(),
            bootstrap=root,
        )
        updater.refresh()
        roles = _load_roles(updater, cache)
        _download(updater, roles, made)
    except DownloadHTTPError as error:
        raise FetchError("update-unreachable", f"the server answered {error.status_code}") from None
    except DownloadLengthMismatchError:
        raise FetchError("update-too-long", "a file goes on after its signed length") from None
    except (DownloadError, RepositoryError) as error:
        raise FetchError("update-refused", quoted(str(error)[:200])) from None
    except ValueError:
        raise FetchError("update-refused", "its metadata cannot be read") from None
    _lay_out(cache, roles, made)


class _Fetcher(FetcherInterface):
    """Fetches one file a connection, from one server, and follows nothing."""

    def __init__(self, place: Place, patience: Patience) -> None:
        self._place = place
        self._patience = patience
        self._end = time.monotonic() + patience.whole
        self._context = ssl.create_default_context() if place.secure else None

    def _fetch(self, url: str) -> Iterator[bytes]:
        connection = self._connection()
        # A server that sends a byte now and then never lets a read time out.
        left = max(0.0, self._end - time.monotonic())
        watch = threading.Timer(left, lambda: _cut(connection))
        watch.daemon = True
        try:
            connection.connect()
            watch.start()
            yield from _body(connection, urlsplit(url).path)
            if time.monotonic() >= self._end:  # headers that were cut look like whole ones
                raise FetchError("update-slow", _TOO_LONG)
        except (http.client.HTTPException, OSError) as error:
            if time.monotonic() >= self._end:
                raise FetchError("update-slow", _TOO_LONG) from None
            raise _unreachable(error) from None
        finally:
            watch.cancel()
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        place, silence = self._place, self._patience.silence
        if self._context is None:
            return http.client.HTTPConnection(place.host, place.port, timeout=silence)
        return http.client.HTTPSConnection(
            place.host, place.port, timeout=silence, context=self._context
        )


def _body(connection: http.client.HTTPConnection, path: str) -> Iterator[bytes]:
    headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
    connection.request("GET", path, headers=headers)
    with contextlib.closing(connection.getresponse()) as answer:
        if answer.status in _REDIRECTS:
            raise FetchError("update-redirected", f"the server answered {answer.status}")
        if answer.status != _HTTP_OK:
            raise DownloadHTTPError("not there", answer.status)
        while chunk := answer.read1(_CHUNK):
            yield chunk
        if answer.length:
            raise FetchError("update-unreachable", "the connection ended early")


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a connection that another thread reads from."""
    with contextlib.suppress(OSError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def _config() -> UpdaterConfig:
    return UpdaterConfig(
        max_root_rotations=ROOT_STEPS,
        max_delegations=DELEGATIONS,
        root_max_length=METADATA_BYTES,
        timestamp_max_length=METADATA_BYTES,
        snapshot_max_length=METADATA_BYTES,
        targets_max_length=METADATA_BYTES,
        prefix_targets_with_hash=False,
    )


def _load_roles(updater: Updater, cache: Path) -> dict[str, bytes]:
    """Make the client load every delegated role; return what it has verified, by role."""
    roles = {"targets": (cache / "targets.json").read_bytes()}
    waiting = ["targets"]
    while waiting:
        below = json.loads(roles[waiting.pop()])["signed"].get("delegations") or {}
        for child in below.get("roles", ()):
            name = child["name"]
            if name in roles:
                continue
            if not safe_name(name) or "/" in name or len(roles) > DELEGATIONS:
                raise FetchError("update-refused", "its delegations are not those of a registry")
            path = cache / f"{name}.json"
            for pattern in (child.get("paths") or [])[:_MOST_PATTERNS]:
                updater.get_targetinfo(pattern.replace("*", "a").replace("?", "a"))
            if not path.exists():
                raise FetchError("update-refused", f"no path leads to its role {name}")
            roles[name] = path.read_bytes()
            waiting.append(name)
    return roles


def _download(updater: Updater, roles: Mapping[str, bytes], made: Path) -> None:
    count = 0
    for data in roles.values():
        for path in json.loads(data)["signed"]["targets"]:
            count += 1
            if not safe_name(path) or count > REGISTRY_FILES:
                raise FetchError("update-refused", "its targets are not those of a registry")
            info = updater.get_targetinfo(path)
            if info is None:
                raise FetchError("update-refused", f"no role answers for {path}")
            updater.download_target(info, str(made / "targets" / path))


def _lay_out(cache: Path, roles: Mapping[str, bytes], made: Path) -> None:
    """Put what the client has verified where a registry has it."""
    folder = made / "metadata"
    folder.mkdir(parents=True, exist_ok=True)
    for path in (cache / "root_history").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for role in ("timestamp", "snapshot"):
        (folder / f"{role}.json").write_bytes((cache / f"{role}.json").read_bytes())
    for role, data in roles.items():
        (folder / f"{role}.json").write_bytes(data)


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unreachable(error: Exception) -> FetchError:
    if isinstance(error, TimeoutError):
        return FetchError("update-slow", "the server said nothing for too long")
    if isinstance(error, ssl.SSLError):
        return FetchError("update-unreachable", "its certificate, or TLS, does not hold")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "no HTTP"
    return FetchError("update-unreachable", reason.lower())
