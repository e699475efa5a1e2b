"""Times: RFC 3339 in UTC with `Z` and whole seconds, the one spelling pinproof reads or prints."""

from datetime import UTC, datetime


def parse_time(text: str) -> datetime | None:
    """Read `2026-11-29T00:00:00Z`; None for anything that does not print back to itself."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None and print_time(time) == text else None


def print_time(time: datetime) -> str:
    """Print an aware time in UTC, fractions of a second cut off."""
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
