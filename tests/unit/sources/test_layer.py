"""Layers: what one pass gives, and what is refused of layers that lie."""

import gzip
import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from support.archives import END, header, member, pax, tar
from support.layers import blob, codes, content_of, file, folder, hard, hides, layer, link, opaque

from verifier.core.digest import Pin
from verifier.core.errors import UnavailableError
from verifier.sources.image import layer_sharing
from verifier.sources.image.layer import UNKNOWN, Blob, read_layer, read_layers
from verifier.sources.image.layer_members import Kind, Member

HELLO = b"hello\n"
CONTENT = tar(folder(b"app"), file(b"app/hello", HELLO, 0o755), link(b"app/l", b"hello"))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def several_members(data: bytes) -> bytes:
    return gzip.compress(data[:700], mtime=0) + gzip.compress(data[700:], mtime=0)


PACKED = {
    "gzip": gzip.compress(CONTENT, mtime=0),
    "gzip of several members": several_members(CONTENT),
    "zstd": zstandard.compress(CONTENT),
    "none": CONTENT,
}


@pytest.mark.parametrize("form", PACKED)
def test_one_pass_gives_every_digest(form: str, tmp_path: Path) -> None:
    data = PACKED[form]
    path = tmp_path / "blob"
    path.write_bytes(data)
    found = read_layer(Blob(path=path, name="blob"))
    assert found.complete
    assert found.findings == ()
    assert found.blob == Pin(sha256=sha(data), length=len(data))
    assert found.content == Pin(sha256=sha(CONTENT), length=len(CONTENT))
    assert found.compression == form.split(maxsplit=1)[0]
    assert found.members == (
        Member(b"app", Kind.FOLDER, 0o755),
        Member(b"app/hello", Kind.FILE, 0o755, len(HELLO), sha(HELLO), None, 1024),
        Member(b"app/l", Kind.LINK, 0, 5, sha(b"hello"), b"hello"),
    )
    member_ = found.members[1]
    assert content_of(Blob(path=path, name="blob"), member_, limit=6) == HELLO
    with pytest.raises(UnavailableError) as caught:
        content_of(Blob(path=path, name="blob"), member_, limit=5)
    assert caught.value.code == "too-large"


@pytest.mark.parametrize("form", PACKED)
def test_a_layer_inside_an_archive_is_read_where_it_lies(form: str, tmp_path: Path) -> None:
    data = PACKED[form]
    path = tmp_path / "archive"
    path.write_bytes(b"before" + data + b"behind")
    inside = Blob(path=path, name="archive", start=6, length=len(data))
    alone = tmp_path / "alone"
    alone.write_bytes(data)
    assert read_layer(inside) == read_layer(Blob(path=alone, name="alone"))
    assert content_of(inside, read_layer(inside).members[1], limit=9) == HELLO


