"""Every digest of images and runtimes as a row of its own: what the look-up index is made of."""

from collections.abc import Iterator

from verifier.catalog.entries.helper import PinRow
from verifier.catalog.entries.image import ImageEntry
from verifier.catalog.entries.runtime import RuntimeEntry
from verifier.catalog.index import Row
from verifier.core.digest import Digest, Pin

_SAID = {
    "archive": "an archive that holds it",
    "index": "its index, over all platforms",
    "manifest": "its manifest",
    "config": "its configuration, the image id of Docker's classic store",
    "layer": "a layer",
    "diff-id": "what a layer unpacks to",
    "unstated": "published without saying of what",
}


def image_pins(entry: ImageEntry) -> Iterator[PinRow]:
    """Return every pin of an image; the rows of one kind are counted where there are several."""
    counts: dict[str, int] = {}
    for digest in entry.digests:
        number = counts[digest.kind] = counts.get(digest.kind, -1) + 1
        several = len(entry.of(digest.kind)) > 1
        row = f"{digest.kind}/{number}" if several else digest.kind
        what = _SAID[digest.kind]
        if digest.kind in ("layer", "diff-id") and several:
            what += f", number {number + 1} of {len(entry.of(digest.kind))}"
        yield PinRow(row, digest.kind, digest.pin, what)


def image_ids(entry: ImageEntry) -> Iterator[tuple[str, str, str, str]]:
    """Return every git id of an image: row, kind, id, and what it is of."""
    for each in entry.contains:
        yield (
            f"contains/{each.component}",
            "git-commit",
            each.commit,
            f"the commit of {each.component} in it",
        )


def runtime_pins(entry: RuntimeEntry) -> Iterator[PinRow]:
    """Return the pin of a runtime's image, where it is a digest."""
    if isinstance(entry.image, Digest):
        pin = Pin(sha256=entry.image.hex, length=None)
        yield PinRow("image", entry.image.kind or "", pin, f"the {entry.image.kind} of its image")


def runtime_ids(entry: RuntimeEntry) -> Iterator[tuple[str, str, str, str]]:
    """Return every git id of a runtime: row, kind, id, and what it is of."""
    for component in entry.components:
        what = f"the commit of component {component.name}"
        yield f"component/{component.name}", "git-commit", component.commit, what
    for model in entry.models:
        what = f"the revision of its {model.role} model, {model.repository}"
        yield f"model/{model.role}", "git-commit", model.revision, what


def image_hints(entry: ImageEntry) -> Iterator[tuple[str, Row]]:
    """Return what the look-up index holds of an image."""
    for pin in image_pins(entry):
        yield pin.pin.sha256, Row(pin.kind, "image", entry.name, pin.row)
    for row, kind, digits, _ in image_ids(entry):
        yield digits, Row(kind, "image", entry.name, row)


def runtime_hints(entry: RuntimeEntry) -> Iterator[tuple[str, Row]]:
    """Return what the look-up index holds of a runtime."""
    for pin in runtime_pins(entry):
        yield pin.pin.sha256, Row(pin.kind, "runtime", entry.name, pin.row)
    for row, kind, digits, _ in runtime_ids(entry):
        yield digits, Row(kind, "runtime", entry.name, row)
