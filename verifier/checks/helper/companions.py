"""Helper check, step 9 (CHECKS.md): what Python would load in place of the verified bytes.

9a. A package of the host's name, or an extension module, beside it: Python takes that instead.
9b. A `.pyc` that Python uses without looking at the source (unchecked hash).
9c. A `.pyc` whose header matches the source: it must be what compiling the verified bytes gives.
    The header holds mtime and size, or a hash of the source; ctime is never used. A header that
    does not match is stale: Python compiles again.
9d. A `.pyc` with another magic number belongs to another Python; whether it matches, only that
    one can say: not checked.

Which files are looked for stands here and not in the source. A name that no interpreter asks for
(`host.cpython-311-pytest-9.0.2.pyc`) is never loaded. `<stem>.pyc` beside the source is not either
as long as the source is there; it is judged all the same, because sources get removed.

Bytecode is compared by reading it, never by loading it: `marshalled` says how, and what is left
out. Where no equality can be shown the answer is `undecided`, not `rejected`: a compiler of the
same magic number may differ in what it optimises.
"""

import marshal
import re
from fnmatch import fnmatchcase
from importlib.util import MAGIC_NUMBER, source_hash
from typing import Final

from verifier.checks.python_source import refused, settled
from verifier.core.companions import Bytecode, Companions
from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen

_FACET: Final = "bytecode"
_HEADER: Final = 16
_MASK: Final = 0xFFFFFFFF
_HASHED, _CHECKED = 0b01, 0b10
#: `cpython-312`, `cpython-313t`, `pypy39`, with an optimisation or without; "" is `<stem>.pyc`.
_TAG: Final = re.compile(r"(?:\.[a-z]+-?[0-9]+t?(?:-[0-9]+)?)?(?:\.opt-(?P<level>[0-9a-z]+))?")
_LEVELS: Final = {None: 0, "1": 1, "2": 2}


@frozen
class _Judged:
    """What is said of one `.pyc`: a finding, or why it could not be checked, or nothing."""

    finding: Finding | None = None
    not_checked: str = ""
    compared: bool = False


def bytecode(
    companions: Companions | None, data: bytes, filename: str
) -> tuple[tuple[Finding, ...], Covered]:
    """Judge what lies beside the host, named `filename`, whose verified bytes are `data`."""
    if companions is None:
        detail = "what lies beside the file was not looked at"
        return (), Covered(facet=_FACET, state=State.NOT_CHECKED, detail=detail)
    folder, slash, name = filename.rpartition("/")
    stem = name.removesuffix(".py")
    beside = folder + slash
    findings = [
        _shadowed(beside + path, name, package="/" in path)
        for path in companions.entries
        if _shadows(path, stem)
    ]
    unsure = []
    compared = False
    for pyc in companions.bytecode:
        judged = _judge(pyc, companions, data, path=beside + pyc.path, stem=stem)
        if judged.finding is not None:
            findings.append(judged.finding)
        compared = compared or judged.compared
        if judged.not_checked:
            unsure.append(f"{beside}{pyc.path}: {judged.not_checked}")
    if findings:
        return tuple(findings), Covered(facet=_FACET, state=State.NOT_HELD)
    if unsure:
        detail = "; ".join(sorted(unsure))
        return (), Covered(facet=_FACET, state=State.NOT_CHECKED, detail=detail)
    unloadable = "none that Python would load" if companions.bytecode else "none beside the file"
    detail = "compiled from these bytes" if compared else unloadable
    return (), Covered(facet=_FACET, state=State.HELD, detail=detail)


def loaded(companions: Companions, data: bytes, filename: str) -> tuple[str, ...]:
    """Return the compiled files beside a host that some Python would load in its place.

    They are those that match its mtime and size or its hash, or match without looking.
    """
    stem = filename.rpartition("/")[2].removesuffix(".py")
    return tuple(
        pyc.path
        for pyc in companions.bytecode
        if pyc.data is not None and _would_load(pyc.path, pyc.data, companions, data, stem)
    )


