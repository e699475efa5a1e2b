"""What the comparison with a pin says: one function makes each finding."""

from collections.abc import Iterable
from typing import Final

from verifier.catalog.entries.image import ImageEntry
from verifier.checks.image.named import Named
from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.sources.image.graph import Layer
from verifier.sources.image.layer_members import Kind, Member

_SHOWN: Final = 6
_WHAT: Final = {
    "archive": "the archive file",
    "index": "an image index, over all platforms",
    "manifest": "the manifest of one platform",
    "config": "an image configuration, which Docker's classic store calls the image id",
    "layer": "one layer as it is stored",
    "diff-id": "what one layer unpacks to",
}


def what(kind: str) -> str:
    """Say in words what a kind of digest is the digest of."""
    return _WHAT.get(kind, kind)


def untyped(asked: Digest, kinds: Iterable[str]) -> Finding:
    """Say that a digest has no kind, and what it is here."""
    found = list(kinds)
    return Finding(
        code="image-expect-untyped",
        expected="<kind>:sha256:…, because four kinds of digest look alike",
        got=f"a bare digest; here it is {' and '.join(map(what, found)) or 'none of any kind'}",
        remedy=f"ask for {' or '.join(f'{kind}:{asked}' for kind in found)} if that is meant"
        if found
        else "find out what the digest was published as, and ask for it with its kind",
    )


def other_kind(asked: Digest, found: Named) -> Finding:
    """Say that the digest asked for is there, and is of another kind."""
    kinds = {asked.kind, found.kind}
    code, cause, remedy = "image-other-kind", None, "correct the kind where it is pinned"
    if kinds == {"index", "manifest"}:
        code = "image-index-not-manifest"
        cause = (
            "an index lists the manifests of several platforms; a container registry gives "
            "either under its own digest"
        )
        remedy = "pin the index for all platforms, or the manifest of one; ask for what it is"
    elif kinds == {"config", "manifest"}:
        code = "image-config-not-manifest"
        cause = (
            "Docker's classic store prints the configuration's digest as image id, its "
            "containerd store the manifest's"
        )
        remedy = "pull and pin by the manifest; compare an image id with the configuration"
    return Finding(
        code=code,
        expected=f"{asked}, {what(asked.kind or '')}",
        got=f"{found.digest}, {what(found.kind)}",
        cause=cause,
        remedy=f"{remedy}: {found.digest}",
    )


def part_only(found: Named) -> Finding:
    """Say that the digest is there and pins no whole image."""
    return Finding(
        code="image-part-only",
        expected="a digest of an index, manifest, configuration or archive",
        got=f"{found.digest}, {what(found.kind)}",
        remedy="pin the manifest, or the configuration: both name every layer",
    )


def several(asked: str, one: str, total: int) -> Finding:
    """Say that a pin speaks of one of several images."""
    return Finding(
        code="image-several",
        expected=f"one image, or a pin of all {total}",
        got=f"{asked} is of {one} alone",
        remedy="say which is meant with --platform, or by its name behind a colon; or pin the "
        "index",
    )


def lazy(asked: str, annotations: tuple[str, ...]) -> Finding:
    """Say that what is pinned is not what runtimes that pull lazily go by."""
    more = f" and {len(annotations) - _SHOWN} more" if len(annotations) > _SHOWN else ""
    return Finding(
        code="image-lazy-pull",
        expected=f"{asked}, and nothing beside it that names the files of a layer",
        got=f"annotations {', '.join(map(printable, annotations[:_SHOWN]))}{more}",
        cause="runtimes that pull lazily believe the table of contents that these name, not the "
        "bytes of the layer; the manifest says so, and it is not what was asked for",
        remedy="pin the manifest, which pins its annotations too; or take it in a form without a "
        "manifest (`skopeo copy … docker-archive:FILE`)",
    )


def reserialised(asked: Digest, found: Named, how: str) -> Finding:
    """Say that the document asked for is the one found, printed otherwise."""
    return Finding(
        code="image-reserialised",
        expected=str(asked),
        got=str(found.digest),
        cause=f"the {found.kind} found, printed as JSON {how}, has the digest asked for: a tool "
        "parsed it and wrote it again",
        remedy="copy the image again with a tool that keeps bytes (`skopeo copy --all "
        "--preserve-digests`)",
    )


