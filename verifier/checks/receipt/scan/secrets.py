"""The scan of a receipt for what must not be published (rules P1, P2, P3 and P6).

Everything is looked at: values, keys, side files, text beside. Nothing of what is found is kept:
a hit is its kind, its place with secret keys masked, and its length. What a scan cannot see is
said in docs/sanitising.md: names of hosts without a dot, secrets that are split or encoded.
"""

import re
import unicodedata
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from verifier.checks.receipt.scan import loose, patterns
from verifier.checks.receipt.scan.redaction import PLACEHOLDER
from verifier.core.printable import printable

#: Text that needs no look: digests, commits, numbers. Most strings of a receipt are such.
_HARMLESS: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|-?[0-9]{1,18}(?:\.[0-9]{1,18})?|.{0,3}")
#: Of an object that is a variable: the keys under which its name stands, beside its value.
_NAMING: Final = ("name", "key")
_HEXADECIMAL: Final = "0123456789abcdef"
_DIGITS: Final = 64
#: What a sample row has digests of (`samples.DIGESTS`).
_DIGESTED: Final = ("request", "response", "epoch")
_REMEMBERED: Final = 4096
#: What holds no text and has nothing below it: most values of a sample.
_SILENT: Final = frozenset({int, float, bool, type(None)})
#: Short texts in which a scan found nothing: the next one of this process need not look again.
#: Texts in which something was found are forgotten with their scan.
_CLEAN: Final = set[tuple[str, bool]]()
_SHORT: Final = 256
_SEPARATORS: Final = re.compile(r"[^a-z0-9]")


class Hit(NamedTuple):
    """One thing that was found: what it is, where it stands, how many characters it has."""

    kind: str
    where: str
    length: int


class Known(NamedTuple):
    """What a key says by itself, and of the value under it; documents have few keys, and often."""

    found: tuple[tuple[str, int], ...]
    shown: str
    versioned: bool
    prose: bool
    host: bool
    password: bool
    sensitive: bool


