"""Images for tests, made byte by byte with the standard library: sound ones, and every lie.

A recipe (an `[image."<name>"]` table of a case) names the form by the name of the source: a folder
is an OCI layout, `….oci.tar` an archive of one, `….docker.tar` a docker archive, `….both.tar` one
of both forms, `….json` what `docker image inspect` prints; behind a `.gz` all of it is compressed.

`platforms` (their architectures) are the images: of several the layout has an index above them.
`packing` is that of the layers, `contents` are their members (support.layers) if they are not the
usual ones. `lies` change what is written, by the names of LIES, and the digests above follow
unless the lie is about them. Everything is fixed: digests are constants.
"""

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import zstandard

from support.archives import GNU, member, pax, tar
from support.layers import sparse, written

Json = dict[str, Any]

INDEX: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG: Final = "application/vnd.oci.image.config.v1+json"
LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
REF: Final = "org.opencontainers.image.ref.name"


def hexed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def printed(value: object, **how: Any) -> bytes:
    """Print JSON as a builder does: compact, unless told otherwise."""
    return json.dumps(value, **(how or {"separators": (",", ":")})).encode()


def gzipped(data: bytes, *, level: int = 9) -> bytes:
    """Compress, naming the same system in the header whatever Python does (RFC 1952, OS)."""
    made = gzip.compress(data, mtime=0, compresslevel=level)
    return made[:9] + b"\x03" + made[10:]


def packed(data: bytes, packing: str) -> bytes:
    if packing == "gzip":
        return gzipped(data, level=6)
    if packing == "best":
        return gzipped(data) + gzipped(b"")
    if packing == "zstd":
        return zstandard.ZstdCompressor(write_content_size=False).compress(data)
    return data


def layers(architecture: str) -> list[bytes]:
    """Return the layers of an image: a base, a program, and one that replaces a file."""
    return [
        tar(member(b"etc/", kind=b"5", mode=0o755), member(b"etc/release", b"pinned 1\n")),
        tar(
            member(b"app/", kind=b"5", mode=0o755),
            member(b"app/arch", architecture.encode()),
            member(b"app/serve.py", b"print('serving')\n", mode=0o755),
        ),
        tar(member(b"etc/release", b"pinned 2\n")),
    ]


@dataclass(kw_only=True)
class Image:
    """One image before it is written; whatever a lie changes is changed here."""

    architecture: str
    tars: list[bytes]
    packing: str = "gzip"
    labels: dict[str, str] = field(
        default_factory=lambda: {"org.opencontainers.image.revision": "1" * 40}
    )
    config: Json = field(default_factory=dict)
    manifest: Json = field(default_factory=dict)
    config_bytes: bytes = b""
    manifest_bytes: bytes = b""
    blobs: dict[str, bytes] = field(default_factory=dict)
    descriptor: Json = field(default_factory=dict)
    style: dict[str, Any] = field(default_factory=dict)

    def make_config(self) -> None:
        self.config = {
            "architecture": self.architecture,
            "os": "linux",
            "created": "2026-01-01T00:00:00Z",
            "config": {"Cmd": ["/app/serve.py"], "Labels": self.labels},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hexed(t)}" for t in self.tars]},
            "history": [
                *({"created_by": f"step {n}"} for n in range(len(self.tars))),
                {"created_by": "CMD", "empty_layer": True},
            ],
        }

    def make_manifest(self) -> None:
        self.config_bytes = self.config_bytes or printed(self.config)
        media = {"none": "", "best": "+gzip"}.get(self.packing, f"+{self.packing}")
        self.blobs[hexed(self.config_bytes)] = self.config_bytes
        stated = []
        for each in self.tars:
            data = packed(each, self.packing)
            self.blobs[hexed(data)] = data
            stated.append(describe(data, LAYER + media))
        self.manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": describe(self.config_bytes, CONFIG),
            "layers": stated,
        }

    def finish(self) -> None:
        self.manifest_bytes = self.manifest_bytes or printed(self.manifest, **self.style)
        self.blobs[hexed(self.manifest_bytes)] = self.manifest_bytes
        self.descriptor = describe(self.manifest_bytes, MANIFEST) | {
            "platform": {"architecture": self.architecture, "os": "linux"}
        }