def recompressed(
    asked: str, image: Named | None, entry: ImageEntry, count: int, form: str
) -> Finding:
    """Say that the content is the pinned one, under another manifest."""
    cause = (
        "a docker archive stores layers uncompressed"
        if form == "docker-archive"
        else ("its layers were compressed anew")
    )
    return Finding(
        code="image-recompressed",
        expected=asked,
        got=str(image.digest) if image else "no manifest",
        cause=f"{cause}, so manifest and layers have other digests; all {count} diff-ids equal "
        f"those of {entry.name}",
        remedy="pin the configuration or the diff-ids for archives, or verify the copy of the "
        "container registry by its manifest",
    )


def relabelled(asked: str, config: str, entry: ImageEntry, count: int) -> Finding:
    """Say that all layers are the pinned ones, under another configuration."""
    return Finding(
        code="image-relabelled",
        expected=asked,
        got=f"config:sha256:{config}",
        cause=f"all {count} diff-ids equal those of {entry.name}, so every file does; labels, "
        "environment, command or history differ, or a tool wrote the configuration anew",
        remedy="compare both with `skopeo inspect --config --raw`; pin this configuration only "
        "if you know who changed it",
    )


def extended(asked: str, entry: ImageEntry, above: tuple[Layer, ...]) -> Finding:
    """Say that the pinned image has more layers on top, and which files they bring or hide."""
    words = [_member(m) for layer in above if layer.found for m in layer.found.members]
    shown = [word for word in words if word][:_SHOWN]
    more = sum(word is not None for word in words) - len(shown)
    told = ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
    layers = "1 layer" if len(above) == 1 else f"{len(above)} layers"
    return Finding(
        code="image-extended",
        expected=asked,
        got=f"all layers of {entry.name}, and {layers} above them",
        cause=told or "nothing that was read",
        remedy="take the image that was pinned; what was built on it is another image, with an "
        "entry of its own",
    )


def _member(member: Member) -> str | None:
    """Say what a member of a layer does to what lies below; folders alone say nothing."""
    shown = printable(member.path.decode(errors="surrogateescape"))
    above, slash, name = shown.rpartition("/")
    match member.kind:
        case Kind.FOLDER:
            return None
        case Kind.WHITEOUT:
            return f"hides {above}{slash}{name.removeprefix('.wh.')}"
        case Kind.OPAQUE:
            return f"hides all below {above or 'the root'}"
        case _:
            return f"brings {shown}"


def not_expected(asked: str, found: Iterable[Named]) -> Finding:
    """Say that none of the digests is the one asked for."""
    whole = [named for named in found if named.kind not in ("layer", "diff-id")]
    shown = [str(named.digest) for named in whole[:_SHOWN]]
    more = len(whole) - len(shown)
    return Finding(
        code="image-not-expected",
        expected=asked,
        got=", ".join(shown) + (f" and {more} more" if more > 0 else "") or "no digest at all",
        remedy="take the image that was pinned; if this one is meant, pin it after you know where "
        "it comes from",
    )


def not_judged(asked: str, found: Named, images: list[str]) -> Finding:
    """Say that the digest is in the source, of something else than the image that is judged."""
    return Finding(
        code="image-not-expected",
        expected=asked,
        got=", ".join(images),
        cause=f"{found.digest} lies in the source too: of another platform, or of no image",
        remedy="ask with the --platform of the pinned image, or pin the one that is meant",
    )


def unregistered(found: Iterable[Named]) -> Finding:
    """Say that nothing in the registry is this image."""
    whole = [named for named in found if named.kind in ("index", "manifest", "config")]
    return Finding(
        code="image-unregistered",
        expected="an image of the registry, or a digest asked for with --expect",
        got=", ".join(str(named.digest) for named in whole[:_SHOWN]) or "no digest at all",
        remedy="give the digest that was published: --expect manifest:sha256:…; or pin the image "
        "as an entry",
    )


def unstated(entry: ImageEntry, found: Named) -> Finding:
    """Say that the registry knows the digest, and not what it is the digest of."""
    return Finding(
        code="image-kind-unstated",
        expected=f"{entry.name} with the kind of its digest",
        got=f"sha256:{found.digest.hex}, here {what(found.kind)}, published without a kind",
        remedy="ask its publisher what the digest is of; then correct the entry",
    )