# ── 9a ─────────────────────────────────────────────────────────────────────────────────────────


def _shadows(path: str, stem: str) -> bool:
    name = re.sub(r"([\[?*])", r"[\1]", stem)
    patterns = (f"{name}/__init__.*", f"{name}.so", f"{name}.*.so")
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _shadowed(path: str, filename: str, *, package: bool) -> Finding:
    kind = "package" if package else "extension module"
    return Finding(
        code="helper-shadowed",
        where=Where(path=path),
        expected=f"nothing that Python imports before {filename}",
        got=f"the {kind} {path}",
        cause=f"Python imports this {kind} instead of {filename}",
        remedy=f"remove {path}, or verify what is really imported",
    )


# ── 9b, 9c, 9d ─────────────────────────────────────────────────────────────────────────────────


def _judge(pyc: Bytecode, companions: Companions, data: bytes, *, path: str, stem: str) -> _Judged:
    tag = _tag(pyc.path, stem)
    if pyc.data is None:
        return _Judged() if tag is None else _Judged(not_checked="cannot be read")
    content = pyc.data
    if tag is None or not _would_load(pyc.path, content, companions, data, stem):
        return _Judged()
    if _flags(content) == _HASHED:
        cause = "Python runs it without a look at the source"
        return _Judged(finding=_finding("helper-bytecode-unchecked", path, cause))
    if content[:4] != MAGIC_NUMBER:
        return _Judged(not_checked="written by another Python")
    return _compared(path, content[_HEADER:], data, tag["level"])


def _would_load(path: str, content: bytes, companions: Companions, data: bytes, stem: str) -> bool:
    """Whether some Python takes a compiled file for the source; one that is stale, none does."""
    flags = _flags(content)
    if _tag(path, stem) is None or len(content) < _HEADER or flags & ~(_HASHED | _CHECKED):
        return False
    if flags == _HASHED:
        return True
    if flags & _HASHED:
        # the hash is keyed by the magic number: of another Python's nothing is known
        return content[:4] != MAGIC_NUMBER or content[8:_HEADER] == source_hash(data)
    return _same_age(content, companions)


def _tag(path: str, stem: str) -> re.Match[str] | None:
    return _TAG.fullmatch(path.rpartition("/")[2].removesuffix(".pyc").removeprefix(stem))


def _flags(content: bytes) -> int:
    return int.from_bytes(content[4:8], "little")


def _same_age(content: bytes, companions: Companions) -> bool:
    expected = [value & _MASK for value in (companions.mtime, companions.size)]
    return expected == [int.from_bytes(content[at : at + 4], "little") for at in (8, 12)]


def _compared(path: str, code: bytes, data: bytes, level: str | None) -> _Judged:
    if level not in _LEVELS:
        return _Judged(not_checked="an optimisation that is not known")
    from verifier.checks.helper.marshalled import same_code  # noqa: PLC0415  (rarely needed)

    ours = _marshalled(data, _LEVELS[level])
    if ours is None:
        return _Judged(not_checked="the verified bytes do not compile with this Python")
    if not same_code(ours, ours):
        return _Judged(not_checked="this Python writes bytecode that cannot be read here")
    if same_code(code, ours):
        return _Judged(compared=True)
    cause = "Python would run it, and the verified bytes compile to other code"
    return _Judged(finding=_finding("helper-bytecode-different", path, cause))


def _marshalled(data: bytes, level: int) -> bytes | None:
    if refused(data) is not None:
        return None
    try:
        with settled():
            return marshal.dumps(compile(data, "<host>", "exec", dont_inherit=True, optimize=level))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None


def _finding(code: str, path: str, cause: str) -> Finding:
    return Finding(
        code=code,
        where=Where(path=path),
        expected="what the verified bytes compile to, or none",
        got=path,
        cause=cause,
        remedy=f"remove {path}: Python writes it again from the source",
    )