def describe(data: bytes, media: str) -> Json:
    return {"mediaType": media, "digest": f"sha256:{hexed(data)}", "size": len(data)}


@dataclass(kw_only=True)
class Made:
    """A layout before it is written: every file by its name."""

    images: list[Image]
    index: Json | None = None
    top: Json = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    docker: list[Json] = field(default_factory=list)
    repositories: Json = field(default_factory=dict)
    both: bool = False
    #: Members in front of all others, byte by byte.
    front: bytes = b""

    def blob(self, data: bytes) -> str:
        name = f"blobs/sha256/{hexed(data)}"
        self.files[name] = data
        return name


# ── lies ───────────────────────────────────────────────────────────────────────────────────────
# Each names the moment at which it speaks: of an image before or after its configuration or its
# manifest, of the index, of the top, of the written files.


def _sorted_keys(image: Image) -> None:
    image.style = {"separators": (",", ":"), "sort_keys": True}


def _changed_tar(image: Image) -> None:
    image.tars[1] = image.tars[1].replace(b"serving", b"SERVING")


def _flip(made: Made) -> None:
    name = _layer_name(made)
    data = bytearray(made.files[name])
    data[len(data) // 2] ^= 1
    made.files[name] = bytes(data)


def _layer_name(made: Made, number: int = 1) -> str:
    digest = made.images[0].manifest["layers"][number]["digest"]
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def _config_name(made: Made) -> str:
    return f"blobs/sha256/{hexed(made.images[0].config_bytes)}"


def _replace_bytes(made: Made, name: str, old: bytes, new: bytes) -> None:
    assert made.files[name].count(old) >= 1
    made.files[name] = made.files[name].replace(old, new, 1)


def _add_blob(made: Made) -> None:
    made.blob(b"left over from a build")


def _remove(name: Callable[[Made], str]) -> Callable[[Made], object]:
    return lambda made: made.files.pop(name(made))


def _link_blob(made: Made) -> None:
    name = _layer_name(made)
    made.files["elsewhere"] = made.files.pop(name)
    made.links[name] = "../../elsewhere"


def _second_image(made: Made) -> None:
    """Describe another image in manifest.json than in index.json."""
    other = image_of("amd64", lie=_changed_tar)
    made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
    made.docker = [docker_row(other, ["example.test/app:v1"])]


def _two_refs(made: Made) -> None:
    other = image_of("amd64", lie=_changed_tar)
    made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
    made.top["manifests"].append(other.descriptor | {"annotations": {REF: "v1"}})


def _another(made: Made) -> None:
    _two_refs(made)
    made.top["manifests"][-1]["annotations"] = {REF: "v2"}


def _aliased(made: Made, os: str, architecture: str, **more: str) -> None:
    """List two images of one platform, the other in another spelling."""
    _twice(made)
    assert made.index is not None
    platform = {"os": os, "architecture": architecture, **more}
    made.index["manifests"][-1] = made.index["manifests"][-1] | {"platform": platform}


def _usual_variant(made: Made) -> None:
    """List two images of one platform, one without the variant that it has without one."""
    _aliased(made, "linux", "arm", variant="v7")
    assert made.index is not None
    made.index["manifests"][0]["platform"].update(architecture="arm")


def _untagged(made: Made) -> None:
    """Name the image by what Docker makes of `app`."""
    made.docker[0].update(RepoTags=["docker.io/library/app:latest"])
    made.repositories.clear()


def _called(made: Made, **said: Any) -> None:
    """Add an image whose descriptor calls it something else."""
    _two_refs(made)
    made.top["manifests"][-1].pop("platform")
    made.top["manifests"][-1].pop("annotations")
    made.top["manifests"][-1].update(said)


def _statements(image: Image) -> None:
    """Call every layer an in-toto statement: loaders that ask only for the bytes unpack them."""
    for row in image.manifest["layers"]:
        row["mediaType"] = "application/vnd.in-toto+json"


def _twice(made: Made) -> None:
    """List two images of one platform."""
    other = image_of("amd64", lie=_changed_tar)
    made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
    assert made.index is not None
    made.index["manifests"].append(other.descriptor)


def _attestation(made: Made) -> None:
    """Add what BuildKit adds to an index: a manifest of no platform about another."""
    statement = b'{"_type":"https://in-toto.io/Statement/v0.1"}'
    config = printed(
        {
            "architecture": "unknown",
            "os": "unknown",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hexed(statement)}"]},
        }
    )
    manifest = printed(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": describe(config, CONFIG),
            "layers": [describe(statement, "application/vnd.in-toto+json")],
        }
    )
    for data in (statement, config, manifest):
        made.blob(data)
    assert made.index is not None
    made.index["manifests"].append(
        describe(manifest, MANIFEST)
        | {
            "annotations": {"vnd.docker.reference.type": "attestation-manifest"},
            "platform": {"architecture": "unknown", "os": "unknown"},
        }
    )


