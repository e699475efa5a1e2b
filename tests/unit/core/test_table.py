"""The strict reader: what it refuses, that it names every mistake, and the laws it keeps."""

import json
import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.core.printable import quoted
from verifier.core.strict import (
    DuplicateKeyError,
    read_foreign_json,
    read_json,
    read_large_json,
    read_toml,
    write_toml,
)
from verifier.core.table import MalformedError, Table, nearest

BAD_JSON = {
    "byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "trailing data": b'{"a": 1} {}',
    "truncated": b'{"a": 1',
    "empty": b"",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "minus Infinity": b'{"a": -Infinity}',
    "float": b'{"a": 1.0}',
    "exponent": b'{"a": 1e3}',
    "overflow": b'{"a": 1e400}',
    "minus zero": b'{"a": -0}',
    "too many digits": b'{"a": ' + b"9" * 19 + b"}",
    "huge number": b'{"a": ' + b"9" * 5000 + b"}",
    "lone surrogate": b'{"a": "\\ud800"}',
    "lone surrogate as key": b'{"\\udc00": 1}',
    "deep list": b"[" * 40 + b"]" * 40,
    "very deep list": b"[" * 200_000 + b"]" * 200_000,
    "deep table": b'{"a":' * 40 + b"1" + b"}" * 40,
    "comment": b'{"a": 1} // no',
    "single quotes": b"{'a': 1}",
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_json_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(BAD_JSON[name])


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1, "a": 1}', b'{"a": 1, "\\u0061": 2}', b'{"x": [{"b": 1, "c": 2, "b": 3}]}'],
)
def test_json_duplicate_key_refused_by_name(data: bytes) -> None:
    with pytest.raises(DuplicateKeyError, match=r'"[ab]"'):
        read_json(data)


@pytest.mark.parametrize("before", range(7))
@pytest.mark.parametrize("number", [b"-0", b"9" * 19, b"-" + b"1" * 19, b"9" * 30])
@pytest.mark.parametrize("space", [b"", b" ", b"\n\t"])
def test_odd_numbers_are_found_wherever_they_stand(
    before: int, number: bytes, space: bytes
) -> None:
    """The fast reader looks at every third byte first, and at what may only look like one."""
    near = b'{"%s": ["2026-01-05", "%s", %s' % (b"k" * before, b"7" * 64, b"1" * 18)
    assert read_large_json([near + b"]}"], limit=1_000)
    for data in (near + b"," + space + number + b"]}", b"[" + space + number + b"]"):
        with pytest.raises(ValueError, match="at most 18 digits as printed"):
            read_large_json([data], limit=1_000)


def test_after_many_places_that_look_odd_every_number_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("verifier.core.strict._LOOKS", 2)
    for tail in (b"-0", b"9" * 19):
        with pytest.raises(ValueError, match="as printed"):
            read_large_json([b'["2026-01-05", "%s", %s]' % (b"7" * 64, tail)], limit=1_000)


