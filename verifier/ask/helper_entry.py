"""What `list` and `show` say of a helper lineage."""

from verifier.ask.answers import Answer
from verifier.catalog.entries.helper import Lineage, Producer


def listed_helper(entry: Lineage) -> Answer:
    """Return the answer that lists a lineage."""
    versions = {s: [v.id for v in entry.versions if v.status == s] for s in _statuses(entry)}
    return Answer(
        known=True,
        name=entry.name,
        headline=f"helper {entry.name}, current {entry.current}",
        rows=(
            *((status, ", ".join(ids)) for status, ids in versions.items()),
            ("project", entry.project),
        ),
        data={
            "kind": "helper",
            "entry": entry.name,
            "current": entry.current,
            "versions": versions,
        },
    )


def _statuses(entry: Lineage) -> list[str]:
    return list(dict.fromkeys(str(version.status) for version in entry.versions))


def shown_helper(entry: Lineage) -> Answer:
    """Return the answer that shows a lineage whole."""
    rows = [
        ("project", entry.project),
        ("host", entry.host),
        ("marker", f"{entry.marker_prefix.decode()}…]"),
        ("owns", ", ".join(entry.owned_names)),
        ("followed by", ", ".join(anchor.name for anchor in entry.end_anchors)),
    ]
    rows += [("base", f"{base.name} · {base.pin}") for base in entry.bases]
    for version in entry.versions:
        if version.body is None:
            rows.append((version.id, f"{version.status}: {version.reason}"))
            continue
        count = len(entry.sites[version.body.sites])
        reason = f" · {version.reason}" if version.reason else ""
        rows.append((version.id, f"{version.status} · {version.body.pin} · {count} sites{reason}"))
        rows += [("", _produced(producer)) for producer in version.body.producers]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"helper {entry.name}, current {entry.current}",
        rows=tuple(rows),
        data={
            "kind": "helper",
            "entry": entry.name,
            "pins": [
                {"row": r.row, "kind": r.kind, "sha256": r.pin.sha256, "length": r.pin.length}
                for r in entry.pins()
            ],
        },
    )


def _produced(producer: Producer) -> str:
    commit = producer.commit or f"{producer.commit_prefix}… (abbreviated: recorded, never matched)"
    return f"{producer.repository} {commit} {producer.path} {producer.symbol} ({producer.method})"