def _deep(made: Made) -> None:
    for _ in range(10):
        data = printed(made.index)
        made.blob(data)
        made.index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [describe(data, INDEX)]}


def _swap_labels(made: Made) -> None:
    assert made.index is not None
    one, other = (row["platform"] for row in made.index["manifests"][:2])
    made.index["manifests"][0]["platform"], made.index["manifests"][1]["platform"] = other, one


def _nest(made: Made) -> None:
    data = printed(made.index)
    made.blob(data)
    made.index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [describe(data, INDEX)]}


def _both_shapes(row: Json) -> None:
    row["manifests"] = []


def _index_type(made: Made) -> None:
    made.top["manifests"][0]["mediaType"] = INDEX


def _sha512(image: Image) -> None:
    data = packed(image.tars[0], image.packing)
    image.manifest["layers"][0]["digest"] = f"sha512:{hashlib.sha512(data).hexdigest()}"


def _subject(row: Json) -> None:
    row["subject"] = describe(b"another", MANIFEST)


def _data(right: bool) -> Callable[[Image], object]:
    def lie(image: Image) -> None:
        data = image.config_bytes if right else b"{}"
        image.manifest["config"]["data"] = base64.b64encode(data).decode()

    return lie


def _urls(image: Image) -> None:
    image.manifest["layers"][0]["urls"] = ["https://elsewhere.test/layer"]


def _artifact(image: Image) -> None:
    """Make what is no image: neither its configuration nor what it holds is called one's."""
    for row in (image.manifest["config"], *image.manifest["layers"]):
        row["mediaType"] = "application/vnd.example"


def _annotated(key: str) -> Callable[[Image], object]:
    """Name a table of contents of a layer, as runtimes that pull lazily look for it."""
    return lambda image: image.manifest["layers"][1].update(annotations={key: f"sha256:{'0' * 64}"})


def _hidden(made: Made) -> None:
    """Add an image whose configuration is called something else, beside the one that is meant."""
    other = image_of("amd64", lies=("changed content", "config called something else"))
    made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
    made.top["manifests"].append(other.descriptor)


def _other_case(made: Made) -> None:
    """Name another image by a key that readers in Go take for the usual one, in front."""
    other = image_of("amd64", lie=_changed_tar)
    made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
    made.top["manifests"].insert(0, other.descriptor | {"Annotations": {REF: "v1"}})


