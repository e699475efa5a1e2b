"""A finding about a release, with the remedy that all of them share."""

from verifier.core.finding import Finding, Where

AGAIN = "delete what was downloaded and take the release from its page again; do not run it"


def problem(
    code: str,
    path: str,
    *,
    expected: str | None = None,
    got: str | None = None,
    cause: str | None = None,
    remedy: str = AGAIN,
) -> Finding:
    """Return a finding about one file of a release."""
    return Finding(
        code=code, where=Where(path=path), expected=expected, got=got, cause=cause, remedy=remedy
    )
