"""A derived entry beside what is registered already: what it adds, and what it may not change.

A version that was reviewed keeps its body and its sites for ever; what differs is another version
and has a name of its own. Bodies that changed under one marker and one name are how v5 drifted
(helpers.md §0: two bodies of one length under `:v5`, told apart by four characters).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from verifier.catalog.entries.helper import Lineage, Version
from verifier.checks.helper.sightings import full_marker
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

_RENAME = (
    "give the body that was published later an id of its own (such as v5-main) and, where it is "
    "yours to say, a marker of its own; what is registered stays as it is"
)


@frozen
class Merged:
    """The entry as it would be, and what reviewers have to be told of it."""

    lineage: Lineage
    notes: tuple[str, ...]


def merged(old: Lineage | None, new: Lineage) -> Merged | tuple[Finding, ...]:
    """Put the derived versions to those that are registered under the same name."""
    problems = list(_repeated(new))
    if old is not None:
        problems += [*_moved(old, new), *_changed(old, new)]
    if problems:
        return tuple(problems)
    lineage = new if old is None else _joined(old, new)
    return Merged(lineage=lineage, notes=tuple(_notes(lineage)))


def foreign(new: Lineage, others: Iterable[Lineage]) -> tuple[Finding, ...]:
    """Look whether the marker, the names or the name itself are another lineage's."""
    return tuple(finding for other in others for finding in _foreign(new, other))


def _foreign(new: Lineage, other: Lineage) -> Iterator[Finding]:
    def owned(what: str, got: str, cause: str) -> Finding:
        return Finding(
            code="pin-marker-owned",
            expected=f"{what} of its own for {new.name}",
            got=f"{got}, which is that of {other.name} ({other.project})",
            cause=cause,
            remedy="choose another; a file in which both stand could be judged by neither",
        )

    if new.name == other.name:
        yield owned("a name", new.name, "two projects, one name")
        return
    prefixes = new.marker_prefix, other.marker_prefix
    theirs = {v.marker for v in other.versions}
    ours = {v.marker for v in new.versions}
    if (
        prefixes[0].startswith(prefixes[1])
        or prefixes[1].startswith(prefixes[0])
        or any(full_marker(prefixes[0]).fullmatch(marker) for marker in theirs)
        or any(full_marker(prefixes[1]).fullmatch(marker) for marker in ours)
    ):
        yield owned(
            "a marker prefix",
            quoted(new.marker_prefix.decode()),
            "a marker of the one would be read as one of the other",
        )
    for name in sorted(set(new.owned_names) & set(other.owned_names)):
        yield owned("names", name, "both helpers bind it, and the later one wins")


def _repeated(new: Lineage) -> Iterator[Finding]:
    """Name derived versions that are one and the same body."""
    seen: dict[Pin, Version] = {}
    for version, body in new.published:
        first = seen.setdefault(body.pin, version)
        if first is not version:
            yield _shadow(version, first.id, body.pin)


def _moved(old: Lineage, new: Lineage) -> Iterator[Finding]:
    """Name what is said of the lineage as a whole and is registered otherwise."""
    for what, was, now in (
        ("marker_prefix", old.marker_prefix.decode(), new.marker_prefix.decode()),
        ("project", old.project, new.project),
        ("host", old.host, new.host),
    ):
        if was != now:
            yield Finding(
                code="pin-version-shadows",
                expected=f"the registered {what}, {quoted(was)}",
                got=quoted(now),
                remedy=f"correct {what} in the recipe; another lineage needs another name",
            )
    bases = {base.name: base.pin for base in old.bases}
    for base in new.bases:
        if bases.get(base.name, base.pin) != base.pin:
            yield Finding(
                code="pin-version-shadows",
                expected=f"the registered base {base.name}: {bases[base.name]}",
                got=str(base.pin),
                cause="the pristine host is of another upstream commit",
                remedy="give this base a name of its own",
            )
    if old.import_site and new.import_site and old.import_site != new.import_site:
        yield Finding(
            code="pin-imports-differ",
            expected=f"the registered import site: {old.import_site.new}",
            got=str(new.import_site.new),
            remedy="an entry has one import site; use a host that has all other imports already",
        )