class Scan:
    """What was found so far; texts and keys that occur again are looked at once."""

    def __init__(self, *, most: int = 200) -> None:
        """Begin with nothing found; beyond `most` hits of one kind are only counted."""
        self.hits: list[Hit] = []
        self.counted: Counter[str] = Counter()
        self._most = most
        self._known: dict[tuple[str, bool], tuple[tuple[str, int], ...]] = {}
        self._known_keys: dict[str, Known] = {}

    def document(self, value: Any, where: str = "") -> None:
        """Look at all keys and values of a document; without recursion, in its order."""
        waiting: list[tuple[Any, str, str]] = [(value, where, "")]
        while waiting:
            item, place, key = waiting.pop()
            if isinstance(item, str):
                if isinstance(item, loose.NoNumber):
                    self._add(Hit(patterns.NO_NUMBER, place, len(item)))
                else:
                    self._value(item, place, key)
            elif (below := loose.pairs(item)) is not None:
                waiting += reversed(list(self._keys(below, place)))
            elif isinstance(item, list):
                above = [key, *(_flag(each) or key for each in item[:-1])]
                places = [f"{place}[{number}]" for number in range(len(item))]
                waiting += reversed(list(zip(item, places, above[: len(item)], strict=True)))

    def text(self, text: str, *, first_line: int = 1) -> None:
        """Look at text that is no document, a line at a time."""
        for number, line in enumerate(text.split("\n"), first_line):
            for kind, length in self._found(line, versioned=False):
                self._add(Hit(kind, f"line {number}", length))

    def rows(self, rows: Iterable[Any], where: str = "samples") -> Iterator[Any]:
        """Pass sample rows on, each looked at on its way.

        What a row can hold is closed (`samples`), so only its texts are looked at, and those that
        were seen before not again; a row that is no row is looked at whole.
        """
        seen: set[tuple[Any, ...]] = set()
        for number, row in enumerate(rows):
            if not (_plain(row, seen) and self._clean(row)):
                before = self.counted.total()
                self.document(row, f"{where}[{number}]")
                signature = _signature(row)
                if signature and self.counted.total() == before and len(seen) < _REMEMBERED:
                    seen.add(signature)
            yield row

    def _clean(self, row: Any) -> bool:
        """Whether nothing is found in what a plain row has of its own: names of files, values."""
        for name in _DIGESTED:
            digest = row.get(name)
            if digest and "name" in digest and self.in_value(digest["name"], "name"):
                return False
        values = row.get("values") or {}
        own = [(key, each) for key, each in values.items() if type(each) is str]
        return not any(self.in_value(each, key) for key, each in own)

    def of_rows(self, rows: Iterable[Any]) -> "ScannedRows":
        """Return rows that may be passed over again and are looked at once."""
        return ScannedRows(self, rows)

    def in_key(self, key: str) -> tuple[tuple[str, int], ...]:
        """Return kind and length of what a key holds."""
        return self._key(key).found

    def in_value(self, text: str, key: str) -> tuple[tuple[str, int], ...]:
        """Return kind and length of what a value holds, in itself or by the key above it."""
        if text == PLACEHOLDER:
            return ()
        known = self._key(key)
        return (
            self._found(text, versioned=known.versioned) or _by_key(text, known) or _machine(text)
        )

    def _key(self, key: str) -> Known:
        known = self._known_keys.get(key)
        if known is None:
            found = self._found(key, versioned=False) or _machine(key)
            plain = _SEPARATORS.sub("", key.lower())
            known = Known(
                found=found,
                shown=masked(key) if found else printable(key),
                versioned=bool(patterns.VERSIONED.search(key)),
                prose=plain in patterns.PROSE_KEYS,
                host=plain in patterns.HOST_KEYS,
                password=bool(patterns.PASSWORD.fullmatch(key)),
                sensitive=bool(patterns.SENSITIVE.fullmatch(key)),
            )
            if len(self._known_keys) < _REMEMBERED:
                self._known_keys[key] = known
        return known

    def _keys(self, pairs: Iterable[tuple[str, Any]], place: str) -> Iterator[tuple[Any, str, str]]:
        """Look at the keys of an object, and return its values with their places."""
        given: set[str] = set()
        pairs = list(pairs)
        named = [value for key, value in pairs if key in _NAMING and isinstance(value, str)]
        variable = named[0] if named else ""
        for key, value in pairs:
            known = self._known_keys.get(key) or self._key(key)
            if type(value) in _SILENT and not known.found and key not in given:
                given.add(key)
                continue
            below = joined(place, known.shown)
            for kind, length in known.found:
                self._add(Hit(kind, below, length))
            if key in given:
                self._add(Hit(patterns.TWICE, below, len(key)))
            given.add(key)
            if type(value) not in _SILENT:
                yield value, below, variable if variable and key == "value" else key

    def _value(self, text: str, place: str, key: str) -> None:
        payload = _payload(text) if key == "payload" else None
        if payload is not None:
            self.document(payload, place)
        for kind, length in self.in_value(text, key):
            self._add(Hit(kind, place, length))

    def _found(self, text: str, *, versioned: bool) -> tuple[tuple[str, int], ...]:
        """Return kind and length of what stands in a text."""
        asked = (text, versioned)
        if asked in _CLEAN or _HARMLESS.fullmatch(text):
            return ()
        known = self._known.get(asked)
        if known is None:
            known = tuple(_in(text, versioned=versioned))
            if not known and len(text) <= _SHORT and len(_CLEAN) < _REMEMBERED:
                _CLEAN.add(asked)
            elif len(self._known) < _REMEMBERED:
                self._known[asked] = known
        return known

    def _add(self, hit: Hit) -> None:
        self.counted[hit.kind] += 1
        if self.counted[hit.kind] <= self._most:
            self.hits.append(hit)


def _flag(word: Any) -> str:
    """Return what a word of a command line names, if it is a flag: the next word is its value."""
    return word.lstrip("-") if isinstance(word, str) and word.startswith("-") else ""


def masked(key: str) -> str:
    """Return what stands for a key that holds a secret."""
    return f"<key of {len(key)} characters>"


def joined(place: str, key: str) -> str:
    """Return the path of a key below a place, which may be a line."""
    return f"{place}.{key}" if place and not place.endswith(" ") else f"{place}{key}"


def _payload(text: str) -> Any:
    """Return the document inside of a DSSE envelope, None if there is none."""
    try:
        return loose.read(b64decode(text, validate=True).decode())
    except ValueError:
        return None


def _plain(row: Any, seen: set[tuple[Any, ...]]) -> bool:
    """Whether `_clean` looks at all of a row that was not looked at: the rest are known words."""
    if type(row) is not dict:
        return False
    for name in _DIGESTED:
        digest = row.get(name)
        if digest is None:
            continue
        if type(digest) is not dict or type(digest.get("name", "")) is not str:
            return False
        text = digest.get("sha256")
        if type(text) is not str or len(text) != _DIGITS or text.strip(_HEXADECIMAL):
            return False
    signature = _signature(row)
    return signature is not None and signature in seen


