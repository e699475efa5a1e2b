"""The texts of a producer's file: what is a literal, what it is called, what is computed."""

import pytest

from verifier.checks.helper.pinning import literals
from verifier.checks.helper.pinning.literals import Source


def read(text: str) -> Source:
    found = literals.read(text.encode())
    assert isinstance(found, Source), found
    return found


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        ("A = 'x'", "A", b"x"),
        ("A: str = 'x'", "A", b"x"),
        ("A = b'\\xff'", "A", b"\xff"),
        ("A = ('x' 'y'\n 'z')", "A", b"xyz"),
        ("A = 'x' + 'y' + \"z\"", "A", b"xyz"),
        ("class C:\n    A = 'x'", "C.A", b"x"),
        ("if True:\n    A = 'x'", "A", b"x"),
        ("A = {'v1': 'x', 2: 'y'}", "A['v1']", b"x"),
        ("A = {'v1': 'x', 2: 'y'}", "A[2]", b"y"),
        ("A = f'x'", "A", None),
        ("A = 'x'.strip()", "A", None),
        ("A = 'x' * 2", "A", None),
        ("A = B", "A", None),
        ("A = '\\ud800'", "A", None),
    ],
)
def test_what_a_name_is_defined_as(code: str, name: str, text: bytes | None) -> None:
    (found,) = read(code).defined(name)
    assert found.text == text


def test_functions_and_classes_are_code_with_their_lines() -> None:
    source = read("x = 1\ndef f():\n    A = 'a'\n    return A\n")
    (found,) = source.defined("f")
    assert (found.code, source.data[found.start : found.end]) == (
        True,
        b"def f():\n    A = 'a'\n    return A",
    )
    assert not source.defined("f.A")
    assert not source.defined("A")
    assert [each.symbol for each in source.literals] == ["f().A"]


def test_parts_of_f_strings_are_no_literals() -> None:
    assert [each.text for each in read("A = [f'x{1}y', 'z']").literals] == [b"z"]


def test_labels_stand_beside_their_texts() -> None:
    source = read("S = [Site('turn', '''new\n''', old), ('drop', 'b c'), ['no words here', 'd e']]")
    labels = {each.text: each.label for each in source.literals}
    assert labels[b"new\n"] == "turn"
    assert labels[b"b c"] == "drop"
    assert labels[b"d e"] == ""


def test_places_are_those_of_the_bytes() -> None:
    source = read("é = 'ä'\nB = '''b\n'''\n")
    (found,) = [each for each in source.literals if each.text == b"b\n"]
    assert source.data[found.start : found.end] == b"'''b\n'''"
    assert found.line == 2


def test_what_is_no_python_says_so() -> None:
    assert not isinstance(literals.read(b"A = \n"), Source)
    assert not isinstance(literals.read(b"A = 'x'\r\n"), Source)
