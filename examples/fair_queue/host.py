"""A fair work queue: owners take turns, however much one of them pushes.

This is the host of the example. An installer writes its helper between the imports.
"""

# An install leaves the last import below its helper.
# ruff: noqa: E402, I001, RUF100

import itertools
import time
from heapq import heapify, heappop, heappush


class Queue:
    """Hand out the items of each owner in order, and those of all owners in turn."""

    def __init__(self) -> None:
        """Begin with nothing waiting."""
        self.heap: list[tuple[int, int, str, object]] = []
        self.last: dict[str, int] = {}
        self.ids = itertools.count()
        self.now = 0

    def push(self, who: str, item: object) -> int:
        """Line an item up behind the others of its owner; return its turn."""
        turn = max(self.now, self.last.get(who, 0)) + 1
        self.last[who] = turn
        heappush(self.heap, (turn, next(self.ids), who, item))
        return turn

    def pop(self) -> object:
        """Take the item whose turn it is; IndexError where there is none."""
        turn, _, who, item = heappop(self.heap)
        self.now = turn
        if self.last[who] == turn:
            del self.last[who]
        return item

    def cancel(self, who: str) -> int:
        """Drop what this owner has waiting; return how many items that were."""
        kept = [entry for entry in self.heap if entry[2] != who]
        n = len(self.heap) - len(kept)
        self.heap = kept
        heapify(self.heap)
        self.last.pop(who, None)
        return n

    def drain(self, seconds: float) -> list[object]:
        """Take items until none is left or the time is over."""
        end = time.monotonic() + seconds
        items: list[object] = []
        while self.heap:
            items.append(self.pop())
            if time.monotonic() > end:
                break
        return items

    def stats(self) -> dict[str, float]:
        """Say how much is waiting, and how far off each owner's last turn is."""
        stats: dict[str, float] = {"waiting": len(self.heap)}
        for who, turn in self.last.items():
            stats[f"ahead:{who}"] = turn - self.now
        return stats
