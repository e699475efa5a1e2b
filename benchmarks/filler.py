"""Code to pad a host with: as mixed as a scheduler grown over years, and the same every time.

Lines that an install of the example has to find exactly once must not occur (`break` deep in a
method, `return n…` as its last words). Everything else that pinproof has to look at does occur:
the imports and builtins that a helper reads, other attributes of those names, characters beyond
ASCII, strings and comments that look like code.
"""

from collections.abc import Iterator
from itertools import count
from typing import Final

_NOUNS: Final = (
    *("batch", "block", "budget", "cache", "chunk", "frame", "graph", "layer", "lease", "page"),
    *("prefix", "rank", "request", "ring", "slot", "stage", "stream", "table", "token", "worker"),
)
_VERBS: Final = (
    *("admit", "assign", "collect", "commit", "expire", "flush", "gather", "merge", "plan"),
    *("reclaim", "release", "route", "split", "trace"),
)

_UNITS: Final = (
    '''
class @Noun@@Verb@@I@:
    """Keep track of each @noun@ until its turn to @verb@.

    The order is that of arrival; ties go to the smaller @other@.
    """

    limit = @I@
    kinds = ("@noun@", "@other@", "free")

    def __init__(self, config, *, parent=None, depth=0):
        self.config = config
        self.parent = parent
        self.depth = depth + 1
        self.waiting: dict[str, list[int]] = {}
        self.finished = set()
        self.started_at = time.monotonic()

    @property
    def age(self):
        """Seconds since the first @noun@ came in."""
        return time.monotonic() - self.started_at

    def @verb@(self, @noun@, *, force=False):
        # A @noun@ without an owner is not ours: its @other@ will come back for it.
        owner = @noun@.owner if @noun@ is not None else None
        if owner is None or (not force and owner in self.finished):
            return None
        queue = self.waiting.setdefault(owner, [])
        for position, item in enumerate(queue):
            if item == @noun@.id:
                del queue[position]
                self.finished.add(item)
            elif item > @noun@.id and self.depth < self.limit:
                queue.insert(position, @noun@.id)
        total = sum(len(each) for each in self.waiting.values()) + @I@ % 17
        return {"owner": owner, "total": total, "depth": min(self.depth, self.limit)}

    def drop_@other@(self, owner, count=1):
        """Forget what an owner has waiting, oldest first."""
        dropped = []
        while self.waiting.get(owner) and len(dropped) < count:
            dropped.append(self.waiting[owner].pop(0))
        if not self.waiting.get(owner):
            self.waiting.pop(owner, None)
        return dropped
''',
    '''
def @verb@_@noun@_@I@(items, limit=@I@, *, on_error="skip"):
    """Take items while there is room for another @noun@; report the rest."""
    taken, skipped = [], {}
    for index, item in enumerate(items):
        try:
            size = int(item["@other@"]) if isinstance(item, dict) else len(item)
        except (KeyError, TypeError, ValueError) as error:
            if on_error == "raise":
                raise RuntimeError(f"item {index}: no @other@ in {item!r:.40}") from error
            skipped[index] = str(error)
            continue
        if size <= 0:
            skipped[index] = "empty"
        elif size > limit - sum(taken):
            skipped[index] = f"{size} > {limit}"
        else:
            taken.append(size)
    return taken, skipped
''',
    '''
# ── @noun@ → @other@ ───────────────────────────────────────────────────────────
# The table is generated: rows are (name, first @noun@, last @noun@, weight).

@NOUN@_@I@_ROWS = {
    "low": ("@noun@", 0, @I@, 0.25, None),
    "usual": ("@other@", @I@, 2 * @I@ + 1, 0.5, {"retry": True, "after": 1.5}),
    "high": ("@noun@-@other@", 2 * @I@ + 2, -1, 1.0, {"retry": False, "after": 0x1F}),
}
@NOUN@_@I@_HELP = """usage: @verb@ [--@noun@ N] [--@other@ NAME]

    if the @noun@ is full:
        self.@verb@(@noun@)  # only text: nothing of this runs
"""
''',
    '''
async def @verb@_all_@noun@s_@I@(source, sink, *, width: int = @I@ % 13 + 1) -> list[str]:
    """Copy from source to sink, `width` at a time; return what could not be sent."""
    failed: list[str] = []
    async with sink.opened(os.path.join(sink.base, "@noun@", f"{width:04d}")) as target:
        batch = [item async for item in source if item.ready and item.kind != "@other@"]
        groups = [batch[start : start + width] for start in range(0, len(batch), width)]
        for group in groups:
            sent = await target.send({item.key: item.value for item in group})
            failed += [item.key for item in group if item.key not in sent]
            if len(failed) > width and (ratio := len(failed) / max(1, len(batch))) > 0.5:
                target.log("giving up after %d (%.0f %%)", len(failed), 100 * ratio)
                return failed
    return sorted(failed, key=lambda key: (len(key), key))
''',
    '''
def _describe_@noun@_@I@(value, indent=0):
    # Printed for people only, so widths are counted in characters — not in bytes.
    margin = " " * indent
    match value:
        case {"kind": "@noun@", "@other@": other, **rest} if rest:
            lines = [f"{margin}@noun@ of {other}:"]
            lines += [f"{margin}  {key} = {rest[key]!r}" for key in sorted(rest)]
        case [first, *others]:
            lines = [f"{margin}- {first}", *(f"{margin}- {other}" for other in others)]
        case str() | bytes():
            lines = [f"{margin}{value!r}"]
        case None:
            lines = [margin + "nothing"]
        case _:
            lines = [f"{margin}{type(value).__name__}"]
    return "\\n".join(lines)


def @verb@_@other@_@I@(rows, weights=None):
    """Weigh rows; a missing weight counts as one.

    >>> @verb@_@other@_@I@([1, 2], weights=[0.5, 1])
    2.5
    """
    if weights is None:
        weights = [1] * len(rows)
    total = 0.0
    for row, weight in zip(rows, weights):
        if row is None or weight is None:
            continue
        total += row * weight if weight >= 0 else -row * weight / 2
    return round(total, 6)
''',
)


