"""The data that people review: policies, pages, schemas, the embedded registry, the wheel."""

import hashlib
import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from support import compositions, git_repos, hosts
from support import registry as registries

import verifier
from verifier import ask
from verifier.core.codes import CODES
from verifier.core.verdict import Exit
from verifier.policy import load
from verifier.sources import shipped

PROJECT: Final = Path(__file__).parents[1]
SHIPPED: Final = Path(verifier.__file__).parent / "_shipped"


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert set(shipped.names("codes", ".md")) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_page_names_outcome_and_remedy(code: str) -> None:
    page = shipped.read("codes", f"{code}.md").decode()
    assert page.startswith(f"# {code}\n")
    assert CODES[code].outcome in page.split("## ")[0]
    for heading in ("## What happened", "## Why it matters", "## What you may do"):
        assert heading in page, heading
    assert len(page) > 400, "a page that says nothing"


def test_every_code_occurs_in_a_test() -> None:
    texts = [
        path.read_text()
        for path in (PROJECT / "tests").rglob("*")
        if path.suffix in (".py", ".toml") and path.is_file() and path.name != "test_data.py"
    ]
    missing = [code for code in CODES if not any(f'"{code}"' in text for text in texts)]
    assert not missing


@pytest.mark.parametrize("name", shipped.names("policies", ".toml"))
def test_shipped_policies_parse_under_their_own_name(name: str) -> None:
    policy = load(shipped.read("policies", f"{name}.toml"), where=name)
    assert policy.name == name
    demands = [policy.helper, policy.receipt, policy.release, policy.head]
    assert any(demand is not None for demand in demands), "a policy that demands nothing"
    if policy.helper is not None:
        assert policy.helper.facets
        assert policy.composition
    if policy.receipt is not None:
        assert policy.receipt.facets


def test_the_shipped_data_is_that_of_the_checkout() -> None:
    for kind in ("registry", "policies", "schemas"):
        for path in (PROJECT / kind).rglob("*"):
            if path.is_file() and path.name != "own.toml":
                assert (SHIPPED / kind / path.relative_to(PROJECT / kind)).read_bytes() == (
                    path.read_bytes()
                ), f"{path}: run make registry, or make test again"


def test_the_embedded_registry_authenticates_as_a_whole() -> None:
    report = ask.check_registry()
    assert report.exit is Exit.OK, report.results


def test_the_registry_holds_the_published_facts() -> None:
    """Digests written down here by hand, from the public registries of the installers."""
    entry = tomllib.loads(
        (SHIPPED / "registry/targets/glm53/helper/glm53-decode-floor.toml").read_text()
    )
    pins = {v["id"]: (v["sha256"], v["length"]) for v in entry["version"] if "sha256" in v}
    assert pins["v1"] == ("c0c10c6385bd7e75bfc0f724378960b9d9cb943cf18c386a5a780cf03cb4c48d", 784)
    assert pins["v2"] == (
        "e170f2bf6d0c0fe0493a91ff54bd719036f6c4b5ea9fcf2ee1346968a4e3fbed",
        13378,
    )
    assert pins["v5"] == (
        "c05769276df6da0a24b3b8c21e251f39ee7aa2a74ee92c6d6ce3d85c38151a53",
        20866,
    )
    assert pins["v6"] == (
        "4eac19b23a39ffa58c765191fd8d120b2d9cd400dcdbfe9019fcea4dee88e03a",
        23415,
    )
    status = {v["id"]: v["status"] for v in entry["version"]}
    assert status["v3"] == status["v4"] == "unattested"
    assert sum(s == "supported" for s in status.values()) == 4
    assert sum(s == "authentic" for s in status.values()) == 4


def composition(project: str, name: str) -> dict[str, Any]:
    return tomllib.loads(
        (SHIPPED / f"registry/targets/{project}/composition/{name}.toml").read_text()
    )


def test_the_overlay_of_the_sparkring_chain_is_its_manifest() -> None:
    """Rebuild the published manifest from the entry's rows: its digest is the published one."""
    entry = composition("sparkring", "sparkring-adaptive-mtp")
    origins = {
        side: {
            "repository": f"{entry[side]['repository']}.git",
            "commit": entry[side]["commit"],
            "tree": entry[side]["tree"],
        }
        for side in ("base", "target")
    }
    rows = [
        {
            "path": row["path"],
            "operation": row["operation"],
            "base_sha256": row["pre"]["sha256"] if "pre" in row else None,
            "target_sha256": row["post"]["sha256"],
            "target_bytes": row["post"]["length"],
        }
        for row in entry["stage"][0]["files"]
    ]
    manifest = {"schema": entry["manifest"]["schema"], **origins, "files": rows}
    data = f"{json.dumps(manifest, indent=2)}\n".encode()
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (
        "e5e528288b173399611a4930fecc4182b7208bc1564881d52ca5d2c5c4ae0f6a",
        10025,
    )
    assert [stage["name"][:3] for stage in entry["stage"]] == [
        *("ove", "010", "b12", "020", "030", "040", "041", "011")
    ]


