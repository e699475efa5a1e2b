"""image/v1 and runtime/v1: what is read, and every mistake by its path."""

import copy
from collections.abc import Callable
from typing import Any, Final

import pytest

from verifier.catalog.entries import image_format, runtime_format
from verifier.core.digest import Digest
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

A, B, C = "a" * 64, "b" * 64, "c" * 64
Entry = dict[str, Any]

IMAGE: Final[Entry] = {
    "schema": "image/v1",
    "name": "app",
    "project": "tests",
    "repository": "example.test/app",
    "platform": "linux/arm64/v8",
    "compositions": ["lantern"],
    "digest": [
        {"kind": "manifest", "sha256": A, "size": 700},
        {"kind": "config", "sha256": B},
        {"kind": "diff-id", "sha256": C},
        {"kind": "diff-id", "sha256": C},
        {"kind": "layer", "sha256": C},
    ],
    "contains": [{"component": "vllm", "commit": "1" * 40}],
}
RUNTIME: Final[Entry] = {
    "schema": "runtime/v1",
    "name": "pair",
    "project": "tests",
    "image": "app",
    "component": [{"name": "vllm", "commit": "1" * 40}],
    "model": [{"role": "target", "repository": "a/b", "revision": "2" * 40}],
    "settings": {"A": ""},
    "ranks": {"count": 2, "same": ["image-config", "loaded-files"]},
}


def test_an_image_is_read() -> None:
    entry = image_format.parse(write_toml(IMAGE), "entry")
    assert entry.diff_ids == (C, C)
    assert [pin.length for pin in entry.of("manifest")] == [700]
    assert entry.contains[0].commit == "1" * 40


def test_a_runtime_is_read() -> None:
    entry = runtime_format.parse(write_toml(RUNTIME), "entry")
    assert entry.settings == (("A", ""),)
    assert entry.ranks is not None
    assert entry.ranks.count == 2
    typed = {**RUNTIME, "image": f"config:sha256:{A}"}
    assert runtime_format.parse(write_toml(typed), "entry").image == Digest(kind="config", hex=A)


def rows(entry: Entry, number: int, key: str = "digest") -> Entry:
    row: Entry = entry[key][number]
    return row


IMAGES: Final[dict[str, tuple[Callable[[Entry], object], str]]] = {
    "schema": (lambda e: e.update(schema="image/v0"), "schema"),
    "unknown key": (lambda e: e.update(tag="v1"), "tag: unknown key"),
    "name": (lambda e: e.update(name="App"), "name"),
    "no digest": (lambda e: e.update(digest=[]), "digest: missing"),
    "kind": (lambda e: rows(e, 0).update(kind="image-id"), "digest[0].kind"),
    "upper case": (lambda e: rows(e, 0).update(sha256="A" * 64), "digest[0].sha256"),
    "abbreviated": (lambda e: rows(e, 0).update(sha256="a" * 12), "digest[0].sha256"),
    "size": (lambda e: rows(e, 0).update(size=0), "digest[0].size"),
    "one digest of two kinds": (lambda e: rows(e, 1).update(sha256=A), "given as"),
    "one digest of two sizes": (
        lambda e: e["digest"].append({"kind": "manifest", "sha256": A, "size": 701}),
        "two sizes",
    ),
    "a digest twice": (
        lambda e: e["digest"].append({"kind": "manifest", "sha256": A, "size": 700}),
        "given twice",
    ),
    "two indexes": (
        lambda e: e["digest"].extend({"kind": "index", "sha256": x * 64} for x in "de"),
        "two of kind index",
    ),
    "two configurations": (
        lambda e: e["digest"].append({"kind": "config", "sha256": "d" * 64}),
        "two of kind config",
    ),
    "platform": (lambda e: e.update(platform="arm64"), "platform"),
    "component twice": (lambda e: e["contains"].append(rows(e, 0, "contains")), "vllm is given"),
    "commit": (lambda e: rows(e, 0, "contains").update(commit="1" * 12), "contains[0].commit"),
}
RUNTIMES: Final[dict[str, tuple[Callable[[Entry], object], str]]] = {
    "schema": (lambda e: e.update(schema="image/v1"), "schema"),
    "unknown key": (lambda e: e.update(hosts=["a"]), "hosts: unknown key"),
    "untyped image": (lambda e: e.update(image=f"sha256:{A}"), "image"),
    "layer as image": (lambda e: e.update(image=f"layer:sha256:{A}"), "image"),
    "tag as image": (lambda e: e.update(image="app:v1"), "image"),
    "commit": (lambda e: rows(e, 0, "component").update(commit="x"), "component[0].commit"),
    "revision": (lambda e: rows(e, 0, "model").update(revision="main"), "model[0].revision"),
    "role": (lambda e: rows(e, 0, "model").update(role="judge"), "model[0].role"),
    "role twice": (lambda e: e["model"].append(rows(e, 0, "model")), "target is given twice"),
    "setting": (lambda e: e["settings"].update(B=1), "settings.B: is no string"),
    "no ranks": (lambda e: e["ranks"].update(count=0), "ranks.count"),
    "nothing the same": (lambda e: e["ranks"].update(same=[]), "ranks.same"),
    "same": (lambda e: e["ranks"].update(same=["host"]), "ranks.same"),
    "nothing": (lambda e: [e.pop(k) for k in ("image", "component", "model")], "pins nothing"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_mistakes_of_images_are_named(name: str) -> None:
    breaks, named = IMAGES[name]
    entry = copy.deepcopy(IMAGE)
    breaks(entry)
    with pytest.raises(MalformedError) as caught:
        image_format.parse(write_toml(entry), "entry")
    assert any(named in mistake for mistake in caught.value.mistakes), caught.value.mistakes


@pytest.mark.parametrize("name", RUNTIMES)
def test_mistakes_of_runtimes_are_named(name: str) -> None:
    breaks, named = RUNTIMES[name]
    entry = copy.deepcopy(RUNTIME)
    breaks(entry)
    with pytest.raises(MalformedError) as caught:
        runtime_format.parse(write_toml(entry), "entry")
    assert any(named in mistake for mistake in caught.value.mistakes), caught.value.mistakes