def _sources(*urls: str) -> Callable[[Made], object]:
    """Say where a layer came from, as Docker does of layers that it does not push itself."""

    def lie(made: Made) -> None:
        layer = made.images[0].tars[0]
        source = describe(layer, "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip")
        source |= {"urls": list(urls)} if urls else {}
        made.docker[0]["LayerSources"] = {f"sha256:{hexed(layer)}": source}

    return lie


def _linked(folder: str) -> Callable[[Made], object]:
    """Put a link in the place of a folder."""

    def lie(made: Made) -> None:
        for name in [name for name in made.files if name.startswith(f"{folder}/")]:
            made.files[f"elsewhere{name.removeprefix(folder)}"] = made.files.pop(name)
        made.links[folder] = "../" * folder.count("/") + "elsewhere"

    return lie


def _swap_layers(image: Image) -> None:
    rows = image.manifest["layers"]
    rows[0], rows[1] = rows[1], rows[0]


def _raw(find: bytes, put: bytes) -> Callable[[Image], object]:
    """Change the manifest's text itself: what a JSON writer would not write."""

    def lie(image: Image) -> None:
        data = printed(image.manifest)
        assert data.count(find) >= 1
        image.manifest_bytes = data.replace(find, put, 1)

    return lie


def _raw_config(find: bytes, put: bytes) -> Callable[[Image], object]:
    def lie(image: Image) -> None:
        data = printed(image.config)
        assert data.count(find) >= 1
        image.config_bytes = data.replace(find, put, 1)

    return lie


def _set(path: str, value: Any) -> Callable[[Image], object]:
    """Set a value in manifest or configuration, by its dotted path."""

    def lie(image: Image) -> None:
        target: Any = image
        *parts, last = path.split(".")
        for part in parts:
            if part.isdigit():
                target = target[int(part)]
            else:
                target = target[part] if isinstance(target, dict) else getattr(target, part)
        if last.isdigit():
            target[int(last)] = value
        else:
            target[last] = value

    return lie


def _rename_config(made: Made) -> None:
    """Give the configuration a name that states another digest."""
    old = made.docker[0]["Config"]
    new = f"{'0' * 64}.json"
    made.files[new] = made.files.pop(old)
    made.docker[0]["Config"] = new


def _extra(made: Made) -> Json:
    other = image_of("amd64", lie=_changed_tar)
    made.files |= docker_files(other)
    made.repositories["example.test/app"]["v2"] = "0" * 64
    return docker_row(other, ["example.test/app:v2"], form="docker")


def _sparse_member(name: str) -> Callable[[Made], object]:
    """Put another document in front, which readers of sparse members know by that name."""

    def lie(made: Made) -> None:
        other = image_of("amd64", lie=_changed_tar)
        made.files |= {f"blobs/sha256/{digits}": data for digits, data in other.blobs.items()}
        top = {"schemaVersion": 2, "manifests": [other.descriptor]}
        row = [docker_row(other, ["example.test/app:v1"])]
        content = printed(top if name == "index.json" else row)
        made.front = sparse(b"q", name.encode(), content)

    return lie


def _tagged(made: Made, one: str, other: str) -> None:
    """Describe two images, by two names."""
    made.docker.append(_extra(made))
    made.docker[0]["RepoTags"], made.docker[1]["RepoTags"] = [one], [other]
    made.repositories.clear()


def _link_docker(made: Made) -> None:
    name = made.docker[0]["Layers"][0]
    made.files["layer.tar"] = made.files.pop(name)
    made.links[name] = "layer.tar"


