"""The sound receipt as files, for the command line: one study, and one thing of it otherwise.

A `[receipt."study.json"]` table of a case writes the sound receipt of `receipts`, and beside it

* `evidence/`: every file that it names; a file that stands for a thing holds that thing's name;
* `gates.json`: the gate file as it was declared, whose digest the receipt holds;
* `accepting.toml`: a policy that takes unsigned receipts, and asks for no proof of when gates were
  declared; it is what `--policy ./accepting.toml` names.

What may be otherwise, in this order:

* `change = {"arms.0.settings.FINE" = "1"}`: dotted paths of the predicate; `*` is every item;
  `subject.NAME` is a subject's digest. `drop = ["arms.3"]`: what is taken out. `unknown`: paths
  that become null. `copy = [["derived.0", "derived.4"]]`: an item that is put there once more.
* `side = true`: samples stand in `samples.jsonl` instead, in `evidence/`; `side_rows`: pairs of
  text in that file before it is pinned, `side_text` after.
* `text = [["old", "new"]]`: text of the receipt's JSON, that occurs at least once; all of it.
* `keep = 100`: so many bytes of the JSON. `raw = "…"`: other text altogether.
* `sign = ["alice"]`: an envelope, signed by these (support.statements).
* `files = {"workload.json" = "other"}`: content of files of evidence, of more of them as well.
  `missing`, `links`: files that are not there, or only a link to one.
* `gates_bundle = {at = "2026-11-19T11:00:05Z"}`: `gates.bundle` over the gate file as declared,
  `gates.pem` that signed it, `root.json` of the private Sigstore whose clock stood at that time;
  `proving.toml` is `accepting.toml` with a proof of when gates were declared. `of`: another text
  that was signed; `unstamped`: without a time; `raw`: other text altogether.
* `gates = {"gates.0.threshold" = "-20"}`: the gate file's predicate, after it was declared;
  `declared = {…}`: before, so that the receipt holds its digest.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.serialization import Encoding

from support import statements
from support.private_sigstore import PrivateSigstore
from support.receipts import Json, change, digest, samples, sound
from support.transparency import spki

_ARMS: Final = ("B1", "A1", "A2", "B2")
ACCEPTING: Final = """\
schema = "policy/v1"
name = "accepting"
description = "what a receipt itself can show; not who signed it, nor when gates were declared"
[registry]
min_snapshot = 0
[receipt]
demand = [
  "identity", "arms", "retention", "counters", "figures", "statistics", "outputs", "sanitised",
  "exact-head",
]
unsigned = "accept"
"""
#: What the sound study declared before its first request.
DECLARED: Final[Json] = {
    "studyId": "fine-cache-2026-11-20",
    "declaredAt": "2026-11-19T11:00:00Z",
    "gates": [
        {
            "gate": "ttft",
            "kind": "performance",
            "figure": "ttftChange",
            "comparator": "<=",
            "threshold": "-10",
        },
        {"gate": "format", "kind": "outputCheck"},
    ],
    "arms": [
        {"id": "B1", "role": "candidate"},
        {"id": "A1", "role": "control"},
        {"id": "A2", "role": "return"},
        {"id": "B2", "role": "candidate"},
    ],
    "design": {"kind": "BAAB", "order": list(_ARMS)},
    "cases": ["short", "long"],
    "scope": {"topology": "TP2"},
}


def evidence() -> dict[str, bytes]:
    """Return every file that the sound receipt names; each holds what its digest is of."""
    responses = {
        row["response"]["name"]: f"response {row['case']} {row['repetition']}".encode()
        for row in samples()
    }
    captures = {f"{arm}.tar": f"capture {arm}".encode() for arm in _ARMS}
    return {"workload.json": b"workload", "capture.tar": b"capture", **captures, **responses}


def study() -> Json:
    """Return the sound receipt, with the sizes of its files; no workload has a normal form."""
    document, files = sound(), evidence()
    predicate = document["predicate"]
    for name in ("normalised", "normalisation"):
        del predicate["workloads"][0][name]
    for row in predicate["samples"]:
        row["response"]["bytes"] = len(files[row["response"]["name"]])
    for each in (
        *predicate["evidence"],
        *(arm["captures"][0]["evidence"] for arm in predicate["arms"]),
    ):
        each["bytes"] = len(files[each["name"]])
    return document


def gate_file(changes: Mapping[str, Any]) -> bytes:
    """Print a gate file, some paths of it changed."""
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "workload", "digest": digest("workload")}],
        "predicateType": "urn:pinproof:measurement-gates:v1",
        "predicate": json.loads(json.dumps(DECLARED)),
    }
    for path, value in changes.items():
        change(document, path, value)
    return json.dumps(document, indent=1).encode() + b"\n"


def make(path: Path, recipe: Mapping[str, Any]) -> None:
    """Write one receipt and all that stands beside it."""
    folder = path.parent / "evidence"
    folder.mkdir(parents=True, exist_ok=True)
    document, declared = study(), gate_file(recipe.get("declared", {}))
    for name in ("planned", "judged"):
        document["predicate"]["gates"][name] = {"sha256": sha256(declared).hexdigest()}
    _spoil(document, recipe)
    if recipe.get("side"):
        _aside(document, folder / "samples.jsonl", recipe)
    text = _replaced(json.dumps(document, indent=1) + "\n", recipe.get("text", []))
    data = recipe.get("raw", text).encode()[: recipe.get("keep")]
    if "sign" in recipe:
        data = statements.envelope(data, by=recipe["sign"])
    path.write_bytes(data)
    beside = gate_file({**recipe.get("declared", {}), **recipe.get("gates", {})})
    (path.parent / "gates.json").write_bytes(beside)
    (path.parent / "accepting.toml").write_text(ACCEPTING)
    if "gates_bundle" in recipe:
        _sign_gates(path.parent, declared, recipe["gates_bundle"])
    _put(folder, recipe)


def _sign_gates(folder: Path, declared: bytes, recipe: Mapping[str, Any]) -> None:
    sigstore = PrivateSigstore(datetime.fromisoformat(recipe["at"]), seed="gates")
    signer = sigstore.managed_signer()
    bundle = sigstore.message(recipe["of"].encode() if "of" in recipe else declared, signer)
    if recipe.get("unstamped"):
        bundle["verificationMaterial"]["timestampVerificationData"] = {}
    (folder / "gates.bundle").write_text(recipe.get("raw", json.dumps(bundle)))
    (folder / "gates.pem").write_bytes(spki(signer.key, Encoding.PEM))
    (folder / "root.json").write_text(json.dumps(sigstore.trusted_root()))
    proving = ACCEPTING.replace('"accepting"', '"proving"').replace("[\n", '[\n  "gates",\n')
    assert proving.count("gates") > ACCEPTING.count("gates")
    (folder / "proving.toml").write_text(
        proving.replace("signed, nor when gates were declared", "signed; gates stood first")
    )


def _spoil(document: Json, recipe: Mapping[str, Any]) -> None:
    for source, target in recipe.get("copy", []):
        above, _, last = target.rpartition(".")
        place: Any = document["predicate"]
        for name in above.split("."):
            place = place[int(name)] if isinstance(place, list) else place[name]
        assert int(last) == len(place), "a copy is put at the end"
        place.append(json.loads(json.dumps(_at(document, source))))
    for changed, value in recipe.get("change", {}).items():
        if changed.startswith("subject."):
            named = {each["name"]: each for each in document["subject"]}
            assert named[changed.removeprefix("subject.")]["digest"] != value, "nothing was changed"
            named[changed.removeprefix("subject.")]["digest"] = value
            continue
        for each in _paths(document, changed):
            change(document, each, value)
    for unknown in recipe.get("unknown", []):
        for each in _paths(document, unknown):
            change(document, each, None)
    for dropped in recipe.get("drop", []):
        for each in _paths(document, dropped):
            change(document, each, ...)


def _at(document: Json, path: str) -> Any:
    place: Any = document["predicate"]
    for name in path.split("."):
        place = place[int(name)] if isinstance(place, list) else place[name]
    return place


def _paths(document: Json, path: str) -> list[str]:
    """Return the paths that one with `*` stands for."""
    above, star, below = path.partition(".*.")
    if not star:
        return [path]
    return [f"{above}.{number}.{below}" for number in range(len(_at(document, above)))]


def _aside(document: Json, path: Path, recipe: Mapping[str, Any]) -> None:
    rows = document["predicate"].pop("samples")
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    text = _replaced(text, recipe.get("side_rows", []))
    document["predicate"]["samplesFile"] = {
        "name": path.name,
        "sha256": sha256(text.encode()).hexdigest(),
        "bytes": len(text),
    }
    path.write_text(_replaced(text, recipe.get("side_text", [])))


def _replaced(text: str, changes: Iterable[tuple[str, str]]) -> str:
    for old, new in changes:
        assert old in text, f"{old} does not occur"
        text = text.replace(old, new)
    return text


def _put(folder: Path, recipe: Mapping[str, Any]) -> None:
    files = {**evidence(), **{n: text.encode() for n, text in recipe.get("files", {}).items()}}
    for name in recipe.get("missing", []):
        del files[name]
    for name, data in files.items():
        if name in recipe.get("links", []):
            (folder / f"of-{name}").write_bytes(data)
            (folder / name).symlink_to(f"of-{name}")
        else:
            (folder / name).write_bytes(data)
