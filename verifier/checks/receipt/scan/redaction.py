"""What redacting may do to a receipt, and what it did (rules P4 and P5).

A redacted field is replaced whole by `PLACEHOLDER`, or taken away, and listed. What was measured,
and what other parts refer to, is no field that can be redacted.
"""

import re
from typing import Any, Final

from verifier.checks.receipt.scan import loose

PLACEHOLDER: Final = "[redacted]"
#: Paths of what was measured, counted, timed, judged or referred to; indices are written [].
_MEASURED: Final = re.compile(
    r"(?:samples|totals|sampleCount|derived|outcomes|tests|scrapes|gates|design|equality|kind"
    r"|receiptId|assurance|status|sanitisation|summarises|supersedes|subject)(?:[.\[].*)?"
    r"|arms\[\]\.(?:id|role|state|counts|captures|activation|flags|failingChecks)(?:[.\[].*)?"
    r"|claims\[\]\.(?:id|kind|figures|arms|margin|grid|resident|feature)(?:[.\[].*)?"
    r"|(?:evidence|workloads|models|references)\[\](?:\.(?:id|role|digest|bytes|published))?"
    r"|(?:arms|claims|evidence|workloads|models|references)(?:\[\])?"
    r"|.*(?:At|sha256|gitCommit|Us)"
)
_INDEX: Final = re.compile(r"\[[0-9]+\]")


def measured(path: str) -> bool:
    """Whether a path is of what may not be altered."""
    return _MEASURED.fullmatch(_INDEX.sub("[]", path)) is not None


def is_placeholder(value: Any) -> bool:
    """Whether a value stands for a redacted one: a text, or a list of texts."""
    return value in (PLACEHOLDER, [PLACEHOLDER])


def found(document: Any, path: str) -> Any:
    """Return what stands at a path such as `arms[0].settings.HOST`, None if nothing does.

    Keys may hold points: the longest key that is there is taken.
    """
    if not path:
        return document
    if path.startswith("["):
        index, _, rest = path[1:].partition("]")
        inside = isinstance(document, list) and index.isdecimal() and int(index) < len(document)
        return found(document[int(index)], rest.removeprefix(".")) if inside else None
    for key in sorted((key for key, _ in loose.pairs(document) or ()), key=len, reverse=True):
        rest = path.removeprefix(key)
        if path.startswith(key) and (not rest or rest[0] in ".["):
            return found(document[key], rest.removeprefix("."))
    return None


def replaced(document: Any) -> list[str]:
    """Return the path of every field that holds the placeholder."""
    paths: list[str] = []
    waiting: list[tuple[Any, str]] = [(document, "")]
    while waiting:
        item, place = waiting.pop()
        if is_placeholder(item):
            paths.append(place)
        elif isinstance(item, list):
            waiting += [(each, f"{place}[{number}]") for number, each in enumerate(item)]
        else:
            below = loose.pairs(item) or ()
            waiting += [(value, f"{place}.{key}" if place else key) for key, value in below]
    return sorted(paths)
