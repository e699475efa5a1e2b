"""Normal forms of workloads: what they are, byte for byte, and what has none."""

import json
from hashlib import sha256
from typing import Any, Final

import pytest
from support import grill

from verifier.checks.receipt.document.normal_forms import NoFormError, normalised

#: Each pair is a file and its normal form, written out by hand.
SORTED: Final = [
    (' {"b": 1,\r\n "a": [true, null, {}]}\n', '{"a":[true,null,{}],"b":1}'),
    ('{"t": 0.70, "u": 1e2, "v": -0.0, "w": 7}', '{"t":0.7,"u":100.0,"v":-0.0,"w":7}'),
    ('{"\\u00e9": "\\u20ac/\\u0007"}', '{"é":"€/\\u0007"}'),
    ('{"Z": 1, "a": 2, "\\uffff": 3, "\\ud83d\\ude00": 4}', '{"Z":1,"a":2,"\uffff":3,"😀":4}'),
    ('"text"', '"text"'),
    ("[]", "[]"),
]
EVERYTHING: Final = (
    '{"version":3,"name":"two-at-once","request":{"profile":"chat","stream":true,'
    '"output":{"tokens":40,"mode":"cap"},"warmup_output":{"tokens":8,"mode":"exact"},'
    '"cache":"declared","temperature_milli":700,"top_p_milli":null,"seed":7,"thinking":false,'
    '"thinking_control":{"kind":"template","enabled":false}},'
    '"limits":{"total_ms":60000,"idle_ms":5000,"response_bytes":1024,"wave_buffer_bytes":4096},'
    '"cases":[{"id":"prose","messages":[{"role":"user","content":"é"}],'
    '"fill":{"unit":"word ","repeat":3}},'
    '{"id":"filler","messages":[],"fill":{"kind":"prose","characters":90}}],'
    '"cells":[{"id":"c2","case":"prose","concurrency":2,"warmup_trials":1,"trials":2}]}'
)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(("file", "form"), SORTED)
def test_sorted_json(file: str, form: str) -> None:
    assert normalised(file.encode(), "sorted-json") == digest(form)
    assert normalised(form.encode(), "sorted-json") == digest(form)


def test_a_workload_of_thegrill_in_any_order_and_spacing() -> None:
    value = json.loads(EVERYTHING)
    turned = json.dumps(value, sort_keys=True, indent=3)
    assert turned != EVERYTHING
    for file in (turned, EVERYTHING):
        assert normalised(file.encode(), "thegrill-workload") == digest(EVERYTHING)


def test_what_is_absent_stays_null_or_disappears_as_the_program_does_it() -> None:
    assert normalised(json.dumps(grill.workload()).encode(), "thegrill-workload") == digest(
        grill.NORMAL
    )


def changed(**values: Any) -> str:
    return json.dumps({**json.loads(EVERYTHING), **values})


@pytest.mark.parametrize(
    ("file", "form", "why"),
    [
        ("{}", "sorted-yaml", "none of sorted-json, thegrill-workload"),
        ("{}", "", "none of sorted-json"),
        ("short\n", "sorted-json", "not JSON"),
        ('{"a": 1, "a": 1}', "sorted-json", "given twice"),
        ('{"a": NaN}', "sorted-json", "NaN"),
        ('{"a": 1e999}', "sorted-json", "larger than any double"),
        ('"\\ud800"', "sorted-json", "surrogate"),
        ("[]", "thegrill-workload", "no object"),
        (changed(version=4), "thegrill-workload", "versions 1, 2, 3"),
        (changed(schedule={}), "thegrill-workload", "schedule"),
        (changed(name={}), "thegrill-workload", "neither a text"),
        (changed(name=None), "thegrill-workload", "has no name"),
        (changed(cases={}), "thegrill-workload", "no list"),
        (changed(cells=[{"id": "c2"}]), "thegrill-workload", "has no case"),
        (changed(limits={}), "thegrill-workload", "has no total_ms"),
        (changed(cells=[[]]), "thegrill-workload", "no object"),
        (EVERYTHING.replace('"unit":', '"kind":"prose","unit":'), "thegrill-workload", "fill"),
        (EVERYTHING.replace("700", "0.7"), "thegrill-workload", "no integer"),
    ],
)
def test_what_has_none(file: str, form: str, why: str) -> None:
    with pytest.raises(NoFormError, match=why):
        normalised(file.encode(), form)
