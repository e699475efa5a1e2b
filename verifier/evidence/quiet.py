"""Silence for libraries that warn about what hostile bytes hold.

`cryptography` warns of odd names in certificates. Its words are not ours to print, and where
`PYTHONWARNINGS` makes errors of warnings the report would be another one (law 2).
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Let nothing inside warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
