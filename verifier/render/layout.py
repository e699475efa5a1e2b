"""Lines of a terminal of 80 columns: a word, a label, a text that wraps behind them.

What is quoted is evidence and never broken: one space more or less may be the whole finding.
Digests are shortened here and nowhere else.
"""

import re
import textwrap
from typing import Final

from verifier.core.printable import printable

_COLUMNS: Final = 80
_WORD: Final = 11
_LABEL: Final = 11
_LONGEST_LABEL: Final = 24
_COLOURS: Final = {"verified": "32", "rejected": "31", "undecided": "33", "error": "31"}
#: Bare digests; a typed one is something to copy and stays whole.
_DIGEST: Final = re.compile(r"(?<![:0-9a-f])([0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])")
_UNBROKEN: Final = re.compile(r'"[^"]*"|\(line \d+\)|\b\d[\d,]* bytes')
_GLUE: Final = "\ue000"


def first(word: str, headline: str, *, colour: bool) -> str:
    """Lay out the first line: the verdict, and what it is about."""
    painted = f"\033[{_COLOURS[word]}m{word}\033[0m" if colour and word in _COLOURS else word
    return f"{painted}{' ' * (_WORD - len(word))}{wrapped(headline, _WORD)}"


def second(text: str) -> str:
    """Lay out the second line: the main reason."""
    return " " * _WORD + wrapped(text, _WORD)


def rows(pairs: list[tuple[str, str]], *, short: bool = True) -> list[str]:
    """Lay out labels and texts in two columns; `short` digests are of 12 digits."""
    longest = max((len(label) for label, _ in pairs), default=0)
    width = min(max(longest, _LABEL), _LONGEST_LABEL)
    return [
        f"  {label:<{width}} {wrapped(text, width + 3, short=short)}".rstrip()
        for label, text in pairs
    ]


def shortened(text: str) -> str:
    """Cut bare digests to what people compare by eye."""
    return _DIGEST.sub(r"\1", text)


def wrapped(text: str, indent: int, *, short: bool = True) -> str:
    """Wrap a text behind `indent` columns."""
    clean = shortened(printable(text)) if short else printable(text)
    if len(clean) <= _COLUMNS - indent:
        return clean.rstrip(" ")  # what wrapping would return, at a tenth of its time
    glued = _UNBROKEN.sub(lambda found: found[0].replace(" ", _GLUE), clean)
    lines = textwrap.wrap(glued, _COLUMNS - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(lines).replace(_GLUE, " ")
