"""Real images by real tools: skopeo, umoci and docker-registry, on the loopback alone.

Each test builds, pushes, pulls or converts with those programs and judges what they wrote. Where
they are not installed the tests are skipped and say so; `.ci/run` installs them, and there a
missing one is a failure (PINPROOF_REAL_IMAGES).
"""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from support import images, runs
from support import registry as registries

TOOLS: Final = ("skopeo", "umoci", "docker-registry")
#: What `umoci insert` 0.4.7 does to every layer: it writes no end.
UMOCI: Final = {"layer-unended"}
_MISSING: Final = [tool for tool in TOOLS if shutil.which(tool) is None]

pytestmark = pytest.mark.skipif(
    bool(_MISSING) and "PINPROOF_REAL_IMAGES" not in os.environ,
    reason=f"not installed: {', '.join(_MISSING)}",
)


def tool(*command: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOME": str(cwd)},
    )
    assert not check or done.returncode == 0, (command, done.stderr)
    return done


def skopeo(
    *arguments: str | Path, cwd: Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    return tool("skopeo", "--insecure-policy", *arguments, cwd=cwd, check=check)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a layout with umoci, and one of two platforms of our own."""
    folder = tmp_path_factory.mktemp("images")
    (folder / "root" / "app").mkdir(parents=True)
    (folder / "root" / "app" / "serve.py").write_text("print('serving')\n")
    (folder / "root" / "app" / "link").symlink_to("serve.py")
    tool("umoci", "init", "--layout", "built", cwd=folder)
    tool("umoci", "new", "--image", "built:v1", cwd=folder)
    tool("umoci", "insert", "--image", "built:v1", "root/app", "/app", cwd=folder)
    tool(
        *("umoci", "config", "--image", "built:v1", "--os", "linux", "--architecture", "amd64"),
        *("--config.cmd", "/app/serve.py", "--created", "2026-01-01T00:00:00Z"),
        cwd=folder,
    )
    images.make(folder / "multi", {"platforms": ["amd64", "arm64"]})
    return folder


@pytest.fixture(scope="module")
def hub(place: Path) -> Iterator[str]:
    """Serve a container registry on the loopback, as Debian packages it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (place / "hub.yml").write_text(
        "version: 0.1\nlog: {level: error}\n"
        f"storage: {{filesystem: {{rootdirectory: {place}/hub}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n"
    )
    with subprocess.Popen(
        ["docker-registry", "serve", "hub.yml"],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def judged(
    source: str, *options: str, cwd: Path, registry: registries.Registry
) -> tuple[int, dict[str, Any]]:
    command = ["verify", "image", source, *options, "--format", "json", *runs.trusting(registry)]
    ran = runs.run(command, cwd=cwd, clock=registries.NOW)
    assert b"Traceback" not in ran.stderr
    return ran.exit, json.loads(ran.stdout)["results"][0]


def codes(result: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in result["findings"]}


def digest_of(layout: Path, ref: str) -> str:
    rows = json.loads((layout / "index.json").read_text())["manifests"]
    found = [r for r in rows if r.get("annotations", {}).get(images.REF) == ref]
    return str(found[0]["digest"])


def config_of(layout: Path, manifest: str) -> str:
    path = layout / "blobs" / "sha256" / manifest.removeprefix("sha256:")
    return str(json.loads(path.read_text())["config"]["digest"])


def test_what_umoci_builds_is_sound(place: Path, test_registry: registries.Registry) -> None:
    manifest = digest_of(place / "built", "v1")
    for kind, digest in (("manifest", manifest), ("config", config_of(place / "built", manifest))):
        code, result = judged(
            "oci:built:v1", "--expect", f"{kind}:{digest}", cwd=place, registry=test_registry
        )
        assert (code, codes(result)) == (0, UMOCI), result


def test_what_umoci_leaves_over_is_named(place: Path, test_registry: registries.Registry) -> None:
    manifest = digest_of(place / "built", "v1")
    code, result = judged(
        "oci:built", "--expect", f"manifest:{manifest}", cwd=place, registry=test_registry
    )
    assert (code, codes(result)) == (0, {"image-unreferenced", *UMOCI}), result


def test_pushed_and_pulled_it_keeps_its_manifest(
    place: Path, hub: str, test_registry: registries.Registry
) -> None:
    manifest = digest_of(place / "built", "v1")
    skopeo("copy", "--dest-tls-verify=false", "oci:built:v1", f"docker://{hub}/t/app:v1", cwd=place)
    inspected = skopeo(
        *("inspect", "--tls-verify=false", "--format", "{{.Digest}}", f"docker://{hub}/t/app:v1"),
        cwd=place,
    )
    assert inspected.stdout.strip() == manifest
    at = f"docker://{hub}/t/app@{manifest}"
    skopeo("copy", "--src-tls-verify=false", at, "oci:pulled:v1", cwd=place)
    skopeo("copy", "--src-tls-verify=false", at, "oci-archive:pulled.oci.tar:v1", cwd=place)
    for source in ("oci:pulled", "oci-archive:pulled.oci.tar"):
        code, result = judged(
            source, "--expect", f"manifest:{manifest}", cwd=place, registry=test_registry
        )
        assert (code, codes(result)) == (0, UMOCI), result


def test_a_docker_archive_keeps_the_files_and_not_the_manifest(
    place: Path, test_registry: registries.Registry
) -> None:
    manifest = digest_of(place / "built", "v1")
    skopeo("copy", "oci:built:v1", "docker-archive:saved.docker.tar:example.test/app:v1", cwd=place)
    code, result = judged(
        "docker-archive:saved.docker.tar",
        *("--expect", f"manifest:{manifest}"),
        cwd=place,
        registry=test_registry,
    )
    assert (code, codes(result)) == (1, {"image-not-expected", *UMOCI}), result
    config = next(d for d in result["subject"]["digests"] if d.startswith("config:"))
    code, result = judged(
        "docker-archive:saved.docker.tar", "--expect", config, cwd=place, registry=test_registry
    )
    assert (code, codes(result)) == (0, UMOCI), result


def test_converted_to_a_docker_archive_the_diff_ids_explain_it(
    place: Path, test_registry: registries.Registry
) -> None:
    """The image of the test registry, whose entry lists its diff-ids (outputs of the design)."""
    images.make(place / "one", {})
    skopeo("copy", "oci:one:v1", "docker-archive:one.docker.tar:example.test/app:v1", cwd=place)
    manifest = digest_of(place / "one", "v1")
    code, result = judged(
        "docker-archive:one.docker.tar",
        *("--expect", f"manifest:{manifest}"),
        cwd=place,
        registry=test_registry,
    )
    assert (code, codes(result)) == (1, {"image-recompressed"}), result


@pytest.mark.parametrize("form", ["oci", "oci-archive"])
def test_two_platforms_keep_their_index(
    form: str, place: Path, hub: str, test_registry: registries.Registry
) -> None:
    index = digest_of(place / "multi", "v1")
    copy = ("copy", "--all")
    skopeo(
        *copy, "--dest-tls-verify=false", "oci:multi:v1", f"docker://{hub}/t/multi:v1", cwd=place
    )
    name = "multi-pulled" + ("" if form == "oci" else ".tar")
    source = f"docker://{hub}/t/multi@{index}"
    skopeo(*copy, "--src-tls-verify=false", source, f"{form}:{name}:v1", cwd=place)
    code, result = judged(
        f"{form}:{name}", "--expect", f"index:{index}", cwd=place, registry=test_registry
    )
    assert (code, codes(result)) == (0, set()), result
    code, result = judged(
        f"{form}:{name}", "--expect", f"manifest:{index}", cwd=place, registry=test_registry
    )
    assert (code, codes(result)) == (1, {"image-index-not-manifest"}), result


def test_one_platform_of_an_index_is_named_as_that(
    place: Path, hub: str, test_registry: registries.Registry
) -> None:
    index = digest_of(place / "multi", "v1")
    at = f"docker://{hub}/t/multi@{index}"
    skopeo(
        *("copy", "--all", "--dest-tls-verify=false", "oci:multi:v1", f"docker://{hub}/t/multi:v1"),
        cwd=place,
    )
    skopeo(
        *("--override-arch", "arm64", "copy", "--src-tls-verify=false", at, "oci:arm:v1"), cwd=place
    )
    manifest = digest_of(place / "arm", "v1")
    ask = ("--platform", "linux/arm64", "--expect")
    code, _ = judged("oci:arm", *ask, f"manifest:{manifest}", cwd=place, registry=test_registry)
    assert code == 0
    code, result = judged("oci:arm", *ask, f"index:{index}", cwd=place, registry=test_registry)
    assert (code, codes(result)) == (1, {"image-not-expected"}), result
    code, result = judged("oci:arm", "--platform", "linux/amd64", cwd=place, registry=test_registry)
    assert code == 1
    assert "image-platform-absent" in codes(result)


#: How a layout is spoilt, whether skopeo copies it all the same, and our code.
SPOILT: Final = {
    "index changed": (True, "image-blob-changed"),
    "manifest changed": (False, "image-size"),
    "flipped byte": (False, "image-blob-changed"),
    "layer missing": (False, "image-blob-missing"),
    "config missing": (False, "image-blob-missing"),
    "platforms swapped": (True, "image-platform-config"),
    "child size": (True, "image-size"),
    "name twice": (True, "image-ref-twice"),
    "diff-id of another": (True, "image-diff-id"),
    "history short": (True, "image-history"),
    "platform twice": (True, "image-platform-twice"),
}


@pytest.mark.parametrize("lie", SPOILT)
def test_what_skopeo_copies_without_a_word_is_refused(
    lie: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    copied, code = SPOILT[lie]
    images.make(tmp_path / "lie", {"platforms": ["amd64", "arm64"], "lies": [lie]})
    done = skopeo("copy", "--all", "oci:lie:v1", "oci:copy:v1", cwd=tmp_path, check=False)
    assert (done.returncode == 0) == copied, done.stderr
    exit_code, result = judged("oci:lie:v1", cwd=tmp_path, registry=test_registry)
    assert exit_code in (1, 3)
    assert code in codes(result), result


def test_the_digests_are_those_that_skopeo_and_sha256sum_compute(
    place: Path, test_registry: registries.Registry
) -> None:
    skopeo("copy", "oci:built:v1", "dir:plain", cwd=place)
    printed = skopeo("manifest-digest", "plain/manifest.json", cwd=place).stdout.strip()
    _, result = judged("oci:built:v1", cwd=place, registry=test_registry)
    found = set(result["subject"]["digests"])
    assert f"manifest:{printed}" in found
    manifest = json.loads((place / "plain" / "manifest.json").read_text())
    config = (place / "plain" / manifest["config"]["digest"].removeprefix("sha256:")).read_bytes()
    assert f"config:sha256:{hashlib.sha256(config).hexdigest()}" in found


def test_the_walk_of_the_documents_ends_as_it_says(tmp_path: Path) -> None:
    """docs/images.md as a script: verdict and code are compared with those that it expects."""
    walk = Path(__file__).parents[2] / "examples" / "images" / "walk.sh"
    done = subprocess.run(
        ["sh", walk, "walk"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=180,
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "PATH": f"{runs.PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
        },
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
