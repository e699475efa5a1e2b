"""A supply chain for tests: compose, build, measure, publish; sound, and with every lie.

A recipe (a `[chain."<folder>"]` table of a case) makes a folder with `layout.json`, the keys of two
owners, `links/`, and `release/`, the files that came out. `form` is that of the metadata, `dsse` or
`traditional`; `maker` says who writes the links: `ours`, or in-toto's own classes. `lies` change
what is written, by the names of LIES. Keys are those of support.statements, secret to nobody;
all digests are constants.
"""

import hashlib
import json
import os
import shutil
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from support import statements
from verifier.evidence.dsse import IN_TOTO, pae
from verifier.evidence.layout.signed import canonical

Json = dict[str, Any]

FILES: Final = {
    "base/scheduler.py": b"def schedule():\n    return 1\n",
    "tree/scheduler.py": b"def schedule():\n    return fair(1)\n",
    "tree/fair.py": b"def fair(n):\n    return n\n",
    "dist/image.tar": b"an image, or so they say\n",
    "receipt.json": b'{"tokens_per_second": 41}\n',
}
FILES_RELEASED: Final = {
    "release/image.tar": FILES["dist/image.tar"],
    "release/receipt.json": FILES["receipt.json"],
}
COMMANDS: Final = {
    "compose": ["pinproof", "verify", "composition", "fair"],
    "build": ["make", "image"],
    "measure": ["bench", "--short", ""],
    "publish": ["cp", "-r", "dist", "release"],
}
#: Who does which step.
DOERS: Final = {
    "compose": ["composer"],
    "build": ["builder-1", "builder-2"],
    "measure": ["measurer"],
    "publish": ["publisher"],
}
EXPIRES: Final = "2027-06-01T00:00:00Z"


def key(name: str) -> Json:
    """Write a public key as a layout holds it."""
    found: Json = {"keytype": "ed25519", "scheme": "ed25519"}
    public = statements.key(name).public_key()
    if isinstance(public, Ed25519PublicKey):
        raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
        found["keyval"] = {"public": raw}
    else:
        found |= {"keytype": "ecdsa", "scheme": f"ecdsa-sha2-nist{name[:4]}"}
        found["keyval"] = {"public": statements.public_pem(name).decode()}
    return {**found, "keyid": hashlib.sha256(canonical(found)).hexdigest()}


def artifacts(*names: str) -> Json:
    everything = {**FILES, **FILES_RELEASED}
    return {name: {"sha256": hashlib.sha256(everything[name]).hexdigest()} for name in names}


def step(name: str, materials: list[list[str]], products: list[list[str]]) -> Json:
    return {
        "_type": "step",
        "name": name,
        "pubkeys": [key(doer)["keyid"] for doer in DOERS[name]],
        "threshold": len(DOERS[name]),
        "expected_command": COMMANDS[name],
        "expected_materials": materials,
        "expected_products": products,
    }


def layout() -> Json:
    rest = ["DISALLOW", "*"]
    released = ["MATCH", "image.tar", "IN", "release", "WITH", "PRODUCTS", "IN", "dist"]
    match_image = ["MATCH", "image.tar", "IN", "dist", "WITH", "PRODUCTS", "IN", "dist"]
    steps = [
        step(
            "compose",
            [["REQUIRE", "base/scheduler.py"], ["ALLOW", "base/*"], rest],
            [["CREATE", "tree/fair.py"], ["CREATE", "tree/*"], rest],
        ),
        step(
            "build",
            [["MATCH", "tree/*", "WITH", "PRODUCTS", "FROM", "compose"], rest],
            [["CREATE", "dist/image.tar"], rest],
        ),
        step(
            "measure", [[*match_image, "FROM", "build"], rest], [["CREATE", "receipt.json"], rest]
        ),
        step(
            "publish",
            [
                ["match", "dist/*", "with", "products", "from", "build"],
                ["MATCH", "receipt.json", "WITH", "PRODUCTS", "FROM", "measure"],
                rest,
            ],
            [
                [*released, "FROM", "build"],
                ["MATCH", "receipt.json", "IN", "release/", "WITH", "PRODUCTS", "FROM", "measure"],
                rest,
            ],
        ),
    ]
    doers = [doer for each in DOERS.values() for doer in each]
    return {
        "_type": "layout",
        "readme": "compose, build, measure, publish",
        "expires": EXPIRES,
        "keys": {key(doer)["keyid"]: key(doer) for doer in doers},
        "steps": steps,
        "inspect": [],
    }