#: Half of what people write in such a file is prose. With it the filler has as many syntax nodes
#: a kilobyte (about 100) as the scheduler that this project began with.
_PROSE: Final = """
# ── how a @noun@ comes to its turn ─────────────────────────────────────────────
# A @noun@ waits until every @other@ before it was told to @verb@, or gave up.
# The first version asked each @other@ in turn, which took as long as there were
# any; since then a @noun@ is woken by the last @other@ that it waits for. What is
# woken twice does nothing the second time: the set of finished ones says so.
#
# Three things have to stay true, and every change below was tried against them:
#   1. nobody waits for a @noun@ that has finished, however it finished;
#   2. a @noun@ that nobody waits for is not kept longer than its owner is;
#   3. the order of two owners never depends on how much one of them has waiting.
#
# The numbers (@I@ among them) are from the machine that this was measured on. They
# are no limits of the format: an owner may change them, and then measures again.
# See also the table of @noun@ rows, which is generated, and must not be edited.
"""


def units() -> Iterator[str]:
    """Yield pieces of a module without end, no two of them alike."""
    for number in count(1):
        noun = _NOUNS[number % len(_NOUNS)]
        other = _NOUNS[(number * 7 + 3) % len(_NOUNS)]
        verb = _VERBS[number * 5 % len(_VERBS)]
        text = _PROSE + _UNITS[number % len(_UNITS)]
        for mark, word in (
            ("@I@", str(number)),
            ("@noun@", noun),
            ("@NOUN@", noun.upper()),
            ("@Noun@", noun.title()),
            ("@other@", other),
            ("@verb@", verb),
            ("@Verb@", verb.title()),
        ):
            text = text.replace(mark, word)
        yield f"\n{text}"


def padded(host: bytes, *, size: int = 0, lines: int = 0) -> bytes:
    """Append to a host until it has at least `size` bytes and `lines` lines."""
    parts, length, count_of_lines = [host], len(host), host.count(b"\n")
    for unit in units():
        if length >= size and count_of_lines >= lines:
            break
        parts.append(unit.encode())
        length += len(parts[-1])
        count_of_lines += parts[-1].count(b"\n")
    return b"".join(parts)
