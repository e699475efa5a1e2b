"""Layers of images, made byte by byte, and the roots that they make together."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from support import compositions, hosts
from support.archives import member, pax, tar
from verifier.sources.archives.archive import Steady, opened
from verifier.sources.image.layer import Blob, Layer, content_in, read_layer
from verifier.sources.image.layer_members import Member
from verifier.sources.image.root import MergedRoot
from verifier.sources.image.store import Slice


def file(name: bytes, data: bytes = b"", mode: int = 0o644) -> bytes:
    return member(name, data, mode=mode)


def folder(name: bytes, mode: int = 0o755) -> bytes:
    return member(name + b"/", kind=b"5", mode=mode)


def link(name: bytes, target: bytes) -> bytes:
    return member(name, kind=b"2", link=target, mode=0o777)


def hard(name: bytes, target: bytes, mode: int = 0o644) -> bytes:
    return member(name, kind=b"1", link=target, mode=mode)


def hides(path: bytes) -> bytes:
    """Make the whiteout of a path."""
    above, slash, name = path.rpartition(b"/")
    return file(above + slash + b".wh." + name)


def opaque(path: bytes) -> bytes:
    """Make the opaque marker of a folder."""
    return file((path + b"/" if path else b"") + b".wh..wh..opq")


def sparse(name: bytes, real: bytes, data: bytes) -> bytes:
    """Make a sparse member without holes, form 0.1: its records say that its name is `real`."""
    records = (
        (b"GNU.sparse.name", real),
        (b"GNU.sparse.size", b"%d" % len(data)),
        (b"GNU.sparse.numblocks", b"1"),
        (b"GNU.sparse.map", b"0,%d" % len(data)),
    )
    return pax(*records) + file(name, data)


def written(words: Sequence[Sequence[str]]) -> list[bytes]:  # noqa: C901  (one case a word)
    """Write the members of a layer that a case describes, each by a word, a path and a text.

    `host` is a host file in the state that the text names, `lantern` are the files of the example
    composition below the path, after the stage that the text names.
    """
    found: list[bytes] = []
    for what, path, text in words:
        name, data = path.encode(), text.encode()
        if what == "lantern":
            found += [
                file(f"{path}/{inner}".lstrip("/").encode(), content, mode & 0o777)
                for inner, (mode, content) in compositions.lantern(text).items()
            ]
            continue
        match what:
            case "file":
                found.append(file(name, data))
            case "host":
                found.append(file(name, hosts.host(text)))
            case "folder":
                found.append(folder(name))
            case "link":
                found.append(link(name, data))
            case "hard":
                found.append(hard(name, data))
            case "hide":
                found.append(hides(name))
            case "sparse":
                found.append(sparse(b"x", name, data))
            case "overlay":
                found.append(
                    pax((b"SCHILY.xattr.trusted.overlay.opaque", data or b"y")) + folder(name)
                )
            case "stat":
                found.append(
                    pax((b"LIBARCHIVE.xattr.user%2Econtainers.override_stat", data)) + folder(name)
                )
            case _:
                assert what == "opaque", what
                found.append(opaque(name))
    return found


def blob(place: Path, *members: bytes, number: int = 0, packed: bool = True) -> Blob:
    """Write one layer."""
    data = tar(*members)
    path = place / f"layer{number}"
    path.write_bytes(gzip.compress(data, 1, mtime=0) if packed else data)
    return Blob(path=path, name=f"layer{number}")


def layer(place: Path, *members: bytes) -> Layer:
    return read_layer(blob(place, *members))


def content_of(blob: Blob, found: Member, *, limit: int) -> bytes:
    """Return the bytes of one file of a layer that lies on disk."""
    with opened(blob.path, blob.name) as descriptor:
        file = Steady(descriptor)
        length = file.size - blob.start if blob.length is None else blob.length
        part = Slice(file, blob.start, length)
        return content_in(part, found, name=blob.name, limit=limit)


def root(place: Path, *layers: Sequence[bytes]) -> MergedRoot:
    """Write layers, the lowest first, read them, and merge them."""
    blobs = [blob(place, *members, number=at) for at, members in enumerate(layers)]

    def content(at: int, found: Member, limit: int) -> bytes:
        return content_of(blobs[at], found, limit=limit)

    return MergedRoot([read_layer(one) for one in blobs], content, name="image")


def seen(tree: MergedRoot) -> dict[bytes, bytes]:
    """Return path → content, of links `-> target`, of anything else the word special."""
    found = {}
    for entry in tree.entries():
        data = tree.read(entry.path, limit=1 << 20)
        told = b"special" if entry.target is None else b"-> " + entry.target
        found[entry.path] = told if data is None else data
    return found


def codes(findings: object) -> list[str]:
    return sorted(finding.code for finding in findings)  # type: ignore[attr-defined]