BAD_TOML = {
    "byte order mark": b"\xef\xbb\xbfa = 1",
    "not UTF-8": b'a = "\xff"',
    "duplicate key": b"a = 1\na = 2",
    "duplicate table": b"[a]\n[a]",
    "float": b"a = 1.5",
    "exponent": b"a = 1e5",
    "nan": b"a = nan",
    "inf": b"a = -inf",
    "hexadecimal": b"a = 0x1f",
    "octal": b"a = 0o17",
    "binary": b"a = 0b1",
    "underscore": b"a = 1_000",
    "plus sign": b"a = +5",
    "minus zero": b"a = -0",
    "in a list": b"a = [1, 0x2]",
    "in an inline table": b"a = { b = 0x2 }",
    "time with a space": b"a = 2026-11-29 00:00:00Z",
    "time with an offset": b"a = 2026-11-29T01:00:00+01:00",
    "time without zone": b"a = 2026-11-29T00:00:00",
    "time with lower-case z": b"a = 2026-11-29T00:00:00z",
    "time with fractions": b"a = 2026-11-29T00:00:00.5Z",
    "date alone": b"a = 2026-11-29",
    "deep": b"a = " + b"[" * 40 + b"]" * 40,
    "very deep": b"a = " + b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("name", BAD_TOML)
def test_toml_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_toml(BAD_TOML[name])


def test_toml_spellings_inside_strings_and_comments_are_text() -> None:
    text = (
        b'a = "= 0x1f"  # = 0x1f\nb = \'\'\'\n= 1_000 \'\'\'\nc = """\\"= 0o1"""\nd = [\'=1e5\']\n'
    )
    assert read_toml(text)["a"] == "= 0x1f"


def test_too_large_is_refused_before_parsing() -> None:
    with pytest.raises(ValueError, match="more than the 10 allowed"):
        read_json(b"[" * 11, limit=10)


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abcdef_", min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_prints_reads_back(value: Any) -> None:
    assert read_json(json.dumps(value).encode()) == value


@given(st.dictionaries(st.text("abcdef_", min_size=1, max_size=5), VALUES, max_size=4))
def test_what_toml_writes_reads_back(value: dict[str, Any]) -> None:
    written = write_toml(value)
    assert read_toml(written) == tomllib.loads(written.decode()) == value


def read(text: str) -> Table:
    return Table.toml(text.encode(), what="file.toml", remedy="mend it")


def test_every_mistake_is_named_by_its_path() -> None:
    table = read(
        'name = ""\ncount = true\ntims = 1\n[[row]]\nsha256 = "AB"\n[[row]]\nlength = -1\n'
    )
    table.text("name")
    table.integer("count")
    table.time("time")
    for row in table.tables("row"):
        row.pin()
        row.close()
    with pytest.raises(MalformedError) as caught:
        table.done()
    assert caught.value.remedy == "mend it"
    assert set(caught.value.mistakes) == {
        "name: is empty",
        "count: is not an integer",
        "time: missing, expected a time as 2026-11-29T00:00:00Z",
        "row[0].sha256: is no SHA-256: 64 lower-case hex digits",
        "row[0].length: missing, expected an integer",
        "row[1].sha256: missing, expected a SHA-256",
        "row[1].length: -1 is not between 0 and 9007199254740992",
        "tims: unknown key, did you mean time?",
    }


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("a = 1", lambda t: t.text("a")),
        ('a = "x"', lambda t: t.text("a", choices=["y"])),
        ('a = "x\\n"', lambda t: t.text("a", pattern="x")),
        ("a = false", lambda t: t.integer("a")),
        ("a = 1", lambda t: t.flag("a")),
        ("a = 5", lambda t: t.integer("a", most=4)),
        ('a = "2026-02-30T00:00:00Z"', lambda t: t.time("a")),
        ('a = ["x", "x"]', lambda t: t.texts("a")),
        ('a = ["x", 1]', lambda t: t.texts("a")),
        ('a = [""]', lambda t: t.texts("a")),
        ("a = [2, 1]", lambda t: t.integers("a")),
        ("a = [1, 1]", lambda t: t.integers("a")),
        ("a = [true]", lambda t: t.integers("a")),
        ("a = [1]", lambda t: t.tables("a")),
        ("a = 1", lambda t: t.table("a")),
        ("a = { sha256 = 1, length = 1 }", lambda t: t.pin("a")),
        ("", lambda t: t.table("a")),
    ],
)
def test_wrong_values_are_refused(text: str, ask: Any) -> None:
    table = read(text)
    ask(table)
    with pytest.raises(MalformedError):
        table.done()


def test_a_document_that_is_no_table_is_refused() -> None:
    with pytest.raises(MalformedError, match="no table"):
        Table.json(b"[]", what="x", remedy="y").done()


def test_nearest_and_quoted() -> None:
    assert nearest("polcy", ["policy", "registry"]) == "policy"
    assert nearest("zzz", ["policy"]) is None
    assert quoted("a\x1b[31m") == '"a\\u001b[31m"'
    assert quoted("ü") == '"ü"'
    assert quoted("a\u202eb") == '"a\\u202eb"'


@pytest.mark.parametrize("document", [{}, {"a": 1}, {"a": ""}, {"a": "z"}, {"a": None}])
def test_a_choice_is_one_of_them_even_after_a_mistake(document: dict[str, Any]) -> None:
    table = Table(document, what="x", remedy="y")
    assert table.text("a", choices=["x", "y"]) == "x"
    with pytest.raises(MalformedError):
        table.done()


@pytest.mark.parametrize(
    "text", ["1e99", "1e-99", "1" * 41, "0." + "1" * 40, "NaN", "1e" + "9" * 30, "-Infinity"]
)
def test_foreign_numbers_are_bounded(text: str) -> None:
    with pytest.raises(ValueError, match=r"digits|integer"):
        read_foreign_json(f"[{text}]".encode(), limit=1000)


def test_foreign_decimals_are_kept_exactly() -> None:
    found = read_foreign_json(b"[0.1, 1e-7, -2.50, 20000000000000000000]", limit=1000)
    assert found == [Decimal("0.1"), Decimal("1e-7"), Decimal("-2.50"), 2 * 10**19]


def test_an_empty_time_is_none() -> None:
    table = Table.json(b'{"at": ""}', what="it", remedy="no")
    table.time("at")
    with pytest.raises(MalformedError, match="at: is not a time"):
        table.done()