def test_the_registry_holds_the_published_trees() -> None:
    """Written down here by hand, from the pins of EXL3 R7 and of SparkCache."""
    vllm = composition("sparkring", "exl3-r7-vllm")
    assert vllm["base"]["commit"] == "e2666d9a65f41fc376607531453cbd57c4c71016"
    assert vllm["stage"][0]["tree"] == "4d006a43928cdee01306691a766542c1e9bebb59"
    assert vllm["stage"][0]["patch"]["sha256"] == (
        "8a7269851ab5bfff8f730db9af6f19ac6c0fc26620ba32108ba17cfe4e51c903"
    )
    b12x = composition("sparkring", "exl3-r7-b12x")
    assert b12x["base"]["commit"] == "7cecbb2c4819636ae7f05f8b116f2c45ee2cff7b"
    assert b12x["stage"][0]["tree"] == "cd3ce190f0f1917402cdfd5773724267cc9a63f8"
    cache = composition("sparkcache", "sparkcache-9e779c32")["component"][0]
    assert cache["commit"] == "9e779c32b285e00577a7829a75192069d12685dc"
    assert cache["tree"] == "4df3ea1435241a688e6d44345687414605131450"
    assert cache["source"][0]["sha256"] == (
        "01cc59bf2c45af60f02813b771a484e65829e4f464eb27aa1756ca7067c82c9f"
    )


def test_the_registry_holds_the_published_images() -> None:
    """Manifest and configuration as published together, written down here by hand."""
    folder = SHIPPED / "registry/targets/sparkring/image"
    pairs = {}
    for path in folder.glob("*.toml"):
        digests = {d["kind"]: d["sha256"] for d in tomllib.loads(path.read_text())["digest"]}
        if "manifest" in digests:
            pairs[digests["manifest"][:8]] = digests["config"][:8]
    assert pairs == {
        "864adfe6": "7e8c0ebc",
        "67dc0ae4": "2e41b1e9",
        "380283a5": "b3a13d80",
        "368973d2": "4664bcba",
        "0d4029b3": "5e32aaa1",
        "e34aa58f": "058b17b4",
        "de885a8a": "384bc56e",
        "6fc26fda": "50036224",
        "93824a94": "9468d2f7",
    }
    runtime = tomllib.loads(
        (SHIPPED / "registry/targets/sparkring/runtime/glm-prefill-tp4-52b207e7.toml").read_text()
    )
    assert {m["revision"] for m in runtime["model"]} == {"df116c4fb16b1d37ae43d2cfd624de26ffbc832e"}


def test_the_example_composition_is_made_by_its_script(tmp_path: Path) -> None:
    """The commits and trees that the entry names are those that git makes, with git alone."""
    compositions.repository(tmp_path / "lantern")
    done = subprocess.run(
        ["git", "log", "--reverse", "--format=%s %H %T"],
        cwd=tmp_path / "lantern",
        env=git_repos.ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    made = [line.split() for line in done.stdout.splitlines()]
    entry = composition("pinproof", "example-lantern")
    assert made[0] == ["base", entry["base"]["commit"], entry["base"]["tree"]]
    assert made[1] == ["overlay", entry["target"]["commit"], entry["target"]["tree"]]
    assert [(name, tree) for name, _, tree in made[1:]] == [
        (stage["name"], stage["tree"]) for stage in entry["stage"]
    ]
    for stage in entry["stage"][1:]:
        data = (PROJECT / stage["patch"]["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (
            stage["patch"]["sha256"],
            stage["patch"]["length"],
        )


#: Written down once, with sha256sum, from the installed example.
HOSTS: Final = {
    "clean": ("4fd3bac7a0131b9765bcb454ee5a980da123bda564efc10652e652720f682159", 2192),
    "v1": ("69c1597844e20acc39d92b95143b08ff31a4cb6aa491d77b581e8519baa23cbb", 2509),
    "v2": ("e4f34cf514bf8281ec33b708db88c005c8c1a54489364378144336e01edd5eba", 2866),
    "v5": ("12f3a739689bf652ce7c05bf5f060ac6b9410245fabc8cdf2ad3bb8daadbb7fd", 2970),
    "v5-main": ("1c72c8102420715135c938424123d871c5ab1e82b34b518c473b5bc539d16c58", 2970),
    "v6": ("ed9f0bfe6caa460b1d0657d77c50cba1dfc1a8b42fb422db40ff6776f9f57313", 2979),
    "v6-carry": ("a1e2f4d673815bbf58a8617a7c6f37b1b7ccdcaa75a3cbd4cdbdedc0659f26f9", 2970),
    "aging": ("3a859ffcc2901a9ea8c07a52260a6ea39168f70a1a73035918fd6eafa56a4b00", 2484),
    "v6 then aging": ("f174e11bf0515fb7bcddfb743737504a09c54597af2a5666238d412c22770dd3", 3271),
    "aging then v6": ("0d1ca94401581a93c5dfd5b8cc82fc115aa7edec3fdd02498f8226a91e998f5f", 3271),
}


@pytest.mark.parametrize("name", HOSTS)
def test_built_hosts_are_those_that_were_written_down(name: str) -> None:
    data = hosts.host(name)
    assert (hashlib.sha256(data).hexdigest(), len(data)) == HOSTS[name]


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(shipped.read("schemas", f"{name}.v1.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_reports_follow_their_schema(tmp_path: Path, test_registry: registries.Registry) -> None:
    reported = validator("report")
    around = {f"pinproof.{name}/v1": validator(name) for name in ("migration", "pinned", "vouches")}
    reports = list((PROJECT / "tests" / "cases").rglob("expected.json"))
    assert reports
    for path in reports:
        text = path.read_text().replace("<grammar>", "3.11")
        document: dict[str, Any] = json.loads(text) if text.startswith("{") else {}
        if (outer := around.get(document.get("schema", ""))) is not None:
            outer.validate(document)
            document = document["report"]
        if document.get("schema") == "pinproof.report/v1":
            reported.validate(document)