def _changed(old: Lineage, new: Lineage) -> Iterator[Finding]:
    known = {body.pin: version.id for version, body in old.published}
    for version in new.versions:
        was = old.version(version.id)
        body = version.body
        if was is None:
            taken = [name for name in version.aliases if old.version(name)]
            if taken or (body is not None and body.pin in known):
                other = taken[0] if taken else known[body.pin] if body else ""
                yield _shadow(version, other, body.pin if body else None)
        elif was.id != version.id or (was.body is None) != (body is None):
            yield _shadow(version, was.id, body.pin if body else None)
        elif was.body is not None and body is not None:
            sites = old.sites[was.body.sites], new.sites[body.sites]
            same = was.body.pin == body.pin and sites[0] == sites[1]
            if was.marker != version.marker:
                yield _shadow(version, was.id, body.pin)
            elif not same:
                yield _drifted(version, was, sites[0] == sites[1])


def _shadow(version: Version, other: str, pin: Pin | None) -> Finding:
    return Finding(
        code="pin-version-shadows",
        expected=f"a name and a body that are not registered yet for {version.id}",
        got=f"those of {other}" + (f": {pin}" if pin else ""),
        cause="the version is registered already, under this name or another",
        remedy="leave it out, or record the other name as an alias of it",
    )


def _drifted(version: Version, was: Version, same_sites: bool) -> Finding:  # noqa: FBT001
    one, other = was.body, version.body
    if one is None or other is None:
        raise ValueError("both have bodies")
    body = one.pin != other.pin
    return Finding(
        code="pin-body-drifted",
        expected=f"{was.id} as it is registered: {one.pin}" if body else f"the sites of {was.id}",
        got=f"{other.pin}, another body under the same marker and the same name"
        if body
        else "the same body at other sites, under the same marker and the same name",
        cause="the text was edited in place and its marker left as it was"
        + (", at the same length" if body and one.pin.length == other.pin.length else "")
        + ("" if same_sites or not body else "; its sites changed too"),
        where=Where(),
        remedy=_RENAME,
    )


def _joined(old: Lineage, new: Lineage) -> Lineage:
    by_id = {version.id: version for version in new.versions}
    anchors = {anchor.text: anchor for anchor in (*old.end_anchors, *new.end_anchors)}
    names = {anchor.name for anchor in old.end_anchors}
    return replace(
        new,
        owned_names=tuple(dict.fromkeys((*old.owned_names, *new.owned_names))),
        end_anchors=(
            *old.end_anchors,
            *(
                anchor if anchor.name not in names else replace(anchor, name=f"{anchor.name}-new")
                for text, anchor in anchors.items()
                if text not in {a.text for a in old.end_anchors}
            ),
        ),
        import_site=old.import_site or new.import_site,
        bases=(*old.bases, *(b for b in new.bases if b.name not in {o.name for o in old.bases})),
        versions=(
            *(by_id.get(v.id, v) for v in old.versions),
            *(v for v in new.versions if old.version(v.id) is None),
        ),
        sites={**old.sites, **new.sites},
    )


def _notes(lineage: Lineage) -> Iterator[str]:
    """Say of which versions only the digest tells them apart."""
    seen: dict[bytes, list[Version]] = {}
    for version, _ in lineage.published:
        seen.setdefault(version.marker, []).append(version)
    for versions in seen.values():
        if len(versions) > 1:
            yield _alike(versions)


def _alike(versions: Sequence[Version]) -> str:
    lengths = {version.body.pin.length for version in versions if version.body}
    told = "marker and length" if len(lengths) == 1 else "marker"
    names = ", ".join(version.id for version in versions)
    return f"{names} have the same {told} and different bodies: only the digest tells them apart"
