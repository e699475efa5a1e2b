"""Git objects, parsed and named by us: commits, trees, tags.

Git neither hashes what it serves nor looks at a tree's order when it reads it (anchors 122), so
every object is hashed here and every tree parsed here (CHECKS, "git reader"). What a tree may
not hold is what `git fsck` refuses too: see its `fsck.<msg-id>` list and Documentation of
`core.protectHFS` and `core.protectNTFS` for the spellings of `.git` that other systems fold.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from verifier.core.value import frozen
from verifier.sources.tree import FILE_MODE, GITLINK_MODE, LINK_MODE, PROGRAM_MODE

SHA1_HEX: Final = 40
SHA256_HEX: Final = 64
FULL_ID: Final = re.compile(rf"[0-9a-f]{{{SHA1_HEX}}}|[0-9a-f]{{{SHA256_HEX}}}")
FOLDER_MODE: Final = 0o40000

_MODES: Final = {
    b"40000": FOLDER_MODE,
    b"100644": FILE_MODE,
    b"100755": PROGRAM_MODE,
    b"120000": LINK_MODE,
    b"160000": GITLINK_MODE,
}
_OCTAL: Final = re.compile(rb"[0-7]{1,8}")
#: Cheap sieve: a name without any of these needs no closer look.
_SUSPECT: Final = re.compile(rb"\A\.{0,2}\Z|(?i:g)|[/\\]")
#: What HFS+ ignores in a name when it compares (git's utf8.c, next_hfs_char).
_HFS_IGNORED: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
#: NTFS drops trailing dots and spaces, starts a stream at a colon, and knows short names.
_NTFS_GIT: Final = re.compile(rb"(?i:\.git|git~1)[. ]*(?::.*)?", re.DOTALL)
_PACK_TYPE: Final = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}


class Fault(NamedTuple):
    """What is wrong with an object: a code of core/codes, and the words for it."""

    code: str
    detail: str


class Item(NamedTuple):
    """One line of a tree object."""

    mode: int
    name: bytes
    oid: str


@frozen
class Commit:
    """A commit whose bytes hash to its id. Everything but tree and parents is as written."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: bytes
    committer: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    message: bytes
    raw: bytes


@frozen
class Tag:
    """An annotated tag whose bytes hash to its id: what it points at, and what that is."""

    oid: str
    target: str
    type: str
    name: bytes
    raw: bytes


def hasher(kind: str, size: int, hex_length: int) -> Any:
    """Start the hash that makes an object's id: its header is already in."""
    start = f"{kind} {size}\0".encode()
    if hex_length == SHA256_HEX:
        return hashlib.sha256(start)
    return hashlib.sha1(start, usedforsecurity=False)


def parse_tree(data: bytes, hex_length: int) -> tuple[list[Item], list[Fault]]:
    """Read a tree. Items with a fault are left out; a fault leaves the rest readable.

    Refused: what does not parse, another order than git's, a name twice, names that no folder
    may hold, modes that git does not write.
    """
    items: list[Item] = []
    faults: list[Fault] = []
    names: set[bytes] = set()
    width, at, before = hex_length // 2, 0, b""
    while at < len(data):
        space = data.find(b" ", at, at + 9)
        end = data.find(b"\0", space + 1) if space > at else -1
        if end < 0 or end + width >= len(data):
            faults.append(Fault("git-tree-malformed", f"at byte {at:,}"))
            break
        mode, name = data[at:space], data[space + 1 : end]
        at = end + 1 + width
        item, fault = _item(mode, name, data[end + 1 : at].hex())
        key = name + b"/" if item.mode == FOLDER_MODE else name
        if name in names:
            fault = Fault("git-tree-duplicate", shown(name))
        elif key < before:
            faults.append(Fault("git-tree-unsorted", shown(name)))
        names.add(name)
        before = key
        if fault is None:
            items.append(item)
        else:
            faults.append(fault)
    return items, faults


def _item(mode: bytes, name: bytes, oid: str) -> tuple[Item, Fault | None]:
    known = _MODES.get(mode)
    fault = None
    if known is None:
        fault = _mode_fault(mode, name)
        known = FOLDER_MODE if mode.lstrip(b"0") == b"40000" else 0
    if why := unsafe_name(name):
        fault = Fault("git-name-unsafe", f"{shown(name)}: {why}")
    return Item(known, name, oid), fault


def _mode_fault(mode: bytes, name: bytes) -> Fault:
    padded = mode.startswith(b"0") and mode.lstrip(b"0") in _MODES
    spelt = mode.decode("ascii") if _OCTAL.fullmatch(mode) else "no octal number"
    return Fault(
        "git-mode-padded" if padded else "git-mode-unknown", f"{shown(name)}: mode {spelt}"
    )


def unsafe_name(name: bytes) -> str | None:
    """Say why no folder may hold a name, or None if one may."""
    return _why_unsafe(name) if _SUSPECT.search(name) else None