def _signature(row: Any) -> tuple[Any, ...] | None:
    """Return the texts of a row by which it was seen before; None if it is malformed.

    Its other texts and all its keys are of closed lists, or it is no row (`samples.mistake`).
    """
    try:
        checks = row.get("checks")
        ids = tuple([check["id"] for check in checks]) if checks else ()
        values = row.get("values")
        names = tuple(values) if type(values) is dict else values
        signature = (row["arm"], row["case"], row.get("finishReason"), ids, names)
        hash(signature)
    except (AttributeError, KeyError, TypeError):
        return None
    return signature


def _by_key(text: str, key: Known) -> tuple[tuple[str, int], ...]:
    """Judge a text by the key that it stands under."""
    if key.prose and text and not _HARMLESS.fullmatch(text):
        return ((patterns.PROSE, len(text)),)
    if key.host and text and not patterns.public(text):
        return ((patterns.HOST, len(text)),)
    password = key.password and not patterns.stands_in(text)
    long = len(text) >= 6  # noqa: PLR2004  (as in patterns.ASSIGNED)
    if password or (long and key.sensitive and patterns.secretive(text)):
        return ((patterns.CREDENTIAL, len(text)),)
    return ()


def _machine(text: str) -> tuple[tuple[str, int], ...]:
    return ((patterns.HOST, len(text)),) if patterns.MACHINE.fullmatch(text) else ()


def _in(text: str, *, versioned: bool) -> Iterator[tuple[str, int]]:
    """Find what stands in one text; a secret is found behind invisible characters too."""
    if not text.isascii():
        hidden = patterns.CONTROLS.findall(text)
        if hidden:
            yield patterns.INVISIBLE, len(hidden)
            text = patterns.CONTROLS.sub("", text)
        text = unicodedata.normalize("NFKC", text)
    yield from _credentials(text)
    mails = [match for match in patterns.EMAILS.finditer(text) if _mail(match)]
    yield from ((patterns.EMAIL, len(match[0])) for match in mails)
    yield from _hosts(text, [match.span() for match in mails])
    for match in patterns.IPV4.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        if not versioned and not patterns.VERSIONED.search(before) and patterns.address(match[0]):
            yield patterns.ADDRESS, len(match[0])
    for match in patterns.IPV6.finditer(text):
        if patterns.address(match[0]):
            yield patterns.ADDRESS, len(match[0])
    for match in patterns.HOMES.finditer(text):
        if not (match[1] or "").startswith(("$", "<", "{", "*", "[")):
            yield patterns.HOME, len(match[0])


def _credentials(text: str) -> Iterator[tuple[str, int]]:
    spans: list[tuple[int, int]] = []
    for pattern in (patterns.TOKENS, patterns.KEY_BLOCKS):
        spans += [match.span() for match in pattern.finditer(text)]
    for pattern in (patterns.HEADERS, patterns.USERINFO, patterns.ASSIGNED):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if patterns.secretive(match[group]):
                spans.append(match.span(group))
    end = -1
    for start, stop in sorted(spans):
        if start >= end:
            yield patterns.CREDENTIAL, stop - start
        end = max(end, stop)


def _mail(match: re.Match[str]) -> bool:
    user, domain = match[1].lower(), match[2].lower()
    if domain.rpartition(".")[2] in ("py", "md", "sh", "rc", "json", "toml", "dev", "post"):
        return False
    reserved = ("example.com", "example.org", "example.net", "users.noreply.github.com")
    return not (domain in reserved or domain.endswith((".test", ".example", ".invalid"))) and not (
        user == "git" and patterns.public(domain)
    )


def _hosts(text: str, mails: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    spans = {
        match.span(1)
        for pattern in (patterns.URLS, patterns.DOMAINS)
        for match in pattern.finditer(text)
        if not patterns.public(match[1]) and not patterns.IPV4.fullmatch(match[1])
    }
    spans |= {match.span() for match in patterns.MACHINES.finditer(text)}
    end = -1
    for start, stop in sorted(spans):
        if start >= end and not any(low <= start < high for low, high in mails):
            yield patterns.HOST, stop - start
        end = max(end, stop)


class ScannedRows:
    """Sample rows that are looked at the first time they are passed over, and only then."""

    def __init__(self, scan: Scan, rows: Iterable[Any]) -> None:
        """Look at nothing yet."""
        self._scan: Scan | None = scan
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        """Pass over them."""
        scan, self._scan = self._scan, None
        return iter(self._rows) if scan is None else scan.rows(self._rows)
