"""From the bytes of a Python file to its tree: one `compile`, untouched by the process around it.

Apart from `python_scope` because the bytecode of a host is compared under the same conditions.
Reasons are worded here: how Python words an error, and what it does with syntax nested some
thousand deep, differs from version to version.
"""

import ast
import contextlib
import gc
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from verifier.core.limits import PYTHON_DEPTH, PYTHON_DIGITS
from verifier.core.value import frozen

_NOT_PYTHON: Final = "not valid in the grammar of this Python"
#: From this size on compiling takes so long that a second process pays.
_FORKED: Final = 1 << 20
TOO_DEEP: Final = f"nested deeper than {PYTHON_DEPTH}"
#: PEP 263: a comment on the first line, or on the second after no code, may declare an encoding.
_COOKIE: Final = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE: Final = re.compile(rb"[ \t\f]*(#.*)?")
_UTF8: Final = re.compile(rb"(?i)utf[-_]?8([-_].*)?")


@frozen
class Unparsable:
    """No facts: `reason` reads the same on every Python, `line` is where this one stopped."""

    reason: str
    line: int | None = None


def read(data: bytes) -> ast.Module | Unparsable:
    """Parse the original bytes."""
    return refused(data) or _compiled(data)


def refused(data: bytes) -> Unparsable | None:
    """Say what keeps bytes from being compiled at all.

    The helper check refuses these before (step 1). A cookie would have Python look up a codec of
    the name it gives, and other line ends would move every position.
    """
    if b"\0" in data or b"\r" in data or data.startswith(b"\xef\xbb\xbf"):
        return Unparsable(reason="holds NUL, carriage returns or a byte order mark")
    if (line := _other_encoding(data)) is not None:
        return Unparsable(reason="declares another encoding than UTF-8", line=line)
    return None


def read_part(data: bytes) -> ast.Module | Unparsable:
    """Parse some lines of a file that `read` has parsed: no line of them declares an encoding."""
    return _compiled(data.decode(errors="replace"))


def compiling(data: bytes) -> Callable[[], bool]:
    """Begin to compile bytes, of which nothing is run; what is returned says whether that works.

    Large ones are compiled by a fork of this process, beside what it does meanwhile.
    """
    import threading  # noqa: PLC0415  (only plans pay)

    if len(data) < _FORKED or threading.active_count() > 1:
        return lambda: _compiles(data)
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            code = 0 if _compiles(data) else 1
        os._exit(code)
    return lambda: os.waitpid(child, 0)[1] == 0


def _compiles(data: bytes) -> bool:
    if refused(data) is not None:
        return False
    try:
        with settled():
            compile(data, "<host>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False
    return True


def _compiled(source: bytes | str) -> ast.Module | Unparsable:
    try:
        with settled():
            # not `ast.parse`: it would inherit the future statements of its caller
            tree = compile(source, "<host>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return Unparsable(reason=_NOT_PYTHON, line=error.lineno)
    except (RecursionError, MemoryError):
        return Unparsable(reason=TOO_DEEP)
    except (ValueError, OverflowError):
        return Unparsable(reason=_NOT_PYTHON)
    return tree if isinstance(tree, ast.Module) else Unparsable(reason=_NOT_PYTHON)


@contextmanager
def settled() -> Iterator[None]:
    """Keep the collector, warnings and the digit limit of the process out of a compilation.

    The collector would walk every new node again and again; warnings would be printed or, under
    `-W error`, turn into errors; the limit comes from the environment.
    """
    collecting, digits = gc.isenabled(), sys.get_int_max_str_digits()
    gc.disable()
    sys.set_int_max_str_digits(PYTHON_DIGITS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.set_int_max_str_digits(digits)
        if collecting:
            gc.enable()


def _other_encoding(data: bytes) -> int | None:
    """Return the line of a cookie other than UTF-8; looking it up is left to nobody."""
    for number, line in enumerate(data[:2000].split(b"\n", 2)[:2], 1):
        found = _COOKIE.match(line)
        if found and not _UTF8.fullmatch(found[1]):
            return number
        if not _NO_CODE.fullmatch(line):
            break
    return None
