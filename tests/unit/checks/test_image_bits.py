"""No bit of an image can change and leave it what was pinned."""

from pathlib import Path

import pytest
from support import images

from verifier.checks.image import Asked, check
from verifier.core.coverage import State
from verifier.core.digest import Digest
from verifier.core.outcome import Outcome, Subject
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources.image.argument import parse
from verifier.sources.image.open import read

DEMANDED = frozenset({"graph", "expected"})


def judged(layout: Path, asked: Digest) -> tuple[Verdict, Outcome]:
    from datetime import UTC, datetime

    outcome = check(read(parse(f"oci:{layout}")), Asked(digest=asked))
    result = judge(
        outcome,
        subject=Subject(name="layout"),
        demanded=DEMANDED,
        now=datetime(2026, 11, 29, tzinfo=UTC),
    )
    return result.verdict, outcome


@pytest.mark.parametrize("kind", ["manifest", "config", "index"])
def test_no_bit_of_a_blob_can_change(kind: str, tmp_path: Path) -> None:
    platforms = ["amd64", "arm64"] if kind == "index" else ["amd64"]
    made = images.made({"platforms": platforms}, form="oci")
    image = made.images[0]
    data = {
        "manifest": image.manifest_bytes,
        "config": image.config_bytes,
        "index": images.printed(made.index),
    }[kind]
    asked = Digest(kind=kind, hex=images.hexed(data))
    images.make(tmp_path / "image", {"platforms": platforms})
    assert judged(tmp_path / "image", asked)[0] is Verdict.VERIFIED
    for blob in sorted((tmp_path / "image" / "blobs" / "sha256").iterdir()):
        whole = blob.read_bytes()
        for at in range(0, len(whole), 7):
            changed = bytearray(whole)
            changed[at] ^= 1 << at % 8
            blob.write_bytes(changed)
            verdict, _ = judged(tmp_path / "image", asked)
            assert verdict is not Verdict.VERIFIED, (blob.name, at)
        blob.write_bytes(whole)


@pytest.mark.parametrize("lie", sorted({**images.BEFORE, **images.CONFIGURED, **images.STATED}))
def test_no_lie_about_an_image_leaves_its_manifest(lie: str, tmp_path: Path) -> None:
    """Whatever a builder writes otherwise, the digest that was pinned is not its digest."""
    asked = Digest(kind="manifest", hex=images.hexed(images.image_of("amd64").manifest_bytes))
    images.make(tmp_path / "image", {"lies": [lie]})
    verdict, outcome = judged(tmp_path / "image", asked)
    assert verdict is not Verdict.VERIFIED
    states = {covered.facet: covered.state for covered in outcome.coverage}
    assert states["expected"] in (State.NOT_HELD, State.NOT_CHECKED)
