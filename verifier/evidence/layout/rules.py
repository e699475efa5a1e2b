"""One artifact rule: what its words mean (in-toto 1.0 §4.3.3).

`MATCH pattern [IN prefix] WITH (MATERIALS|PRODUCTS) [IN prefix] FROM step`, and `CREATE`,
`DELETE`, `MODIFY`, `ALLOW`, `DISALLOW`, each with a pattern, `REQUIRE` with a file name. The
words of the language may be in any case; whatever else is said is not known.
"""

import fnmatch
import re
from enum import StrEnum
from typing import Final, Self

from verifier.core.value import frozen

_SHAPES: Final = (
    ("match", "with", "from"),
    ("match", "in", "with", "from"),
    ("match", "with", "in", "from"),
    ("match", "in", "with", "in", "from"),
)
_GLOB: Final = re.compile(r"[*?\[]")


class Verb(StrEnum):
    """What a rule does with the artifacts that its pattern fits."""

    MATCH = "match"
    CREATE = "create"
    DELETE = "delete"
    MODIFY = "modify"
    ALLOW = "allow"
    DISALLOW = "disallow"
    REQUIRE = "require"


class Pattern:
    """A shell pattern over whole names; `*` crosses slashes, as it does for in-toto."""

    def __init__(self, text: str) -> None:
        """Compile it: Python makes each `*` an atomic group, so none costs exponential time."""
        self.text = text
        self.literal = _GLOB.search(text) is None
        self._compiled = re.compile(fnmatch.translate(text))

    def fits(self, name: str) -> bool:
        """Tell whether it fits a name as a whole."""
        return self._compiled.match(name) is not None


@frozen
class Rule:
    """One rule. Of MATCH: prefixes with a slash at their end or empty, and whom it looks at."""

    words: tuple[str, ...]
    verb: Verb
    pattern: str
    source_prefix: str = ""
    other_prefix: str = ""
    other_side: str = ""
    other_step: str = ""

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self | None:
        """Read a rule, None for what is none."""
        verb = words[0].lower() if words else ""
        if len(words) < 2 or verb not in list(Verb):  # noqa: PLR2004
            return None
        if verb == Verb.MATCH:
            return cls._match(words)
        return cls(words=words, verb=Verb(verb), pattern=words[1]) if len(words) == 2 else None  # noqa: PLR2004

    @classmethod
    def _match(cls, words: tuple[str, ...]) -> Self | None:
        keywords = tuple(word.lower() for word in words[::2])
        if keywords not in _SHAPES or len(words) != 2 * len(keywords):
            return None
        said = list(words[3::2])
        source = _prefix(said.pop(0)) if keywords[1] == "in" else ""
        side = said.pop(0).lower()
        other = _prefix(said.pop(0)) if keywords[-2] == "in" else ""
        if side not in ("materials", "products"):
            return None
        return cls(
            words=words,
            verb=Verb.MATCH,
            pattern=words[1],
            source_prefix=source,
            other_prefix=other,
            other_side=side,
            other_step=said.pop(0),
        )

    def __str__(self) -> str:
        """Print the rule as it is written in a layout."""
        return " ".join(self.words)


def _prefix(text: str) -> str:
    plain = text.replace("\\", "/")
    return plain if plain.endswith("/") or not plain else f"{plain}/"