#: Lies by the moment they speak at.
BEFORE: Final[dict[str, Callable[[Image], object]]] = {
    "changed content": _changed_tar,
    "changed label": lambda i: i.labels.update({"org.opencontainers.image.revision": "2" * 40}),
    "label of another helper": lambda i: i.labels.update(
        {"org.pinproof.helper.example-fair-queue": "v5"}
    ),
    "label of the helper": lambda i: i.labels.update(
        {"org.pinproof.helper.example-fair-queue": "v6"}
    ),
    "layer on top": lambda i: i.tars.append(tar(member(b"app/serve.py", b"print('other')\n"))),
    "whiteout on top": lambda i: i.tars.append(tar(member(b"app/.wh.serve.py"))),
    "link on top": lambda i: i.tars.append(tar(member(b"app", kind=b"2", link=b"other"))),
    "trailing member": lambda i: i.tars.__setitem__(1, i.tars[1] + member(b"hidden", b"x")),
    "absolute name": lambda i: i.tars.__setitem__(1, tar(member(b"/etc/passwd", b"x"))),
    "damaged tar": lambda i: i.tars.__setitem__(1, b"no tar at all" * 100),
    "sparse in a layer": lambda i: i.tars.append(tar(sparse(b"x", b"app/serve.py", b"other"))),
    "old sparse in a layer": lambda i: i.tars.append(
        tar(member(b"x", kind=b"S", magic=GNU, patches={483: b"00000000000\0"}))
    ),
    "sparse link in a layer": lambda i: i.tars.append(
        tar(
            pax((b"GNU.sparse.name", b"app/serve.py"), (b"GNU.sparse.map", b"0,0")),
            member(b"x", kind=b"2", link=b"y"),
        )
    ),
    "setuid": lambda i: i.tars.__setitem__(1, tar(member(b"su", b"x", mode=0o4755))),
}
CONFIGURED: Final[dict[str, Callable[[Image], object]]] = {
    "diff-id of another": _set("config.rootfs.diff_ids.1", f"sha256:{'0' * 64}"),
    "diff-id missing": lambda i: i.config["rootfs"]["diff_ids"].pop(),
    "diff-id short": _set("config.rootfs.diff_ids.1", "sha256:abc"),
    "history short": lambda i: i.config["history"].pop(0),
    "no history": lambda i: i.config.pop("history"),
    "other architecture": _set("config.architecture", "riscv64"),
    "alias of the architecture": _set("config.architecture", "x86_64"),
    "no architecture": lambda i: i.config.pop("architecture"),
    "null config": _set("config.config", None),
    "key twice in config": _raw_config(b'"os":', b'"os":"windows","os":'),
    "key in other case in config": _raw_config(b'"os":', b'"OS":"windows","os":'),
    "config bom": _raw_config(b'{"arch', b'\xef\xbb\xbf{"arch'),
    "config float": _raw_config(b'"os":', b'"x":1.5,"os":'),
}
STATED: Final[dict[str, Callable[[Image], object]]] = {
    "sorted keys": _sorted_keys,
    "indented": lambda i: setattr(i, "style", {"indent": 3}),
    "sha512": _sha512,
    "subject": lambda i: _subject(i.manifest),
    "data": _data(right=True),
    "other data": _data(right=False),
    "urls": _urls,
    "manifests beside layers": lambda i: _both_shapes(i.manifest),
    "layers swapped": _swap_layers,
    "layer left out": lambda i: i.manifest["layers"].pop(),
    "layer type zstd": _set("manifest.layers.1.mediaType", f"{LAYER}+zstd"),
    "layer encrypted": _set("manifest.layers.1.mediaType", f"{LAYER}+gzip+encrypted"),
    "layer size": _set("manifest.layers.1.size", 7),
    "config size": _set("manifest.config.size", 7),
    "manifest type": _set("manifest.mediaType", INDEX),
    "layers called statements": _statements,
    "schema 1": _set("manifest.schemaVersion", 1),
    "artifact": _artifact,
    "config called something else": _set("manifest.config.mediaType", "application/vnd.example"),
    "config called empty": _set("manifest.config.mediaType", "application/vnd.oci.empty.v1+json"),
    "zstd chunked": _annotated("io.github.containers.zstd-chunked.manifest-checksum"),
    "estargz": _annotated("containerd.io/snapshot/stargz/toc.digest"),
    "soci": lambda i: i.manifest.update(
        annotations={"com.amazon.soci.index-digest": f"sha256:{'0' * 64}"}
    ),
    "artifact type": _set("manifest.artifactType", "application/vnd.example"),
    "huge manifest": lambda i: i.manifest.update(annotations={"a": "x" * (1 << 22)}),
    "key twice": _raw(b'"layers":', b'"layers":[],"layers":'),
    "key in other case": _raw(b'"layers":', b'"Layers":[],"layers":'),
    "trailing data": _raw(b"}]}", b"}]} "),
    "cut off": _raw(b"}]}", b"}]"),
    "upper-case digest": _raw(b'"digest":"sha256:', b'"digest":"SHA256:'),
    "no layers": lambda i: i.manifest.pop("layers"),
}
INDEXED: Final[dict[str, Callable[[Made], object]]] = {
    "platforms swapped": _swap_labels,
    "platform twice": _twice,
    "platform twice, once by an alias": lambda m: _aliased(m, "linux", "x86_64"),
    "platform twice, once in capitals": lambda m: _aliased(m, "Linux", "AMD64"),
    "platform twice, once without its variant": _usual_variant,
    "stated as arm/v6": lambda m: (m.index or {})["manifests"][0]["platform"].update(variant="v6"),
    "stated as arm64/v8": lambda m: (m.index or {})["manifests"][0]["platform"].update(
        variant="v8"
    ),
    "platform twice, once with a variant": lambda m: _aliased(m, "linux", "amd64", variant="v1"),
    "attestation": _attestation,
    "nested": _nest,
    "nested too deep": _deep,
    "index subject": lambda m: _subject(m.index or {}),
    "index without manifests": lambda m: (m.index or {}).update(manifests=[]),
    "layers beside manifests": lambda m: (m.index or {}).update(layers=[]),
    "child size": lambda m: (m.index or {})["manifests"][0].update(size=7),
}
LISTED: Final[dict[str, Callable[[Made], object]]] = {
    "name twice": _two_refs,
    "another image": _another,
    "wrong type at the top": _index_type,
    "manifest size": lambda m: m.top["manifests"][0].update(size=7),
    "hidden image": _hidden,
    "annotations in other case": _other_case,
    "called an artifact": lambda m: _called(m, artifactType="application/vnd.example"),
    "called an attestation": lambda m: _called(
        m,
        annotations={"vnd.docker.reference.type": "attestation-manifest"},
        platform={"architecture": "unknown", "os": "unknown"},
    ),
    "no images": lambda m: m.top.update(manifests=[]),
    "unknown type at the top": lambda m: m.top["manifests"][0].update(mediaType="text/plain"),
    "manifest type at the top": lambda m: m.top.update(mediaType=MANIFEST),
    "no name": lambda m: m.top["manifests"][0].pop("annotations", None),
}
WRITTEN: Final[dict[str, Callable[[Made], object]]] = {
    "flipped byte": _flip,
    "layer missing": _remove(_layer_name),
    "config missing": _remove(_config_name),
    "manifest missing": _remove(lambda m: f"blobs/sha256/{hexed(m.images[-1].manifest_bytes)}"),
    "config changed": lambda m: _replace_bytes(m, _config_name(m), b"serve.py", b"other.py"),
    "manifest changed": lambda m: _replace_bytes(
        m,
        f"blobs/sha256/{hexed(m.images[0].manifest_bytes)}",
        b'"schemaVersion":2',
        b'"schemaVersion":2,"annotations":{"a":"b"}',
    ),
    "index changed": lambda m: _replace_bytes(
        m,
        f"blobs/sha256/{hexed(printed(m.index))}",
        b'"architecture":"arm64"',
        b'"architecture":"armhf"',
    ),
    "left over": _add_blob,
    "layer is a link": _link_blob,
    "layout version": lambda m: m.files.update({"oci-layout": b'{"imageLayoutVersion":"2.0.0"}'}),
    "no layout version": lambda m: m.files.pop("oci-layout"),
    "no index.json": lambda m: m.files.pop("index.json"),
    "index.json is no JSON": lambda m: m.files.update({"index.json": b"{"}),
    "two images": _second_image,
    "other tags": lambda m: m.repositories.update({"example.test/app": {"v9": "0" * 64}}),
    "repositories alone": lambda m: m.docker.clear(),
    "config renamed": _rename_config,
    "two in one": lambda m: m.docker.append(_extra(m)),
    "one name in two spellings": lambda m: _tagged(m, "app:v1", "docker.io/library/app:v1"),
    "one name without its tag": lambda m: _tagged(m, "app", "index.docker.io/app:latest"),
    "two names alike": lambda m: _tagged(m, "app:v1", "localhost/app:v1"),
    "named without a registry": _untagged,
    "layer elsewhere": _sources("https://elsewhere.test/layer"),
    "layer sources": _sources(),
    "blobs are a link": _linked("blobs"),
    "blobs of sha256 are a link": _linked("blobs/sha256"),
    "docker layer missing": lambda m: m.files.pop(m.docker[0]["Layers"][0]),
    "docker layer is a link": _link_docker,
    "sparse index.json": _sparse_member("index.json"),
    "sparse manifest.json": _sparse_member("manifest.json"),
    "docker layers swapped": lambda m: m.docker[0]["Layers"].reverse(),
}
LIES: Final = {**BEFORE, **CONFIGURED, **STATED, **INDEXED, **LISTED, **WRITTEN}


