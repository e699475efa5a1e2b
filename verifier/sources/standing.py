"""How a file stands in its folder: what replacing it would break, found out by looking.

A file is replaced by giving its name to another one. That follows no link, loses other names of
the same file, and cannot be done at a mount point; attributes that only a privileged program may
write would be gone. Each of these is an obstacle, and an error before anything is touched.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.value import frozen
from verifier.sources.file import read_open
from verifier.sources.folder import OPEN
from verifier.sources.unavailable import unreadable

#: ioctl_iflags(2): the request, and the flags under which a file must not or cannot be replaced.
_GET_FLAGS: Final = 0x80086601
_FLAGS: Final = {0x10: "immutable", 0x20: "append-only", 0x100000: "verity"}
#: Attributes that a copy cannot carry, or that would say something untrue of new content.
_KEPT_BY_NOBODY: Final = ("security.ima", "security.evm", "security.capability")
ACL: Final = "system.posix_acl_access"
#: Its value: a header, then rows of tag, permissions and id (linux/posix_acl_xattr.h).
_ACL_HEADER, _ACL_ROW, _ACL_GROUP = 4, 8, 4


@frozen
class Standing:
    """One regular file, from its descriptor. `attributes` are the extended ones, by name."""

    device: int
    inode: int
    mode: int
    uid: int
    gid: int
    names: int
    modified: int
    """Modification time in nanoseconds."""
    mount_point: bool
    flags: tuple[str, ...]
    folder_flags: tuple[str, ...]
    attributes: tuple[tuple[str, bytes], ...]

    @property
    def not_carried(self) -> tuple[str, ...]:
        """The attributes that a new file of this name would not have."""
        return tuple(
            name
            for name, _ in self.attributes
            if name in _KEPT_BY_NOBODY or name.startswith(("trusted.", "system."))
        )

    @property
    def mode_without_list(self) -> int:
        """The mode of a copy without access list: the group's bits are then its own again.

        While there is a list they are the mask, the most that anybody named in it may do
        (acl(5)); taken over, they would give the group what it never had.
        """
        value = dict(self.attributes).get(ACL, b"")
        for at in range(_ACL_HEADER, len(value), _ACL_ROW):
            if int.from_bytes(value[at : at + 2], "little") == _ACL_GROUP:
                group = int.from_bytes(value[at + 2 : at + 4], "little")
                return self.mode & ~0o070 | (self.mode & group << 3 & 0o070)
        return self.mode


@frozen
class Target:
    """A file that may be replaced: its bytes, and how it stood in its folder when it was read."""

    shown: str
    standing: Standing
    data: bytes


@contextmanager
def folder_of(path: str) -> Iterator[tuple[int, str]]:
    """Open the folder of a path; it may be reached through links. Returns it and the name."""
    place = Path(path)
    if place.name in ("", "..") or path.endswith("/"):
        raise _folder(path)
    try:
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    try:
        yield folder, place.name
    finally:
        os.close(folder)


def look(shown: str, folder: int, name: str, *, limit: int) -> Target:
    """Read a file of an open folder, following no link, and how it stands there.

    Raises `UnavailableError` for a link, for anything but a regular file of at most `limit`
    bytes, and for one that changes meanwhile.
    """
    try:
        descriptor = os.open(name, OPEN, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link(shown, folder, name) from error
        raise unreadable(shown, error) from error
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise _folder(shown)
        if not stat.S_ISREG(kind):
            raise UnavailableError(
                f"{shown}: expected a file, got something special",
                code="not-a-file",
                remedy="name the host file itself",
            )
        data, status = read_open(shown, descriptor, limit)
        standing = Standing(
            device=status.st_dev,
            inode=status.st_ino,
            mode=stat.S_IMODE(status.st_mode),
            uid=status.st_uid,
            gid=status.st_gid,
            names=status.st_nlink,
            modified=status.st_mtime_ns,
            mount_point=_mount(descriptor, status) != _mount(folder, os.fstat(folder)),
            flags=_flags(descriptor),
            folder_flags=_flags(folder),
            attributes=_attributes(descriptor),
        )
    except OSError as error:
        raise unreadable(shown, error) from error
    finally:
        os.close(descriptor)
    return Target(shown=shown, standing=standing, data=data)


def refuse_obstacles(target: Target, *, break_hard_link: bool, drop_attributes: bool) -> None:
    """Raise `UnavailableError` for what replacing this file would break, before it does."""
    standing, shown = target.standing, target.shown
    if standing.mount_point:
        raise mounted(shown)
    if standing.folder_flags:
        raise UnavailableError(
            f"{shown}: its folder is {standing.folder_flags[0]}, and nothing in it can be replaced",
            code="migrate-attributes",
            remedy="lsattr -d shows it; take the flag away if it is yours (chattr -i or -a), or "
            "ask who set it",
        )
    if standing.flags and standing.flags != ("verity",):
        flag = standing.flags[0]
        raise UnavailableError(
            f"{shown}: it is {flag}, and cannot be replaced",
            code="migrate-attributes",
            remedy=f"take the flag away if it is yours (chattr -{'i' if 'imm' in flag else 'a'}), "
            "or ask who set it",
        )
    lost = (*standing.flags, *standing.not_carried)
    if lost and not drop_attributes:
        raise UnavailableError(
            f"{shown}: it carries {', '.join(lost)}, which a new file would not have",
            code="migrate-attributes",
            remedy="add --drop-attributes if they may go, and set them again afterwards",
        )
    if standing.names > 1 and not break_hard_link:
        raise UnavailableError(
            f"{shown}: expected one name for the file, got {standing.names}",
            code="migrate-hard-link",
            remedy="add --break-hard-link if the other names may keep the old bytes "
            "(pnpm, ostree and backups make such links); find them with find -samefile",
        )


def mounted(shown: str) -> PinproofError:
    """Return the error for a file that something is mounted on."""
    return UnavailableError(
        f"{shown}: expected a plain file, got a mount point",
        code="migrate-mount",
        remedy="migrate the file that is mounted there, where it really lies; in a container "
        "that is outside of it",
    )


def _folder(shown: str) -> PinproofError:
    return UnavailableError(
        f"{shown}: expected a file, got a folder",
        code="not-a-file",
        remedy="name the host file itself",
    )


def _link(shown: str, folder: int, name: str) -> PinproofError:
    leads = os.readlink(name, dir_fd=folder)
    return UnavailableError(
        f"{shown}: expected a file, got a link to {leads}",
        code="migrate-link",
        remedy="name the file that the link leads to; a link may lead elsewhere tomorrow",
    )


def _mount(descriptor: int, status: os.stat_result) -> object:
    """Return what tells one mount from another: its id, or where /proc is missing its device."""
    try:
        facts = Path(f"/proc/self/fdinfo/{descriptor}").read_bytes()
    except OSError:
        return status.st_dev
    return next((line for line in facts.split(b"\n") if line.startswith(b"mnt_id")), status.st_dev)


def _flags(descriptor: int) -> tuple[str, ...]:
    try:
        found = int.from_bytes(fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8))[:4], "little")
    except OSError:
        return ()  # this file system has none
    return tuple(name for bit, name in _FLAGS.items() if found & bit)


def _attributes(descriptor: int) -> tuple[tuple[str, bytes], ...]:
    try:
        names = sorted(os.listxattr(descriptor))
        return tuple((name, os.getxattr(descriptor, name)) for name in names)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return ()
        raise
