"""What `list` and `show` say of a release."""

from verifier.ask.answers import Answer
from verifier.catalog.entries.release import ReleaseEntry
from verifier.core.digest import Pin


def listed_release(entry: ReleaseEntry) -> Answer:
    """Return the answer that lists a release."""
    targets = [target.triple for target in entry.targets]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"release {entry.name}, commit {entry.source_commit[:12]}",
        rows=(("targets", ", ".join(targets) or "none recorded"), ("project", entry.project)),
        data={"kind": "release", "entry": entry.name, "targets": targets},
    )


def shown_release(entry: ReleaseEntry) -> Answer:
    """Return the answer that shows a release whole."""
    rows = [
        ("project", entry.project),
        ("tag", entry.tag),
        ("commit", entry.source_commit),
        ("format", entry.format),
    ]
    for target in entry.targets:
        for what in ("archive", "checksum", "receipt"):
            pin: Pin | None = getattr(target, what)
            rows.append((target.triple, f"{what} {pin or 'not known'}"))
    rows += [("staging", f"{each.sha256} · {each.reason}") for each in entry.staging]
    return Answer(
        known=True,
        name=entry.name,
        headline=f"release {entry.name}",
        rows=tuple(rows),
        data={
            "kind": "release",
            "entry": entry.name,
            "version": entry.version,
            "tag": entry.tag,
            "sourceCommit": entry.source_commit,
            "targets": [
                {
                    "triple": target.triple,
                    **{
                        what: pin and {"sha256": pin.sha256, "length": pin.length}
                        for what, pin in (
                            ("archive", target.archive),
                            ("checksum", target.checksum),
                            ("receipt", target.receipt),
                        )
                    },
                }
                for target in entry.targets
            ],
            "staging": [{"sha256": each.sha256, "reason": each.reason} for each in entry.staging],
        },
    )
