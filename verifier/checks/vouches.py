"""What a registry vouches for, and what another one does instead, in sentences for reviewers.

An artifact is what a digest names. A registry *vouches* for it through a row of an entry; what a
policy makes of that depends on the status of the row's version. So a changed status is told too,
and so is every other field that changed, because a marker or a name decides what is tested.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.index import Row
from verifier.checks.helper.pinning.fields import differences
from verifier.core.value import frozen

_MEANING: Final = {
    "supported": "every policy takes it",
    "authentic": "only a policy that names it takes it",
    "revoked": "it is rejected",
    "unattested": "it is rejected",
}


@frozen
class Entry:
    """One entry: its kind and name, parsed, as tables, and what the look-up index holds of it."""

    kind: str
    name: str
    value: Any
    tables: Mapping[str, Any]
    rows: tuple[tuple[str, Row], ...]


@frozen
class Change:
    """One sentence: `gained`, `lost` or `changed`, of which entry, and which digest if any."""

    state: str
    entry: str
    sentence: str
    digest: str = ""


Key = tuple[str, str]


def compare(one: Iterable[Entry], other: Iterable[Entry]) -> tuple[Change, ...]:
    """Compare two registries; sentences come by entry, gained before lost before changed."""
    before = {(entry.kind, entry.name): entry for entry in one}
    after = {(entry.kind, entry.name): entry for entry in other}
    found: list[Change] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        found += _whole(old, new)
        found += _rows(old, new)
        if old is not None and new is not None:
            found += _statuses(old, new)
            found += _fields(old, new)
    return tuple(found)


def _whole(old: Entry | None, new: Entry | None) -> Iterator[Change]:
    """Tell of entries that came or went and pin no digest of their own."""
    entry = new or old
    if entry is None or (old is not None and new is not None) or entry.rows:
        return
    state = "lost" if new is None else "gained"
    word = "is gone" if new is None else "is new"
    yield Change(state=state, entry=entry.name, sentence=f"{entry.kind} {entry.name} {word}")


def _rows(old: Entry | None, new: Entry | None) -> Iterator[Change]:
    was = {} if old is None else {(digest, row.row): row for digest, row in old.rows}
    now = {} if new is None else {(digest, row.row): row for digest, row in new.rows}
    for state, mine, others, entry in (("gained", now, was, new), ("lost", was, now, old)):
        for (digest, row), found in sorted(mine.items(), key=lambda item: item[0][::-1]):
            if (digest, row) in others or entry is None:
                continue
            verb = "now vouches" if state == "gained" else "no longer vouches"
            what = _what(entry, digest, found)
            yield Change(
                state=state,
                entry=entry.name,
                sentence=f"{entry.name} {verb} for {what}",
                digest=digest,
            )


def _what(entry: Entry, digest: str, row: Row) -> str:
    if isinstance(entry.value, Lineage):
        pin = next(
            (p for p in entry.value.pins() if (p.pin.sha256, p.row) == (digest, row.row)), None
        )
        of_version = row.row.startswith("version/")
        version = entry.value.version(row.row.split("/")[1]) if of_version else None
        status = f", {version.status}" if version is not None else ""
        if pin is not None:
            return f"{pin.what}{status}: {pin.pin}"
    kind = row.kind if row.kind.startswith("git-") else f"{row.kind}:sha256"
    return f"{row.row}: {kind}:{digest}"


def _statuses(old: Entry, new: Entry) -> Iterator[Change]:
    if not isinstance(old.value, Lineage) or not isinstance(new.value, Lineage):
        return
    for version in new.value.versions:
        was = next((v for v in old.value.versions if v.id == version.id), None)
        if was is not None and was.status is not version.status:
            yield Change(
                state="changed",
                entry=new.name,
                sentence=f"{new.name} {version.id} was {was.status} and is {version.status} now: "
                f"{_MEANING[version.status]}",
            )


def _fields(old: Entry, new: Entry) -> Iterator[Change]:
    """Tell every other field that is otherwise; digests and statuses were told."""
    for each in differences(old.tables, new.tables):
        last = each.path.rpartition(".")[2]
        told = last in ("sha256", "status") or _is_pinned(each.one) or _is_pinned(each.other)
        if not told:
            yield Change(
                state="changed",
                entry=new.name,
                sentence=f"{new.name}: {each.path} was {_shown(each.one)} and is "
                f"{_shown(each.other)} now",
            )


def _is_pinned(value: str | None) -> bool:
    """Whether a table that came or went holds digests, which have sentences of their own."""
    return value is not None and "sha256 = " in value


def _shown(value: str | None) -> str:
    most = 160
    if value is None:
        return "absent"
    return value if len(value) <= most else f"{value[:most]} …"
