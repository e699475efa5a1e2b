"""What lies beside a host: shadows, bytecode that is trusted blindly, bytecode of other source."""

import importlib.util
import marshal
import py_compile
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.checks.helper.companions import bytecode
from verifier.checks.helper.marshalled import same_code
from verifier.core.companions import Bytecode, Companions
from verifier.core.coverage import State

SOURCE = b'''"""A host."""
import os

class Queue:
    LIMIT = 10 ** 20, 1.5
    KINDS = frozenset({"a", "b", "c"})

    def pop(self, *, age: int = 3, **more):
        assert age, "an age"
        if self in {"x", "y", (1, 2j, None, b"z", ...)}:
            return [f"{a!r}\xc3\xa9" for a in more if (lambda: a)()]
        return -9876543210, os, self
'''
TAG = importlib.util.MAGIC_NUMBER
MTIME = 1_700_000_000


def compiled(
    tmp_path: Path,
    source: bytes = SOURCE,
    *,
    level: int = 0,
    mode: py_compile.PycInvalidationMode = py_compile.PycInvalidationMode.TIMESTAMP,
) -> bytes:
    """Return what Python itself writes, with the header's times set to those of the host."""
    file = tmp_path / "elsewhere" / "host.py"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(source)
    made = py_compile.compile(
        str(file),
        cfile=str(tmp_path / "made.pyc"),
        optimize=level,
        invalidation_mode=mode,
        doraise=True,
    )
    assert made is not None
    data = Path(made).read_bytes()
    if mode is py_compile.PycInvalidationMode.TIMESTAMP:
        data = (
            data[:8] + MTIME.to_bytes(4, "little") + len(SOURCE).to_bytes(4, "little") + data[16:]
        )
    return data


def judge(
    *pycs: bytes | tuple[str, bytes], entries: tuple[str, ...] = (), mtime: int = MTIME
) -> tuple[list[str], State]:
    named = [p if isinstance(p, tuple) else ("__pycache__/host.cpython-399.pyc", p) for p in pycs]
    companions = Companions(
        entries=entries,
        bytecode=tuple(Bytecode(path=path, data=data) for path, data in named),
        mtime=mtime,
        size=len(SOURCE),
    )
    findings, covered = bytecode(companions, SOURCE, "host.py")
    return [finding.code for finding in findings], covered.state


def test_nothing_beside_the_host() -> None:
    assert judge() == ([], State.HELD)


def test_what_was_not_looked_at_is_not_checked() -> None:
    findings, covered = bytecode(None, SOURCE, "host.py")
    assert (findings, covered.state) == ((), State.NOT_CHECKED)


@pytest.mark.parametrize(
    "entry",
    ["host/__init__.py", "host/__init__.pyc", "host/__init__.abi3.so", "host.so", "host.abi3.so"],
)
def test_a_package_or_extension_is_imported_instead(entry: str) -> None:
    assert judge(entries=("host.py", entry)) == (["helper-shadowed"], State.NOT_HELD)


@pytest.mark.parametrize(
    "entry",
    ["host.py", "host/other.py", "hosts/__init__.py", "host2.so", "ghost.so", "host.so.bak"],
)
def test_other_entries_shadow_nothing(entry: str) -> None:
    assert judge(entries=(entry,)) == ([], State.HELD)


def test_patterns_in_a_name_are_no_patterns() -> None:
    companions = Companions(entries=("host.so",), bytecode=(), mtime=0, size=0)
    assert bytecode(companions, b"", "[h]os*.py")[0] == ()


@pytest.mark.parametrize("level", [0, 1, 2])
def test_bytecode_of_the_verified_bytes_holds(tmp_path: Path, level: int) -> None:
    name = "host.cpython-399" + (f".opt-{level}" if level else "")
    made = compiled(tmp_path, level=level)
    assert judge((f"__pycache__/{name}.pyc", made)) == ([], State.HELD)


def test_the_level_is_that_of_the_name(tmp_path: Path) -> None:
    made = compiled(tmp_path, level=1)
    assert judge(made) == (["helper-bytecode-different"], State.NOT_HELD)
    strange = ("__pycache__/host.cpython-399.opt-3.pyc", made)
    assert judge(strange) == ([], State.NOT_CHECKED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"return -98", b"return -97"),
        (b"age: int = 3", b"age: int = 4"),
        (b'"a", "b"', b'"a", "d"'),
        (b"import os", b"import re"),
        (b"lambda: a", b"lambda: 0"),
        (b"2j", b"3j"),
        (b"1.5", b"2.5"),
        (b"10 ** 20", b"10 ** 21"),
        (b"None, b", b"True, b"),
        (b"self in {", b"self is {"[:9]),
        (b"\xc3\xa9", b"\xc3\xa8"),
    ],
)
def test_bytecode_of_other_source_is_undecided(tmp_path: Path, old: bytes, new: bytes) -> None:
    assert old in SOURCE
    made = compiled(tmp_path, SOURCE.replace(old, new))
    for path in ("__pycache__/host.cpython-399.pyc", "host.pyc"):
        assert judge((path, made)) == (["helper-bytecode-different"], State.NOT_HELD)


def test_a_stale_header_makes_any_bytecode_harmless(tmp_path: Path) -> None:
    other = compiled(tmp_path, b"import evil\n")
    assert judge(other, mtime=MTIME + 1) == ([], State.HELD)
    longer = other[:12] + (len(SOURCE) + 1).to_bytes(4, "little") + other[16:]
    assert judge(longer) == ([], State.HELD)
    assert judge(other, mtime=MTIME + 2**32) == (["helper-bytecode-different"], State.NOT_HELD)


