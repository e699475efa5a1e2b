"""Platforms: what is one, what may be one, and what is spelt in an unusual way (containerd)."""

import pytest

from verifier.sources.image.graph import Platform


def platform(text: str) -> Platform:
    os, architecture, *variant = text.split("/")
    return Platform(os=os, architecture=architecture, variant=variant[0] if variant else None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("linux/arm", "linux/arm/v7"),
        ("linux/armhf", "linux/arm"),
        ("linux/arm/7", "linux/arm"),
        ("linux/arm64", "linux/arm64/v8"),
        ("linux/arm64", "linux/arm64/v8.0"),
        ("linux/aarch64", "linux/arm64/8"),
        ("linux/amd64", "linux/amd64/v1"),
        ("Linux/X86_64", "linux/amd64"),
    ],
)
def test_what_is_asked_for_is_the_usual_variant(one: str, other: str) -> None:
    assert platform(one).is_same(platform(other))
    assert platform(other).is_same(platform(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("linux/arm", "linux/arm/v6"),
        ("linux/arm", "linux/arm64"),
        ("linux/arm64", "linux/arm64/v9"),
        ("linux/amd64", "linux/amd64/v3"),
        ("linux/amd64", "windows/amd64"),
        ("linux/386", "linux/amd64"),
    ],
)
def test_another_variant_is_never_what_was_asked_for(one: str, other: str) -> None:
    assert not platform(one).is_same(platform(other))


def test_a_variant_that_is_not_stated_contradicts_none() -> None:
    assert platform("linux/arm").is_as(platform("linux/arm/v6"))
    assert not platform("linux/arm/v5").is_as(platform("linux/arm/v6"))
    old, new = (Platform(os="windows", architecture="amd64", version=v) for v in ("1", "2"))
    assert not old.is_as(new)
    assert old.is_as(platform("windows/amd64"))


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("linux/arm", True),
        ("linux/arm/v7", True),
        ("linux/arm/v6", True),
        ("linux/arm64/v8", True),
        ("linux/amd64/v3", True),
        ("linux/arm/7", False),
        ("linux/arm64/v8.0", False),
        ("linux/armhf", False),
        ("linux/AMD64", False),
    ],
)
def test_the_spelling_of_go(text: str, spelt: bool) -> None:
    assert platform(text).spelt is spelt
