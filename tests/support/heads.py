"""A repository like that of a real pull request, and all that is said of it: for `verify head`.

Everything has fixed names, dates and keys, so that ids are constants. It has five commits, each on
the one before: `start` (host, composition, registry, policy, sources), `parted` (the tip of main),
`work` and `measured` (the topic), `reported` (the topic's tip: a receipt of `measured`, and a
page). `merge` is what a forge makes of base and head. A `[proposal."."]` table of a case may say

* `also.<commit>`: changes to one of the five; `commit`: more of them, each with `name`, `on` (its
  parents), `of` (the commit whose tree it begins with; the first parent's) and changes;
* `head`, `base`, `main`: which commits are proposed, merged into, and the tip of main;
* `refs`: names and commits, beside those that a clone has; `no_refs`; `packed`: all of them in one
  file, with these lines before; `shallow`, `grafts`: those files; `replace`: pairs of commits;
* `tags`: names of annotated tags and their commits; `@tag-<name>` is the tag's own id;
* `drop`: commits that the store lacks; `lack`: [commit, path] of files that it lacks; `forge`:
  [commit, path, text] of blobs that lie under the id of another, or [commit, text] of commits with
  another message;
* `approval."<file>"`: envelopes: `of` (head), `by` (["tester"]), `result`, `subjects`, `predicate`;
* `receipts."<file>"`: receipts outside the repository, as `receipt` below;
* `files`: texts; `links`: names and targets; `policy_file`: copies of the policy with changes;
* `reports."<file>"`: what a `command` prints as JSON, after `replace`: pairs of text.

Changes of a commit: `write` [[path, text]], `host` (a host of `support.hosts`, or `{from = …}`),
`policy` [[old, new]], `registry` (see `registry`), `receipt` ({"<path>" = {of, base, replace}}),
`move`, `mode`, `link`, `module` (pairs), `remove` (paths). Each has to change something.

`@head`, `@head.short`, `@head.typo`, `@head.upper`, `@head.tree` in texts and commands stand for
the ids of commits.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from support import compositions, hosts, runs, statements, written_receipts
from support import registry as registries
from support.git_repos import object_id, tree_bytes
from support.receipts import BASE, COMMIT
from verifier.catalog.tuf.publish import Signers, publish
from verifier.core.strict import write_toml

Files = dict[str, tuple[int, bytes]]

STANDARD: Final = ("start", "parted", "work", "measured", "reported")
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
RECEIPT: Final = "urn:pinproof:measurement-receipt:v1"
CLOCK: Final = datetime(2026, 11, 29, tzinfo=UTC)
HOST: Final = "harbour/queue.py"
POLICY: Final = """\
schema = "policy/v1"
name = "harbour"
description = "what the harbour asks of every merge"
insecure_past_time = "refuse"

[registry]
min_snapshot = 1

[head]
demand = [
  "objects", "base", "merge", "helpers", "compositions", "registry-changes", "receipts",
  "approvals", "holds",
]
documentation = ["README.md", "docs/", "receipts/"]
hosts = [{ path = "harbour/queue.py", lineage = "example-fair-queue" }]
compositions = [{ name = "example-lantern", prefix = "parts" }]
registry = "registry/"
receipts = "receipts/"
hold_labels = ["do-not-merge"]

[[head.approvals]]
name = "tests"
predicate = "https://in-toto.io/attestation/test-result/v0.1"
says = ["PASSED"]
signers = ["tester", "tester-again", "mate"]
threshold = 1

[helper]
demand = ["helper", "sites", "scope"]

[composition]
demand = ["final-stage", "unlisted", "modes"]