def _why_unsafe(name: bytes) -> str | None:
    if not name:
        return "an empty name"
    if b"/" in name:
        return "a name with a slash"
    if name in (b".", b".."):
        return "a step, not a name"
    if any(_NTFS_GIT.fullmatch(part) for part in name.split(b"\\")):
        return "read as .git"
    if _HFS_IGNORED.sub("", name.decode(errors="replace")).lower() == ".git":
        return "read as .git on HFS+"
    return None


def parse_commit(oid: str, data: bytes) -> Commit | Fault:
    """Read a commit: tree, parents, author, committer, in git's order, each but parents once."""
    head, _, message = data.partition(b"\n\n")
    headers = list(_headers(head))
    wanted = [name for name, _ in headers if name in (b"tree", b"parent", b"author", b"committer")]
    parents = wanted.count(b"parent")
    if wanted != [b"tree", *[b"parent"] * parents, b"author", b"committer"] or (
        [name for name, _ in headers[: len(wanted)]] != wanted
    ):
        return Fault("git-commit-malformed", "its headers are not those of a commit")
    ids = [value.decode("ascii", "replace") for _, value in headers[: parents + 1]]
    if not all(len(one) == len(oid) and FULL_ID.fullmatch(one) for one in ids):
        return Fault("git-commit-malformed", "its tree or a parent is no full object id")
    return Commit(
        oid=oid,
        tree=ids[0],
        parents=tuple(ids[1:]),
        author=headers[parents + 1][1],
        committer=headers[parents + 2][1],
        headers=tuple(headers[parents + 3 :]),
        message=message,
        raw=data,
    )


def parse_tag(oid: str, data: bytes) -> Tag | Fault:
    """Read an annotated tag."""
    head, _, _ = data.partition(b"\n\n")
    headers = list(_headers(head))[:3]
    if [name for name, _ in headers] != [b"object", b"type", b"tag"]:
        return Fault("git-commit-malformed", "its headers are not those of a tag")
    target, kind = (value.decode("ascii", "replace") for _, value in headers[:2])
    if len(target) != len(oid) or not FULL_ID.fullmatch(target) or kind not in _PACK_TYPE:
        return Fault("git-commit-malformed", "it points at no full object id")
    return Tag(oid=oid, target=target, type=kind, name=headers[2][1], raw=data)


def _headers(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Split headers; a line that starts with a space continues the one before."""
    name, value = b"", b""
    for line in head.removesuffix(b"\n").split(b"\n"):
        if line.startswith(b" ") and name:
            value += b"\n" + line[1:]
            continue
        if name:
            yield name, value
        name, _, value = line.partition(b" ")
    if name:
        yield name, value


def pack(objects: Iterable[tuple[str, bytes]], count: int, hex_length: int) -> Iterator[bytes]:
    """Write a pack (gitformat-pack) of whole objects, uncompressed: our own git reads it next."""
    running = hashlib.sha256() if hex_length == SHA256_HEX else hashlib.sha1(usedforsecurity=False)
    for piece in _packed(objects, count):
        running.update(piece)
        yield piece
    yield running.digest()


def _packed(objects: Iterable[tuple[str, bytes]], count: int) -> Iterator[bytes]:
    yield b"PACK" + (2).to_bytes(4) + count.to_bytes(4)
    for kind, data in objects:
        first, rest = _PACK_TYPE[kind] << 4 | len(data) & 15, len(data) >> 4
        size = bytearray([first | (0x80 if rest else 0)])
        while rest:
            size.append(rest & 0x7F | (0x80 if rest > 0x7F else 0))  # noqa: PLR2004
            rest >>= 7
        yield bytes(size) + zlib.compress(data, 0)


class Asked(NamedTuple):
    """What one line of a `.gitattributes` asks git to do to bytes that leave the repository."""

    file: bytes
    line: int
    pattern: bytes
    attributes: tuple[bytes, ...]


#: Attributes through which bytes of a checkout or an archive differ from the blob's.
_CHANGING: Final = (
    *(b"filter", b"ident", b"export-subst", b"export-ignore", b"eol", b"text", b"crlf"),
    b"working-tree-encoding",
)


def attributes_of(files: Iterable[tuple[bytes, bytes]]) -> tuple[Asked, ...]:
    """List what `.gitattributes` files, given as (path, bytes), ask for; nothing is applied."""
    found = []
    for path, data in files:
        for number, line in enumerate(data.split(b"\n"), 1):
            words = line.split()
            if len(words) < 2 or words[0].startswith(b"#"):  # noqa: PLR2004
                continue
            asked = tuple(w for w in words[1:] if w.lstrip(b"-!").split(b"=")[0] in _CHANGING)
            if asked:
                found.append(Asked(path, number, words[0], asked))
    return tuple(found)


def shown(name: bytes) -> str:
    """Return a raw name as text; `core.printable` makes it fit for a terminal."""
    return name.decode("utf-8", "surrogateescape")