# ── making ─────────────────────────────────────────────────────────────────────────────────────


def image_of(
    architecture: str,
    *,
    packing: str = "gzip",
    lie: Callable[[Image], object] | None = None,
    lies: tuple[str, ...] = (),
    tars: list[bytes] | None = None,
) -> Image:
    """Make one image, with all lies that are about one."""
    image = Image(architecture=architecture, tars=tars or layers(architecture), packing=packing)
    if lie:
        lie(image)
    for moment, finish in (
        (BEFORE, image.make_config),
        (CONFIGURED, image.make_manifest),
        (STATED, image.finish),
    ):
        for name in lies:
            if name in moment:
                moment[name](image)
        finish()
    return image


def docker_row(image: Image, tags: list[str], *, form: str = "both") -> Json:
    """Describe an image as manifest.json does: by blobs, or by names of its own."""
    if form == "both":
        blob = "blobs/sha256/"
        return {
            "Config": blob + hexed(image.config_bytes),
            "RepoTags": tags,
            "Layers": [
                blob + row["digest"].removeprefix("sha256:") for row in image.manifest["layers"]
            ],
        }
    return {
        "Config": f"{hexed(image.config_bytes)}.json",
        "RepoTags": tags,
        "Layers": [f"{hexed(each)}.tar" for each in image.tars],
    }