[receipt]
demand = ["arms", "figures", "statistics"]
unsigned = "accept"
"""
POLICY_PATH: Final = "policies/own.toml"
_STUDY: Final = "receipts/study.json"
_NAME: Final = re.compile(r"@([a-z][a-z0-9-]*)(?:\.(short|typo|upper|tree))?")
_FILE, _PROGRAM, _LINK, _MODULE = 0o100644, 0o100755, 0o120000, 0o160000
_EXPIRES: Final = datetime(2036, 11, 1, tzinfo=UTC)
_DAY: Final = 86_400
_CONFIGURED: Final = {"name": "suite.toml", "digest": {"sha256": "5e" * 32}}
_BEGAN: Final = 1_795_000_000


# ── the registry ───────────────────────────────────────────────────────────────────────────────


def _signer(name: str, key: str, *predicates: str) -> dict[str, Any]:
    return {**statements.signer(key), "name": name, "predicates": list(predicates)}


@cache
def registry(which: str = "first") -> Mapping[str, bytes]:
    """Return the files of the project's registry.

    `first`; `second`, which follows from it and has one entry more; `resealed`, the same under
    keys of its own, `resealed-first` at its first version; `broken`, in which an entry is not what
    was signed.
    """
    own = registries.entries()
    targets = {p: d for p, d in own.items() if p.startswith("pinproof/")}
    rows = [
        _signer("tester", "tester", TEST_RESULT),
        _signer("tester-again", "tester", TEST_RESULT),
        _signer("mate", "mate", TEST_RESULT),
        _signer("gull", "gull", statements.SVR),
        _signer("captain", "captain", RECEIPT),
    ]
    crew = {"schema": "signers/v1", "name": "crew", "project": "harbour", "signer": rows}
    targets["harbour/signers/crew.toml"] = write_toml(crew)
    if which in ("second", "resealed", "resealed-first"):
        cook = {**crew, "name": "galley", "signer": [_signer("cook", "cook", statements.SVR)]}
        targets["harbour/signers/galley.toml"] = write_toml(cook)
    targets |= registries.index_of(targets)
    made = _keys("resealed" if which.startswith("resealed") else "harbour")
    newer = which in ("second", "resealed")
    later = {role: 2 for role in made if role != "root"} if newer else {}
    metadata = dict(publish(targets, keys=made, versions=later, expires=_EXPIRES))
    if which == "broken":
        targets["harbour/signers/crew.toml"] += b"# not what was signed\n"
    return {**metadata, **{f"targets/{path}": data for path, data in targets.items()}}


def _keys(seed: str) -> dict[str, Signers]:
    roles = ("root", "snapshot", "targets", "timestamp", "pinproof", "harbour")
    return {role: Signers(signers=(registries.signer(f"{seed} {role}"),)) for role in roles}


# ── one repository ─────────────────────────────────────────────────────────────────────────────


@dataclass
class Proposal:
    """The objects of one repository, by id, and the names of its commits."""

    recipe: Mapping[str, Any]
    ids: dict[str, str] = field(default_factory=dict)
    trees: dict[str, Files] = field(default_factory=dict)
    objects: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)

    def store(self, kind: str, data: bytes) -> str:
        oid = object_id(kind, data)
        self.objects[oid] = (kind, data)
        return oid

    def commit(self, name: str, parents: Sequence[str], files: Files, message: str = "") -> str:
        """Write a commit; the parents are names."""
        date = _BEGAN + _DAY * len(self.ids)
        root = self._tree(_nested(files))
        who = f"H Arbour <harbour@example.org> {date} +0000"
        lines = [f"tree {root}", *(f"parent {self.ids[each]}" for each in parents)]
        lines += [f"author {who}", f"committer {who}", "", message or name, ""]
        oid = self.store("commit", "\n".join(lines).encode())
        self.ids[name], self.trees[name], self.roots[oid] = oid, files, root
        return oid

    def _tree(self, content: Mapping[str, Any]) -> str:
        items = []
        for name, what in content.items():
            if isinstance(what, dict):
                items.append((b"40000", name.encode(), self._tree(what)))
            elif what[0] == _MODULE:
                items.append((b"160000", name.encode(), what[1].decode()))
            else:
                items.append((b"%o" % what[0], name.encode(), self.store("blob", what[1])))
        items.sort(key=lambda item: item[1] + (b"/" if item[0] == b"40000" else b""))
        return self.store("tree", tree_bytes(items))

    def filled(self, text: str) -> str:
        """Put ids in the place of names."""

        def one(found: re.Match[str]) -> str:
            oid = self.ids.get(found[1])
            if oid is None:
                return found[0]
            return {
                "short": oid[:12],
                "typo": f"{oid[:20]}{'0' if oid[20] != '0' else '1'}{oid[21:]}",
                "upper": oid.upper(),
                "tree": self.roots.get(oid, ""),
            }.get(found[2] or "", oid)

        return _NAME.sub(one, text)


def proposal(recipe: Mapping[str, Any]) -> Proposal:
    """Return the repository of a recipe; the same for the same."""
    return _made(json.dumps(recipe, sort_keys=True, default=str))


@cache
def _made(text: str) -> Proposal:
    made = Proposal(json.loads(text))
    also = made.recipe.get("also", {})
    assert also.keys() <= {*STANDARD}
    files: Files = {}
    for number, name in enumerate(STANDARD):
        files = changed(made, files, _USUAL[name])
        files = changed(made, files, also.get(name, {}))
        made.commit(name, STANDARD[number - 1 : number], files)
    for more in made.recipe.get("commit", ()):
        parents = more["on"]
        start = more.get("of", parents[0] if parents else None)
        begun = made.trees[start] if start else {}
        given = {k: v for k, v in more.items() if k not in ("name", "on", "of", "message")}
        made.commit(more["name"], parents, changed(made, begun, given), more.get("message", ""))
    for what, usual in (("head", "reported"), ("base", "parted"), ("main", "")):
        name = made.recipe.get(what, usual) or made.recipe.get("base", "parted")
        made.ids[what], made.trees[what] = made.ids[name], made.trees[name]
    for name, of in made.recipe.get("tags", {}).items():
        text = f"object {made.ids[of]}\ntype commit\ntag {name}\n"
        text += f"tagger H Arbour <harbour@example.org> {_BEGAN} +0000\n\n{name}\n"
        made.ids[f"tag-{name}"] = made.store("tag", text.encode())
    if "merge" not in made.ids:
        made.commit("merge", ["base", "head"], made.trees["head"], "Merge topic into main")
    return made


#: What each of the usual commits changes.
_USUAL: Final[Mapping[str, Mapping[str, Any]]] = {
    "start": {
        "write": [
            ["README.md", "The harbour.\n"],
            ["docs/guide.md", "How to enter it.\n"],
            ["harbour/engine.py", "SPEED = 1\n"],
            ["harbour/crane.py", "LIFT = 1\n"],
            ["parts/README", "Parts of others.\n"],
            [POLICY_PATH, POLICY],
        ],
        "host": {HOST: "v5"},
        "registry": "first",
        "lantern": "parts",
    },
    "parted": {"write": [["harbour/crane.py", "LIFT = 2\n"]]},
    "work": {"write": [["harbour/engine.py", "SPEED = 2\n"]], "host": {HOST: "v6"}},
    "measured": {"write": [["harbour/engine.py", "SPEED = 3\n"]]},
    "reported": {
        "write": [["docs/report.md", "It is faster.\n"]],
        "receipt": {_STUDY: {}},
    },
}
_CHANGES: Final = frozenset(
    {"write", "host", "policy", "registry", "lantern", "receipt", "mode", "link", "module"}
    | {"move", "remove"}
)


def changed(made: Proposal, before: Files, changes: Mapping[str, Any]) -> Files:
    """Return files after some changes."""
    assert changes.keys() <= _CHANGES, changes.keys() - _CHANGES
    files = dict(before)
    for path, text in changes.get("write", ()):
        _put(files, path, _FILE, made.filled(text).encode())
    for path, named in changes.get("host", {}).items():
        data = hosts.host(named) if isinstance(named, str) else hosts.mutated(named)
        _put(files, path, _FILE, data)
    for old, new in changes.get("policy", ()):
        text = files[POLICY_PATH][1].decode()
        assert text.count(old) == 1, (text.count(old), old)
        _put(files, POLICY_PATH, _FILE, text.replace(old, made.filled(new)).encode())
    if which := changes.get("registry"):
        files = {path: item for path, item in files.items() if not path.startswith("registry/")}
        if which != "none":
            files |= {f"registry/{p}": (_FILE, data) for p, data in registry(which).items()}
    if below := changes.get("lantern"):
        files |= {f"{below}/{p}": item for p, item in compositions.lantern().items()}
    for path, recipe in changes.get("receipt", {}).items():
        _put(files, path, _FILE, receipt(made, recipe))
    _moved(files, changes)
    assert not changes or files != before, "a commit that changes nothing"
    return files


def _moved(files: Files, changes: Mapping[str, Any]) -> None:
    for old, new in changes.get("move", ()):
        files[new] = files.pop(old)
    for path, mode in changes.get("mode", ()):
        _put(files, path, int(mode, 8), files[path][1])
    for path, target in changes.get("link", ()):
        _clear(files, path)
        _put(files, path, _LINK, target.encode())
    for path, oid in changes.get("module", ()):
        _clear(files, path)
        _put(files, path, _MODULE, oid.encode())
    for path in changes.get("remove", ()):
        assert _clear(files, path), path


def _put(files: Files, path: str, mode: int, data: bytes) -> None:
    assert files.get(path) != (mode, data), f"{path} is that already"
    files[path] = (mode, data)


def _clear(files: Files, path: str) -> int:
    gone = [each for each in files if each == path or each.startswith(f"{path}/")]
    for each in gone:
        del files[each]
    return len(gone)


def _nested(files: Files) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for path, item in files.items():
        *folders, name = path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = item
    return root


# ── what is said of it ─────────────────────────────────────────────────────────────────────────


@cache
def _study() -> str:
    text = json.dumps(written_receipts.study(), indent=1) + "\n"
    return text.replace("vllm/v1/core/sched/scheduler.py", "harbour/engine.py")


def receipt(made: Proposal, recipe: Mapping[str, Any]) -> bytes:
    """Print a receipt of a commit (`of`: measured), on a base (`base`, "" for none)."""
    measured, base = recipe.get("of", "measured"), recipe.get("base", "parted")
    text = _study().replace(COMMIT, made.ids.get(measured, measured))
    text = text.replace(BASE, made.ids.get(base, base))
    for old, new in recipe.get("replace", ()):
        assert made.filled(old) in text, old
        text = text.replace(made.filled(old), made.filled(new))
    data = text.encode()
    return statements.envelope(data, by=recipe["sign"]) if "sign" in recipe else data


def approval(made: Proposal, recipe: Mapping[str, Any]) -> bytes:
    """Print an envelope about a commit."""
    of = recipe.get("of", ["head"])
    subjects = [
        {"name": f"commit {each}", "digest": {"gitCommit": made.ids.get(each, each)}} for each in of
    ]
    predicate = recipe.get(
        "predicate",
        {"result": recipe.get("result", "PASSED"), "configuration": [_CONFIGURED]},
    )
    payload = statements.statement(
        {
            "subject": subjects,
            "predicateType": recipe.get("type", TEST_RESULT),
            "predicate": predicate,
        }
    )
    return statements.envelope(payload, by=recipe.get("by", ["tester"]))


# ── on disk ────────────────────────────────────────────────────────────────────────────────────


def make(folder: Path, recipe: Mapping[str, Any]) -> Proposal:
    """Write the repository `repo`, and beside it what a call gives."""
    made = proposal(recipe)
    _repository(folder / "repo", made)
    _beside(folder, made)
    return made


def filled(command: Sequence[str], case: Mapping[str, Any]) -> list[str]:
    """Put ids into the command of a case that has a proposal."""
    tables = list(case.get("proposal", {}).values())
    return [proposal(tables[0]).filled(word) for word in command] if tables else list(command)


def _repository(path: Path, made: Proposal) -> None:
    git_dir, recipe = path / ".git", made.recipe
    (git_dir / "refs").mkdir(parents=True)
    (git_dir / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    (git_dir / "HEAD").write_text(f"{made.ids['merge']}\n")
    objects = {
        oid: (kind, b"%s %d\0" % (kind.encode(), len(data)) + data)
        for oid, (kind, data) in made.objects.items()
    }
    for name in recipe.get("drop", ()):
        del objects[made.ids[name]]
    for name, lacking in recipe.get("lack", ()):
        del objects[object_id("blob", made.trees[name][lacking][1])]
    for lie in recipe.get("forge", ()):
        oid, data = _lie(made, lie)
        assert objects[oid][1] != data
        objects[oid] = ("", data)
    for oid, (_, data) in objects.items():
        place = git_dir / "objects" / oid[:2]
        place.mkdir(parents=True, exist_ok=True)
        (place / oid[2:]).write_bytes(zlib.compress(data, 1))
    _references(git_dir, made)
    for name in ("shallow", "grafts"):
        if name in recipe:
            place = git_dir / ("info/grafts" if name == "grafts" else name)
            place.parent.mkdir(exist_ok=True)
            place.write_text(made.filled(recipe[name]))


def _lie(made: Proposal, lie: Sequence[str]) -> tuple[str, bytes]:
    if len(lie) == 2:
        name, text = lie
        kind, data = made.objects[made.ids[name]]
        head, _, _ = data.partition(b"\n\n")
        data = head + b"\n\n" + text.encode()
        oid = made.ids[name]
    else:
        name, path, text = lie
        kind, data = "blob", text.encode()
        oid = object_id("blob", made.trees[name][path][1])
    return oid, b"%s %d\0" % (kind.encode(), len(data)) + data


def _references(git_dir: Path, made: Proposal) -> None:
    recipe, refs = made.recipe, {}
    if not recipe.get("no_refs"):
        refs = {
            "refs/remotes/origin/main": made.ids["main"],
            "refs/remotes/origin/topic": made.ids["head"],
            "refs/remotes/pull/7/merge": made.ids["merge"],
        }
    refs |= {name: made.filled(value) for name, value in recipe.get("refs", {}).items()}
    refs |= {f"refs/tags/{name}": made.ids[f"tag-{name}"] for name in recipe.get("tags", {})}
    for one, other in recipe.get("replace", ()):
        refs[f"refs/replace/{made.ids[one]}"] = made.ids[other]
    refs = {name: value for name, value in refs.items() if value}
    if "packed" in recipe:
        lines = [*recipe["packed"], *(f"{oid} {name}" for name, oid in sorted(refs.items()))]
        (git_dir / "packed-refs").write_text("\n".join([*lines, ""]))
        return
    for name, value in refs.items():
        place = git_dir / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{value}\n")


def _beside(folder: Path, made: Proposal) -> None:
    recipe = made.recipe
    for name, each in recipe.get("approval", {"tests.json": {}}).items():
        _write(folder / name, approval(made, each))
    for name, each in recipe.get("receipts", {}).items():
        _write(folder / name, receipt(made, each))
    for name, text in recipe.get("files", {}).items():
        _write(folder / name, made.filled(text).encode())
    for name, target in recipe.get("links", {}).items():
        (folder / name).symlink_to(target)
    for name, changes in recipe.get("policy_file", {}).items():
        text = POLICY
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, made.filled(new))
        _write(folder / name, text.encode())
    for name, each in recipe.get("reports", {}).items():
        command = [made.filled(word) for word in each["command"]]
        ran = runs.run([*command, "--format", "json"], cwd=folder, clock=CLOCK)
        assert ran.exit == each.get("exit", 0), ran
        text = ran.stdout.decode()
        for old, new in each.get("replace", ()):
            assert made.filled(old) in text, old
            text = text.replace(made.filled(old), made.filled(new))
        _write(folder / name, text.encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