def test_hashed_bytecode(tmp_path: Path) -> None:
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    assert judge(compiled(tmp_path, mode=checked), mtime=0) == ([], State.HELD)
    assert judge(compiled(tmp_path, b"other\n", mode=checked)) == ([], State.HELD)
    forged = compiled(tmp_path, b"other\n", mode=checked)
    forged = forged[:8] + importlib.util.source_hash(SOURCE) + forged[16:]
    assert judge(forged) == (["helper-bytecode-different"], State.NOT_HELD)
    blind = compiled(tmp_path, mode=unchecked)
    assert judge(blind) == (["helper-bytecode-unchecked"], State.NOT_HELD)
    foreign = b"\xaa\xbb\r\n" + blind[4:]
    assert judge(foreign) == (["helper-bytecode-unchecked"], State.NOT_HELD)


def test_another_magic_number_is_not_checked_unless_it_is_stale(tmp_path: Path) -> None:
    foreign = b"\xaa\xbb\r\n" + compiled(tmp_path)[4:]
    assert judge(foreign) == ([], State.NOT_CHECKED)
    assert judge(foreign, mtime=0) == ([], State.HELD)
    assert judge(foreign, compiled(tmp_path)) == ([], State.NOT_CHECKED)
    assert judge(foreign, entries=("host.so",)) == (["helper-shadowed"], State.NOT_HELD)


@pytest.mark.parametrize(
    "path",
    [
        "__pycache__/host.cpython-311-pytest-9.0.2.pyc",
        "__pycache__/host2.cpython-311.pyc",
        "ghost.pyc",
    ],
)
def test_a_name_that_no_interpreter_asks_for_is_never_loaded(tmp_path: Path, path: str) -> None:
    assert judge((path, compiled(tmp_path, b"other\n"))) == ([], State.HELD)


@pytest.mark.parametrize("length", [0, 4, 15])
def test_a_short_header_is_never_loaded(tmp_path: Path, length: int) -> None:
    assert judge(compiled(tmp_path)[:length]) == ([], State.HELD)


def test_unknown_flags_are_never_loaded(tmp_path: Path) -> None:
    made = compiled(tmp_path, b"other\n")
    assert judge(made[:4] + b"\x05\0\0\0" + made[8:]) == ([], State.HELD)


def test_source_that_does_not_compile_is_not_checked(tmp_path: Path) -> None:
    made = compiled(tmp_path)
    companions = Companions(
        entries=(), bytecode=(Bytecode(path="host.pyc", data=made),), mtime=MTIME, size=len(SOURCE)
    )
    for source in (b"return 1\n", b"x = (\n", b"# coding: latin-1\n", b"a\0"):
        findings, covered = bytecode(companions, source, "host.py")
        assert (findings, covered.state) == ((), State.NOT_CHECKED)


# ── the reader ─────────────────────────────────────────────────────────────────────────────────

CODE = marshal.dumps(compile(SOURCE, "here", "exec", dont_inherit=True))


def loaded(data: bytes) -> CodeType:
    """Load bytes that the reader has found equal to ours, or ours."""
    code = marshal.loads(data)  # noqa: S302
    assert isinstance(code, CodeType)
    return code


@pytest.mark.parametrize("version", [3, 4])
def test_code_is_the_same_however_it_was_written(version: int) -> None:
    code = compile(SOURCE, "there.py", "exec", dont_inherit=True)
    assert same_code(CODE, marshal.dumps(code, version))
    assert same_code(CODE, marshal.dumps(loaded(CODE)))


def test_what_is_not_one_code_object_is_the_same_as_nothing() -> None:
    for data in (b"", CODE[:-1], CODE + b"N", marshal.dumps((1, 2)), b"\xe3", b"c" * 5000, b"("):
        assert not same_code(data, data)
    assert not same_code(b"c" + b"\0" * 20 + b"(" * 100_000, CODE)


def test_what_loading_would_read_otherwise_is_refused() -> None:
    """A flag that Python ignores, ASCII that is none, an object inside itself, an index below 0."""
    head = b"\xe3" + b"\0" * 20
    for content in (
        b"\xce",
        b"z\x01\xe9",
        b"r\0\0\0\0",
        b"r\xff\xff\xff\xff",
        b"(\xff\xff\xff\xff",
    ):
        tail = b"N" * 6 + b"\0" * 4 + b"NN"
        same = head + content + b"N" + tail
        assert not same_code(same, same)


def test_a_field_that_is_not_compared_still_has_its_kind() -> None:
    """The file name as a reference to bytes: `marshal.loads` would fail on it."""
    at = CODE.index(b"here") - 2
    assert CODE[at : at + 2] in (b"\xda\x04", b"\xfa\x04", b"Z\x04", b"z\x04")
    assert same_code(CODE[:at] + b"\xfa\x05there" + CODE[at + 6 :], CODE)
    assert not same_code(CODE[:at] + b"\xf3\x04\0\0\0here" + CODE[at + 6 :], CODE)


@given(st.data())
def test_one_changed_byte_is_the_same_only_where_nothing_runs(data: st.DataObject) -> None:
    """Never an error, and never equal with other code, constants or names."""
    at = data.draw(st.integers(0, len(CODE) - 1))
    value = data.draw(st.integers(0, 255))
    changed = CODE[:at] + bytes([value]) + CODE[at + 1 :]
    if same_code(changed, CODE):
        ours, theirs = [loaded(CODE)], [loaded(changed)]
        for one, other in zip(ours, theirs, strict=True):
            assert one.co_code == other.co_code
            assert one.co_names == other.co_names
            assert len(one.co_consts) == len(other.co_consts)
            ours += [c for c in one.co_consts if isinstance(c, CodeType)]
            theirs += [c for c in other.co_consts if isinstance(c, CodeType)]