def test_a_range_that_the_file_does_not_have_is_shorter_than_it_says(tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(PACKED["gzip"][:40])
    found = read_layer(Blob(path=path, name="short", length=1000))
    assert found.blob.length == 40
    assert found.content is None
    assert codes(found.findings) == ["tree-compressed-truncated"]
    beyond = read_layer(Blob(path=path, name="short", start=90, length=10))
    assert (beyond.blob.length, beyond.complete) == (0, False)


def test_markers_and_times_are_members_as_they_are(tmp_path: Path) -> None:
    timed = pax((b"mtime", b"1700000000.9")) + file(b"t")
    found = layer(tmp_path, hides(b"a/gone"), opaque(b"b"), hard(b"h", b"a/x"), timed)
    assert [(m.path, m.kind, m.target, m.time) for m in found.members] == [
        (b"a/.wh.gone", Kind.WHITEOUT, None, 0),
        (b"b/.wh..wh..opq", Kind.OPAQUE, None, 0),
        (b"h", Kind.HARD_LINK, b"a/x", 0),
        (b"t", Kind.FILE, None, 1_700_000_000),
    ]
    assert found.complete


LIES = {
    "tree-tar-checksum": [file(b"a", HELLO), header(b"b", checksum=b"000000\0 ")],
    "tree-tar-trailing": [file(b"a"), END, file(b"hidden", b"x")],
    "tree-name-repeated": [file(b"a", b"1"), file(b"a", b"2")],
    "tree-name-escapes": [file(b"../a", b"1")],
    "tree-name-absolute": [file(b"/etc/passwd", b"1")],
    "tree-hardlink-outside": [hard(b"a", b"../../etc/passwd")],
    "tree-link-on-the-way": [link(b"a", b"/etc"), file(b"a/passwd", b"x")],
    "tree-name-two-kinds": [file(b"a"), file(b"a/b")],
    "tree-tar-unended": [],
    "layer-marker-name": [file(b"a/.wh...")],
    "layer-marker-below": [file(b"a/.wh.b/c")],
    "layer-marker-content": [link(b".wh.a", b"b")],
    "layer-marker-unknown": [file(b".wh..wh.plnk")],
    "tree-special": [member(b"null", kind=b"3")],
    "layer-overlay-attribute": [pax((b"SCHILY.xattr.trusted.overlay.opaque", b"y")) + folder(b"a")],
}
RECORDED = {"tree-special", "layer-overlay-attribute", "tree-hardlink-outside"}


@pytest.mark.parametrize("code", LIES)
def test_a_layer_that_lies_is_refused_by_name(code: str, tmp_path: Path) -> None:
    data = tar(*LIES[code], end=b"" if code == "tree-tar-unended" else END)
    path = tmp_path / "blob"
    path.write_bytes(gzip.compress(data, mtime=0))
    found = read_layer(Blob(path=path, name="blob"))
    assert [c for c in codes(found.findings) if c != "tree-name-trailing"] == [code]
    assert found.complete == (code in RECORDED)
    # What is wrong with the tar says nothing about the digests, which are told all the same.
    assert found.content == Pin(sha256=sha(data), length=len(data))
    assert found.blob == Pin.of(path.read_bytes())


@pytest.mark.parametrize("name", [b".wh.", b".wh..", b".wh..."])
def test_a_whiteout_has_to_name_something_in_its_folder(name: bytes, tmp_path: Path) -> None:
    assert "layer-marker-name" in codes(layer(tmp_path, file(b"a/" + name)).findings)


def test_a_whiteout_with_content_or_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    for one in (file(b".wh.a", b"x"), folder(b".wh.a"), hard(b".wh.a", b"b")):
        found = layer(tmp_path, one)
        assert codes(found.findings) == ["layer-marker-content"]
        assert not found.complete


BAD = {
    "trailing": (PACKED["gzip"] + b"x", "tree-compressed-trailing"),
    "damaged": (PACKED["gzip"][:30] + b"\xff\xff" + PACKED["gzip"][32:], "tree-compressed-damaged"),
    "bzip2": (b"BZh91AY", "tree-compression-unsupported"),
    "bomb": (gzip.compress(bytes(300 << 20), 9, mtime=0), "tree-bomb"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_compression_gives_no_members_and_no_diff_id(what: str, tmp_path: Path) -> None:
    data, code = BAD[what]
    path = tmp_path / "blob"
    path.write_bytes(data)
    found = read_layer(Blob(path=path, name="blob"))
    assert code in codes(found.findings)
    assert (found.complete, found.content, found.members) == (False, None, ())
    assert found.blob == Pin(sha256=sha(data), length=len(data))
    assert (found.compression == UNKNOWN) == (what == "bzip2")


def test_what_changed_since_the_pass_is_no_content(tmp_path: Path) -> None:
    one = blob(tmp_path, file(b"a", b"good"))
    found = read_layer(one).members[0]
    blob(tmp_path, file(b"a", b"evil"))
    with pytest.raises(UnavailableError) as caught:
        content_of(one, found, limit=9)
    assert caught.value.code == "changed-while-read"


def test_missing_and_special_files_are_errors(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("nothing", "fifo", "."):
        with pytest.raises(UnavailableError):
            read_layer(Blob(path=tmp_path / name, name=name))


# ── two processes ──────────────────────────────────────────────────────────────────────────────


def many(place: Path, count: int) -> list[Blob]:
    return [
        blob(place, *(file(b"f%d" % n, b"%d" % at) for n in range(at + 1)), number=at)
        for at in range(count)
    ]


def test_shared_or_not_the_layers_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = many(tmp_path, 7)
    alone = [read_layer(one) for one in blobs]
    assert read_layers(blobs) == alone
    forks: list[int] = []
    fork = os.fork

    def counted() -> int:
        forks.append(1)
        return fork()

    monkeypatch.setattr(os, "fork", counted)
    monkeypatch.setattr(layer_sharing, "_WORTH_A_FORK", 1)
    assert read_layers(blobs) == alone
    assert forks == [1]


def test_what_a_dead_worker_left_undone_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = many(tmp_path, 5)
    parent = os.getpid()

    def dies(one: Blob) -> Any:
        if os.getpid() != parent:
            os._exit(0)  # even with a good exit code: nothing was left behind
        return read_layer(one)

    monkeypatch.setattr(layer_sharing, "_WORTH_A_FORK", 1)
    found = layer_sharing.shared(blobs, [9] * 5, dies)
    assert found == [read_layer(one) for one in blobs]


def test_a_layer_that_cannot_be_read_is_an_error_from_either_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = [*many(tmp_path, 4), Blob(path=tmp_path / "gone", name="gone")]
    monkeypatch.setattr(layer_sharing, "_WORTH_A_FORK", 1)
    with pytest.raises(UnavailableError):
        read_layers(blobs)


def test_layers_of_other_tools_are_read(tmp_path: Path) -> None:
    """Python's own tar, in each of its formats, gives the names and digests it was given."""
    expected = [
        (f"usr/lib/{'d' * 3 * at}x/name{at}".encode(), at * 100, sha(bytes(at * 100)))
        for at in range(40)
    ]
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as made:
            for name, size, _ in expected:
                info = tarfile.TarInfo(name.decode())
                info.size = size
                made.addfile(info, io.BytesIO(bytes(size)))
        path = tmp_path / "blob"
        path.write_bytes(gzip.compress(out.getvalue(), mtime=0))
        found = read_layer(Blob(path=path, name="blob"))
        assert [(m.path, m.length, m.sha256) for m in found.members] == expected


@pytest.mark.parametrize("left_out", ["padding", "end"])
def test_a_layer_without_an_end_is_read_whole(left_out: str, tmp_path: Path) -> None:
    """As umoci 0.4.7 writes it: readers in Go take the end of the file for the end."""
    members = folder(b"app") + header(b"app/hello", size=len(HELLO)) + HELLO
    data = members if left_out == "padding" else members + bytes(-len(HELLO) % 512)
    (tmp_path / "blob").write_bytes(data)
    found = read_layer(Blob(path=tmp_path / "blob", name="blob"))
    assert [f.code for f in found.findings] == ["layer-unended"]
    assert found.complete
    assert [m.path for m in found.members] == [b"app", b"app/hello"]
    assert found.content == Pin(sha256=sha(data), length=len(data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        folder(b"app") + header(b"app/hello", size=6) + HELLO[:3],
        folder(b"app") + header(b"app/hello", size=6) + HELLO + bytes(100),
        folder(b"app") + pax((b"path", b"app/hello")),
        folder(b"app")[:300],
    ],
    ids=["nothing", "content", "padding", "extension", "header"],
)
def test_a_layer_that_ends_inside_a_member_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(data)
    found = read_layer(Blob(path=tmp_path / "blob", name="blob"))
    assert not found.complete
    assert any(f.row.outcome == "rejected" for f in found.findings)