def link(name: str) -> Json:
    sides = {
        "compose": (["base/scheduler.py"], ["tree/scheduler.py", "tree/fair.py"]),
        "build": (["tree/scheduler.py", "tree/fair.py"], ["dist/image.tar"]),
        "measure": (["dist/image.tar"], ["receipt.json"]),
        "publish": (["dist/image.tar", "receipt.json"], list(FILES_RELEASED)),
    }[name]
    return {
        "_type": "link",
        "name": name,
        "command": COMMANDS[name],
        "materials": artifacts(*sides[0]),
        "products": artifacts(*sides[1]),
        "byproducts": {"return-value": 0, "stdout": "", "stderr": ""},
        "environment": {},
    }


@dataclass
class Chain:
    """What will be written; lies change it. `links` is keyed by path below `links/`."""

    form: str = "traditional"
    maker: str = "ours"
    layout: Json = field(default_factory=layout)
    owners: list[str] = field(default_factory=lambda: ["owner-1", "owner-2"])
    links: dict[str, tuple[Json, list[str]]] = field(default_factory=dict)
    after: list[Callable[[Path], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, doers in DOERS.items():
            for doer in doers:
                self.links[place(name, doer)] = (link(name), [doer])

    def step(self, name: str) -> Json:
        found: Json = next(each for each in self.layout["steps"] if each["name"] == name)
        return found

    def told(self, name: str, doer: str = "") -> Json:
        return self.links[place(name, doer or DOERS[name][0])][0]


def place(name: str, doer: str) -> str:
    return f"{name}.{key(doer)['keyid'][:8]}.link"


def signed(payload: Json, signers: list[str], form: str) -> bytes:
    """Sign metadata in one of its forms."""
    if form == "dsse":
        body = json.dumps(payload, sort_keys=True).encode()
        signatures = [
            {
                "keyid": key(each)["keyid"],
                "sig": b64encode(statements.signature(each, pae(IN_TOTO, body))).decode(),
            }
            for each in signers
        ]
        envelope = {"payload": b64encode(body).decode(), "payloadType": IN_TOTO}
        return json.dumps({**envelope, "signatures": signatures}).encode()
    signatures = [
        {"keyid": key(each)["keyid"], "sig": statements.signature(each, canonical(payload)).hex()}
        for each in signers
    ]
    return json.dumps({"signed": payload, "signatures": signatures}, indent=1).encode()


def signed_by_in_toto(payload: Json, signers: list[str], form: str) -> bytes:
    """Sign metadata with in-toto's own classes."""
    from in_toto.models.layout import Layout
    from in_toto.models.link import Link
    from in_toto.models.metadata import Envelope, Metablock
    from securesystemslib.signer import CryptoSigner

    copied = json.loads(json.dumps(payload))
    model = Layout.read(copied) if payload["_type"] == "layout" else Link.read(copied)
    metadata = Envelope.from_signable(model) if form == "dsse" else Metablock(signed=model)
    for each in signers:
        metadata.create_signature(CryptoSigner(statements.key(each)))
    return json.dumps(metadata.to_dict(), indent=1, sort_keys=True).encode()


def make(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Write a chain by its recipe."""
    chain = Chain(form=recipe.get("form", "traditional"), maker=recipe.get("maker", "ours"))
    for lie in recipe.get("lies", []):
        LIES[lie](chain)
    sign = signed if chain.maker == "ours" else signed_by_in_toto
    (folder / "release").mkdir(parents=True)
    (folder / "layout.json").write_bytes(sign(chain.layout, chain.owners, chain.form))
    for owner in ("owner-1", "owner-2", "stranger"):
        (folder / f"{owner}.pem").write_bytes(statements.public_pem(owner))
    for path, (payload, signers) in chain.links.items():
        file = folder / "links" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sign(payload, signers, chain.form))
    for path, data in FILES_RELEASED.items():
        (folder / path).write_bytes(data)
    for change in chain.after:
        change(folder)


# ── lies ───────────────────────────────────────────────────────────────────────────────────────

Lie = Callable[[Chain], None]


def _exchange(folder: Path) -> None:
    """Put one product in the place of another."""
    shutil.copyfile(folder / "release/receipt.json", folder / "release/image.tar")


def _in_file(path: str, old: bytes, new: bytes) -> Lie:
    """Change bytes of a file after it was signed."""

    def change(folder: Path) -> None:
        before = (folder / path).read_bytes()
        assert old in before, (path, old)
        (folder / path).write_bytes(before.replace(old, new, 1))

    return lambda chain: chain.after.append(change)


def _in_layout(**changes: Any) -> Lie:
    return lambda chain: chain.layout.update(changes)


def _in_step(of: str, /, **changes: Any) -> Lie:
    return lambda chain: chain.step(of).update(changes)


def _signers(path: str, *signers: str) -> Lie:
    def lie(chain: Chain) -> None:
        chain.links[path] = (chain.links[path][0], list(signers))

    return lie


def _renamed(old: str, new: str) -> Lie:
    def lie(chain: Chain) -> None:
        chain.links[new] = chain.links.pop(old)

    return lie


def _without(path: str) -> Lie:
    def lie(chain: Chain) -> None:
        del chain.links[path]

    return lie


def _told(name: str, side: str, path: str, digests: Json | None, doers: int = 2) -> Lie:
    """Let the links of a step list another artifact, or one less."""

    def lie(chain: Chain) -> None:
        for doer in DOERS[name][:doers]:
            artifacts = chain.told(name, doer)[side]
            if digests is None:
                del artifacts[path]
            else:
                artifacts[path] = digests

    return lie


def _all(*lies: Lie) -> Lie:
    def lie(chain: Chain) -> None:
        for each in lies:
            each(chain)

    return lie


def _duplicate_key(folder: Path) -> None:
    """Give `expires` twice: in-toto takes the last, a reviewer sees the first."""
    path = folder / "layout.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"expires":', b'"expires": "2026-01-01T00:00:00Z", "expires":'))


def _linked(folder: Path) -> None:
    path = folder / "links" / place("measure", "measurer")
    path.rename(folder / "elsewhere")
    path.symlink_to("../elsewhere")


def _same_key_twice(chain: Chain) -> None:
    """List one builder's key under two ids, and sign with it alone."""
    other = {**key("builder-1"), "keyid": "ab" * 32}
    chain.layout["keys"][other["keyid"]] = other
    chain.step("build")["pubkeys"] = [key("builder-1")["keyid"], other["keyid"]]
    payload, _ = chain.links.pop(place("build", "builder-2"))
    path = "build.abababab.link"
    chain.links[path] = (payload, ["builder-1"])
    real, named = key("builder-1")["keyid"].encode(), other["keyid"].encode()
    _in_file(f"links/{path}", real, named)(chain)


def _other_kind_of_key(chain: Chain) -> None:
    of_gpg = {
        "keyid": "cd" * 20,
        "type": "rsa",
        "method": "pgp+rsa-pkcsv1.5",
        "hashes": ["pgp+SHA2"],
        "keyval": {"public": {"e": "010001", "n": "00"}, "private": ""},
    }
    chain.layout["keys"]["cd" * 20] = of_gpg
    chain.step("measure")["pubkeys"] = ["cd" * 20]
    del chain.layout["keys"][key("measurer")["keyid"]]


def below(chain: Chain, *, depth: int = 1) -> None:
    """Delegate building to a layout by builder-1, and that one to another, `depth` times."""
    chain.step("build")["threshold"] = 1
    payload = chain.links.pop(place("build", "builder-1"))[0]
    del chain.links[place("build", "builder-2")]
    folder, name = "", "build"
    for number in range(depth):
        inner = "assemble" if number % 2 == 0 else "build"
        sub = {
            **layout(),
            "readme": "",
            "keys": {key("builder-1")["keyid"]: key("builder-1")},
            "steps": [
                {
                    **step("build", [["ALLOW", "*"]], [["CREATE", "dist/image.tar"]]),
                    "name": inner,
                    "pubkeys": [key("builder-1")["keyid"]],
                    "threshold": 1,
                }
            ],
        }
        chain.links[folder + place(name, "builder-1")] = (sub, ["builder-1"])
        folder += f"{name}.{key('builder-1')['keyid'][:8]}/"
        name = inner
    chain.links[folder + place(name, "builder-1")] = ({**payload, "name": name}, ["builder-1"])


def _below_by_another(chain: Chain) -> None:
    """Run what was not expected, in a layout below that expects nothing."""
    below(chain)
    last = list(chain.links)[-1]
    chain.links[last][0]["command"] = ["make", "something", "else"]
    payload = chain.links[place("build", "builder-1")][0]
    payload["steps"][0]["expected_command"] = []


def _both_on_one(chain: Chain) -> None:
    """Let one build be signed by both builders, where two were demanded."""
    del chain.links[place("build", "builder-2")]
    _signers(place("build", "builder-1"), "builder-1", "builder-2")(chain)


def _other_curves(chain: Chain) -> None:
    """Let ECDSA keys do two of the steps."""
    for step_name, old, new in (
        ("build", "builder-2", "p256-builder"),
        ("measure", "measurer", "p384-measurer"),
    ):
        chain.layout["keys"][key(new)["keyid"]] = key(new)
        pubkeys = chain.step(step_name)["pubkeys"]
        pubkeys[pubkeys.index(key(old)["keyid"])] = key(new)["keyid"]
        payload, _ = chain.links.pop(place(step_name, old))
        chain.links[place(step_name, new)] = (payload, [new])


def _nothing(chain: Chain) -> None:
    """Let no rule demand anything, and no link list anything."""
    for each in chain.layout["steps"]:
        each["expected_materials"] = each["expected_products"] = [["DISALLOW", "*"]]
    for told, _ in chain.links.values():
        told["materials"] = told["products"] = {}


def _unruled(chain: Chain) -> None:
    chain.step("measure")["expected_products"] = [["CREATE", "*.log"]]


def _many(chain: Chain) -> None:
    chain.step("compose")["expected_products"] = [["ALLOW", f"*{n}*a*b*c"] for n in range(5_000)]
    told = chain.told("compose")["products"]
    told |= {f"tree/{n}": {"sha256": "0" * 64} for n in range(5_000)}


OTHER: Final = {"sha256": "0" * 64}
MEASURED: Final = f"links/{place('measure', 'measurer')}"
LIES: Final[dict[str, Lie]] = {
    "layout changed": _in_file("layout.json", b"compose, build", b"compose; build"),
    "layout not json": _in_file("layout.json", b"{", b"{,"),
    "layout key twice": lambda chain: chain.after.append(_duplicate_key),
    "layout unknown key": _in_layout(threshold=2),
    "layout unsigned": lambda chain: chain.owners.clear(),
    "layout by one owner": lambda chain: chain.owners.remove("owner-2"),
    "layout expired": _in_layout(expires="2026-11-29T00:00:00Z"),
    "inspection": _in_layout(
        inspect=[
            {
                "_type": "inspection",
                "name": "untar",
                "run": ["touch", "ran"],
                "expected_materials": [],
                "expected_products": [],
            }
        ]
    ),
    "no steps": _in_layout(steps=[]),
    "rule unknown": _in_step("measure", expected_products=[["PERMIT", "*"]]),
    "rule incomplete": _in_step("measure", expected_materials=[["MATCH", "*", "WITH", "PRODUCTS"]]),
    "step climbs": _in_step("measure", name="../measure"),
    "step twice": _in_step("measure", name="build"),
    "step by case": _in_step("measure", name="Build"),
    "step of nobody": _in_step("measure", pubkeys=["ab" * 32]),
    "threshold 0": _in_step("build", threshold=0),
    "rule of no step": _in_step(
        "measure", expected_materials=[["MATCH", "*", "WITH", "PRODUCTS", "FROM", "compile"]]
    ),
    "link reformatted": _in_file(MEASURED, b'"name": "measure"', b'"name":  "measure"'),
    "link digest changed": _in_file(MEASURED, b'"receipt.json"', b'"receipt.JSON"'),
    "link not json": _in_file(MEASURED, b"{", b"["),
    "link key twice": _in_file(MEASURED, b'"command":', b'"command": [], "command":'),
    "link unsigned": _signers(place("measure", "measurer")),
    "link by a stranger": _signers(place("measure", "measurer"), "stranger"),
    "link by another doer": _signers(place("measure", "measurer"), "publisher"),
    "link of another step": _all(
        _without(place("measure", "measurer")),
        lambda chain: chain.links.update(
            {place("measure", "measurer"): (link("publish"), ["measurer"])}
        ),
    ),
    "link missing": _without(place("measure", "measurer")),
    "link of the system": lambda chain: chain.after.append(_linked),
    "one builder": _without(place("build", "builder-2")),
    "one builder twice": _same_key_twice,
    "one builder under two names": _signers(place("build", "builder-2"), "builder-1"),
    "both builders on one link": _both_on_one,
    "builders disagree": _told("build", "products", "dist/image.tar", OTHER, doers=1),
    "key of another kind": _other_kind_of_key,
    "another command": lambda chain: chain.told("measure").update(command=["echo", "41"]),
    "material swapped": _told("measure", "materials", "dist/image.tar", OTHER),
    "material slipped in": _told("build", "materials", "tree/extra.py", OTHER),
    "material skipped": _told("measure", "materials", "dist/image.tar", None),
    "required missing": _all(
        _told("compose", "materials", "base/scheduler.py", None),
        _told("compose", "materials", "base/other.py", OTHER),
    ),
    "product unruled": _unruled,
    "nothing recorded": _nothing,
    "only md5": _told("compose", "materials", "base/old.py", {"md5": "0" * 32}),
    "digest too short": _told("compose", "materials", "base/old.py", {"sha256": "0" * 32}),
    "names collide": _told("compose", "materials", "base/Scheduler.py", OTHER),
    "too many": _many,
    "other curves": _other_curves,
    "below": below,
    "below by another command": _below_by_another,
    "below twice": lambda chain: below(chain, depth=2),
    "below 12 times": lambda chain: below(chain, depth=12),
    "product changed": _in_file("release/image.tar", b"they say", b"they sat"),
    "product exchanged": lambda chain: chain.after.append(_exchange),
    "other file": lambda chain: chain.after.append(
        lambda folder: os.close(os.open(folder / "links/notes.txt", os.O_CREAT | os.O_WRONLY))
    ),
}
