"""Companions: what lies beside a host file and what Python might load in its place.

A source fills this in, the helper check (CHECKS helper, step 9) judges it; it lives in core so
that neither knows the other. The source lists every candidate and decides nothing.
"""

from verifier.core.value import frozen


@frozen
class Bytecode:
    """One `.pyc`: its path below the host's folder, with `/`, and its bytes.

    `data` is None where it may not be read; a path that ends in `/` is then a folder that may
    not be looked into.
    """

    path: str
    data: bytes | None


@frozen
class Companions:
    """Everything beside `<stem>.py` that could decide what `import <stem>` loads.

    `entries` are paths below the host's folder, with `/`: the folder's own entries that begin
    with the stem, and what stands in a folder of that name as `<stem>/__init__.*`. `bytecode`
    holds `__pycache__/<stem>.*.pyc` and `<stem>.pyc`. `mtime` is the host's, in whole seconds
    as `int(stat.st_mtime)` gives them, read from the descriptor whose bytes are judged.
    """

    entries: tuple[str, ...]
    bytecode: tuple[Bytecode, ...]
    mtime: int
    size: int
