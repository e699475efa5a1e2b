"""Images and runtimes of the registry in words: for `list`, and for `show`."""

from collections.abc import Iterator

from verifier.ask.answers import Answer
from verifier.catalog.entries.image import ImageEntry
from verifier.catalog.entries.image_rows import image_pins
from verifier.catalog.entries.runtime import RuntimeEntry

Row = tuple[str, str]


def listed_image(entry: ImageEntry) -> Answer:
    """Return what `list` says of an image."""
    kinds = list(dict.fromkeys(digest.kind for digest in entry.digests))
    rows = [("digests", ", ".join(f"{len(entry.of(kind))} {kind}" for kind in kinds))]
    rows += [*_platform(entry), ("project", entry.project)]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"image {entry.name}",
        rows=tuple(rows),
        data={"kind": "image", "entry": entry.name, "digests": kinds},
    )


def shown_image(entry: ImageEntry) -> Answer:
    """Return what `show` says of an image: every digest with its kind."""
    rows = [("project", entry.project)]
    if entry.repository:
        rows.append(("repository", entry.repository))
    rows += _platform(entry)
    rows += [(digest.kind, str(digest.pin)) for digest in entry.digests]
    rows += [("contains", f"{each.component} at commit {each.commit}") for each in entry.contains]
    rows += [("composition", name) for name in entry.compositions]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"image {entry.name}",
        rows=tuple(rows),
        data={
            "kind": "image",
            "entry": entry.name,
            "pins": [
                {"row": r.row, "kind": r.kind, "sha256": r.pin.sha256, "length": r.pin.length}
                for r in image_pins(entry)
            ],
        },
    )


def listed_runtime(entry: RuntimeEntry) -> Answer:
    """Return what `list` says of a runtime."""
    return Answer(
        known=True,
        name=entry.name,
        headline=f"runtime {entry.name}",
        rows=(*_of_runtime(entry), ("project", entry.project)),
        data={"kind": "runtime", "entry": entry.name},
    )


def shown_runtime(entry: RuntimeEntry) -> Answer:
    """Return what `show` says of a runtime: image, components, models, settings."""
    rows = [("project", entry.project), *_of_runtime(entry)]
    rows += [(each.name, f"component at commit {each.commit}") for each in entry.components]
    rows += [
        (model.role, f"model {model.repository} at revision {model.revision}")
        for model in entry.models
    ]
    rows += [("setting", f"{key} = {value}") for key, value in entry.settings]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"runtime {entry.name}",
        rows=tuple(rows),
        data={"kind": "runtime", "entry": entry.name},
    )


def _platform(entry: ImageEntry) -> list[Row]:
    return [("platform", entry.platform)] if entry.platform else []


def _of_runtime(entry: RuntimeEntry) -> Iterator[Row]:
    yield "image", "not known" if entry.image is None else str(entry.image)
    if entry.ranks:
        same = ", ".join(entry.ranks.same)
        yield "ranks", f"{entry.ranks.count}, the same {same}"