def docker_files(image: Image) -> dict[str, bytes]:
    return {
        f"{hexed(image.config_bytes)}.json": image.config_bytes,
        **{f"{hexed(each)}.tar": each for each in image.tars},
    }


def made(recipe: Mapping[str, Any], *, form: str) -> Made:
    """Make all files of an image in a form: oci, docker or both."""
    known = {"platforms", "packing", "lies", "ref", "contents"}
    assert recipe.keys() <= known, recipe.keys() - known
    lies = tuple(recipe.get("lies", ()))
    assert set(lies) <= LIES.keys(), set(lies) - LIES.keys()
    images = [
        image_of(
            architecture,
            packing=recipe.get("packing", "gzip"),
            lies=lies if number == 0 else (),
            tars=[tar(*written(layer)) for layer in recipe.get("contents", [])],
        )
        for number, architecture in enumerate(recipe.get("platforms", ["amd64"]))
    ]
    layout = Made(images=images, both=form == "both")
    if form == "docker":
        layout.files = {}
        for image in images:
            layout.files |= docker_files(image)
            layout.docker.append(docker_row(image, ["example.test/app:v1"], form="docker"))
        layout.repositories = {"example.test/app": {"v1": "0" * 64}}
    else:
        for image in images:
            layout.files |= {f"blobs/sha256/{d}": data for d, data in image.blobs.items()}
        root = _root(layout, lies)
        ref = {"annotations": {REF: recipe.get("ref", "v1")}}
        layout.top = {"schemaVersion": 2, "manifests": [root | ref]}
        _tell(layout, LISTED, lies)
        layout.files["oci-layout"] = b'{"imageLayoutVersion":"1.0.0"}'
        layout.files["index.json"] = printed(layout.top)
        if form == "both":
            layout.docker = [docker_row(images[0], ["example.test/app:v1"])]
    _tell(layout, WRITTEN, lies)
    if layout.docker:
        layout.files["manifest.json"] = printed(layout.docker)
    if layout.repositories:
        layout.files["repositories"] = printed(layout.repositories)
    return layout


