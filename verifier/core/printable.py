"""Foreign text made fit to print: names, lines of a file, whatever somebody else chose.

A report must not depend on the locale (law 2), and nothing foreign may steer a terminal. File
names reach Python as text with the bytes it could not decode smuggled in as lone surrogates;
which bytes those are depends on the locale, so they are always decoded anew as UTF-8.
"""

import json

from verifier.core.limits import QUOTED_CHARACTERS


def printable(text: str) -> str:
    """Return `text` as one line of visible characters, all others escaped."""
    if text.isascii() and text.isprintable():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    decoded = data.decode("utf-8", "backslashreplace")
    if decoded.isprintable():
        return decoded
    return "".join(c if c.isprintable() else _escaped(c) for c in decoded)


def quoted(text: str) -> str:
    """Return foreign text in quotes, on one line: what errors show of a file's content."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def cut(text: str) -> str:
    """Return the beginning of foreign text that may be long, fit to print on one line."""
    shown = printable(text[:QUOTED_CHARACTERS])
    return f"{shown} …" if len(text) > QUOTED_CHARACTERS else shown


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