def _root(layout: Made, lies: tuple[str, ...]) -> Json:
    """Return what index.json points at: the manifest of one image, the index of several."""
    wants_index = len(layout.images) > 1 or any(name in INDEXED for name in lies)
    if not wants_index:
        return {k: v for k, v in layout.images[0].descriptor.items() if k != "platform"}
    rows = [image.descriptor for image in layout.images]
    layout.index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": rows}
    _tell(layout, INDEXED, lies)
    data = printed(layout.index)
    layout.blob(data)
    return describe(data, INDEX)


def _tell(
    layout: Made, moment: Mapping[str, Callable[[Made], object]], lies: tuple[str, ...]
) -> None:
    for name in lies:
        if name in moment:
            moment[name](layout)


def make(path: Path, recipe: Mapping[str, Any]) -> None:
    """Write the image of a recipe in the form that its name says."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".json"):
        path.write_bytes(inspected(recipe))
        return
    form = next((f for f in ("docker", "both") if name.endswith(f".{f}.tar")), "oci")
    layout = made(recipe, form=form)
    if not name.endswith(".tar"):
        _folder(path, layout)
        return
    data = _archive(layout)
    path.write_bytes(gzipped(data) if path.name.endswith(".gz") else data)


def _folder(path: Path, layout: Made) -> None:
    for name, data in layout.files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for name, target in layout.links.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).symlink_to(target)


def _archive(layout: Made) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for name, data in sorted(layout.files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
        for name, target in layout.links.items():
            info = tarfile.TarInfo(name)
            info.type = tarfile.SYMTYPE
            info.linkname = target
            out.addfile(info)
    return layout.front + stream.getvalue()


def inspected(recipe: Mapping[str, Any]) -> bytes:
    """Print what `docker image inspect` does, of one store or the other."""
    lies = tuple(name for name in recipe.get("lies", ()) if name in LIES)
    image = image_of("amd64", lies=lies)
    manifest, config = hexed(image.manifest_bytes), hexed(image.config_bytes)
    value: Json = {
        "Id": f"sha256:{config}",
        "RepoTags": ["example.test/app:v1"],
        "RepoDigests": [f"example.test/app@sha256:{manifest}"],
        "Parent": "",
        "Architecture": "amd64",
        "Os": "linux",
        "Size": 12345,
        "GraphDriver": {"Data": None, "Name": "overlay2"},
        "RootFS": {"Type": "layers", "Layers": image.config["rootfs"]["diff_ids"]},
    }
    if "containerd" in recipe.get("store", ""):
        del value["GraphDriver"]
        value["Id"] = f"sha256:{manifest}"
        value["Descriptor"] = describe(image.manifest_bytes, MANIFEST)
    if recipe.get("store") == "unsaid":
        del value["GraphDriver"]
    return json.dumps([value], indent=4).encode()
