"""TheGrill's releases: archive, checksum, build receipt and smoke summary of one target.

The steps are those of receipts.md §1.1; the tenth, running the program, is left out.

1. *Files*: exactly the four names, each a regular file.
2. *Checksum*: one line, 64 lower-case digits, two blanks, the archive's name, a line feed.
3. *Receipt*: strict JSON, the closed set of keys, printed as its producer prints it.
4. *Commit*: version, target and full source commit are those of the entry.
5. *Binding*: the receipt's archive and checksum are these files.
6. *Smoke*: passed, for the same version, commit, target, archive and binary.
7. *Build*: nothing kept it from being published; not incremental, a fresh folder, no overrides.
8. *Members*: one root, regular files alone, owner 0, declared time and modes, each once, and each
   with the digest that the receipt lists; nothing more and nothing less.
9. *Machine*: the program is an ELF file for the target.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from verifier.catalog.entries.release import ReleaseEntry
from verifier.checks.release.problem import problem
from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.core.strict import read_json
from verifier.core.value import frozen
from verifier.sources.release_folder import Member, Unpacked

SCHEMA: Final = "grill-perf-build-receipt-v1"
KEYS: Final = frozenset(
    {
        *("schema", "release_version", "target", "source_commit", "source_tree"),
        *("cargo_lock_sha256", "toolchain", "build", "runtime", "archive", "checksum", "binary"),
        *("payload", "files_sha256", "publication_blockers", "redistribution_notices"),
        "packaging",
    }
)
_MACHINES: Final = {"x86_64-unknown-linux-gnu": 62, "aarch64-unknown-linux-gnu": 183}
_PROGRAM: Final = "bin/grill-perf"
_RUNS: Final = re.compile(
    r"bin/grill-perf|tools/(?:startup-runtime|kv-journal)\.py|tools/microbench/[^/]+\.py"
)


@frozen
class Target:
    """The four files of one target, as they were read; `entry` is the release asked for."""

    entry: ReleaseEntry
    triple: str
    unpacked: Unpacked
    checksum: bytes
    receipt: bytes
    smoke: bytes

    @property
    def stem(self) -> str:
        """What all four names begin with."""
        return stem(self.entry, self.triple)


def stem(entry: ReleaseEntry, triple: str) -> str:
    """Return what the names of a target's files begin with."""
    return f"{entry.tool}-{entry.version}-{triple}"


def names(entry: ReleaseEntry, triple: str) -> tuple[str, str, str, str]:
    """Return the four names: archive, checksum, receipt, smoke summary."""
    base = stem(entry, triple)
    archive = f"{base}.tar.gz"
    return archive, f"{archive}.sha256", f"{base}.receipt.json", f"{base}.smoke.json"


def check(target: Target) -> Iterator[Finding]:
    """Check the files of a target, all steps after the first."""
    archive, checksum, receipt_name, smoke_name = names(target.entry, target.triple)
    yield from _checksum(target, archive, checksum)
    receipt = _document(target.receipt, receipt_name, "release-receipt-malformed")
    if isinstance(receipt, Finding):
        yield receipt
        return
    if wrong := _shape(receipt, target.receipt, receipt_name):
        yield wrong
        return
    yield from _identity(target, receipt, receipt_name)
    yield from _binding(target, receipt, receipt_name, archive, checksum)
    yield from _smoke(target, receipt, smoke_name)
    yield from _build(receipt, receipt_name)
    yield from target.unpacked.findings
    yield from _members(target, receipt, archive)


def _checksum(target: Target, archive: str, path: str) -> Iterator[Finding]:
    line = f"{target.unpacked.pin.sha256}  {archive}\n".encode()
    if target.checksum != line:
        other = target.checksum[:64] != line[:64]
        yield problem(
            "release-checksum" if other else "release-checksum-form",
            path,
            expected=line.decode().rstrip("\n"),
            got=_shown(target.checksum),
            cause=None if other else "sha256sum --check --strict would refuse or miss it",
        )


def _shown(data: bytes) -> str:
    return data[:160].decode(errors="backslashreplace").rstrip("\n") or "nothing"


def _document(data: bytes, path: str, code: str) -> dict[str, Any] | Finding:
    try:
        value = read_json(data)
    except ValueError as error:
        return problem(code, path, expected="strict JSON", got=str(error))
    return value if isinstance(value, dict) else problem(code, path, got="no object")


def _shape(receipt: dict[str, Any], data: bytes, path: str) -> Finding | None:
    """Compare the keys and the very spelling; a receipt that was edited seldom keeps both."""
    code = "release-receipt-malformed"
    if receipt.keys() != KEYS:
        lacks, more = sorted(KEYS - receipt.keys()), sorted(receipt.keys() - KEYS)
        got = "; ".join(
            f"{word} {', '.join(keys)}"
            for word, keys in (("without", lacks), ("with", more))
            if keys
        )
        return problem(code, path, expected=f"the {len(KEYS)} keys of {SCHEMA}", got=got)
    for key in ("toolchain", "build", "runtime", "archive", "checksum", "binary", "packaging"):
        if not isinstance(receipt[key], dict):
            return problem(code, path, expected=f"{key}: an object", got="something else")
    for key in ("payload", "files_sha256"):
        if not isinstance(receipt[key], dict):
            return problem(code, path, expected=f"{key}: an object", got="something else")
    printed = (json.dumps(receipt, indent=2, sort_keys=True) + "\n").encode()
    if printed != data:
        return problem(
            "release-receipt-printed",
            path,
            expected="JSON as its producer prints it: sorted keys, two blanks",
            got="the same values in another spelling",
            cause="the file was printed anew by somebody else",
        )
    return None


def _identity(target: Target, receipt: Mapping[str, Any], path: str) -> Iterator[Finding]:
    entry = target.entry
    for key, expected in (
        ("schema", SCHEMA),
        ("release_version", entry.version),
        ("target", target.triple),
    ):
        if receipt[key] != expected:
            yield problem(
                "release-version", path, expected=f"{key} {expected}", got=_text(receipt[key])
            )
    if receipt["source_commit"] != entry.source_commit:
        yield problem(
            "release-commit",
            path,
            expected=f"source commit {entry.source_commit}",
            got=_text(receipt["source_commit"]),
        )


def _text(value: Any) -> str:
    return value[:120] if isinstance(value, str) and value else "something else"


def _binding(
    target: Target, receipt: Mapping[str, Any], path: str, archive: str, checksum: str
) -> Iterator[Finding]:
    pin, line = target.unpacked.pin, Pin.of(target.checksum)
    for key, expected in (
        ("archive", {"file": archive, "sha256": pin.sha256, "bytes": pin.length}),
        ("checksum", {"file": checksum, "sha256": line.sha256}),
    ):
        if receipt[key] != expected:
            yield problem(
                "release-receipt-binding",
                path,
                expected=f"{key}: {expected['file']} {expected['sha256']}",
                got=_text(receipt[key].get("sha256")),
                cause="the receipt is of another build, or one of the files was replaced",
            )


def _smoke(target: Target, receipt: Mapping[str, Any], path: str) -> Iterator[Finding]:
    smoke = _document(target.smoke, path, "release-smoke")
    if isinstance(smoke, Finding):
        yield smoke
        return
    expected = {
        "schema_version": 1,
        "status": "passed",
        "release_version": target.entry.version,
        "source_commit": receipt["source_commit"],
        "target": target.triple,
        "archive_sha256": target.unpacked.pin.sha256,
        "binary_sha256": receipt["binary"].get("sha256"),
    }
    for key, value in expected.items():
        got = smoke.get(key)
        if got != value or type(got) is not type(value):
            yield problem(
                "release-smoke",
                path,
                expected=f"{key}: {value}",
                got=_text(got),
                cause="the summary is of another build, or the installed program failed",
            )


def _build(receipt: Mapping[str, Any], path: str) -> Iterator[Finding]:
    build = receipt["build"]
    facts: tuple[tuple[str, Any, Any], ...] = (
        ("publication_blockers", receipt["publication_blockers"], []),
        ("build.incremental", build.get("incremental"), False),
        ("build.fresh_target_directory", build.get("fresh_target_directory"), True),
        ("build.build_overrides", build.get("build_overrides"), False),
    )
    for key, got, expected in facts:
        if got != expected or type(got) is not type(expected):
            yield problem(
                "release-build",
                path,
                expected=f"{key}: {json.dumps(expected)}",
                got=json.dumps(got)[:120],
                cause="its own receipt says that it is not fit to be published",
            )


def _members(target: Target, receipt: Mapping[str, Any], path: str) -> Iterator[Finding]:
    binary = receipt["binary"]
    wanted = {**receipt["payload"], _PROGRAM: binary}
    found: dict[str, Member] = {}
    for member in target.unpacked.members:
        if member.folder:
            continue
        inside = member.path.removeprefix(f"{target.stem}/")
        if wrong := _odd(member, inside, target, receipt):
            yield problem(
                "release-member", f"{path}:{member.path}", expected=wrong[0], got=wrong[1]
            )
        elif inside in found:
            yield problem("release-member", f"{path}:{member.path}", expected="once", got="twice")
        found[inside] = member
    for name in sorted(wanted.keys() ^ found.keys()):
        got = "not in the receipt" if name in found else "not in the archive"
        yield problem("release-members", f"{path}:{name}", expected="in both", got=got)
    for name in sorted(wanted.keys() & found.keys()):
        yield from _content(found[name], name, wanted[name], receipt["files_sha256"], path)
    program = found.get(_PROGRAM)
    if program is not None:
        yield from _machine(program, target.triple, path)


def _odd(
    member: Member, inside: str, target: Target, receipt: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Return what was expected of a member's header and what it says, None if all is well."""
    if not member.regular:
        return "regular files alone", "a link or a special file"
    if inside == member.path or ".." in inside.split("/"):
        return f"one root, {target.stem}/", "another place"
    if any(member.owner):
        return "owner and group 0", f"{member.owner[0]} and {member.owner[1]}"
    time = receipt["packaging"].get("mtime")
    if member.time != time:
        return f"time {time}", str(member.time)
    mode = 0o755 if _RUNS.fullmatch(inside) else 0o644
    if member.mode != mode:
        return f"mode {mode:o}", f"{member.mode:o}"
    return None


def _content(
    member: Member, name: str, listed: Any, digests: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    stated = listed if isinstance(listed, dict) else {}
    if (stated.get("sha256"), stated.get("bytes")) != (member.sha256, member.length):
        yield problem(
            "release-member",
            f"{path}:{name}",
            expected=f"{_text(stated.get('sha256'))} · {stated.get('bytes')} bytes",
            got=f"{member.sha256} · {member.length} bytes",
            cause="the archive is not the one that the receipt describes",
        )
    elif digests.get(name) != member.sha256:
        yield problem(
            "release-member",
            f"{path}:{name}",
            expected=f"files_sha256: {member.sha256}",
            got=_text(digests.get(name)),
        )


def _machine(program: Member, triple: str, path: str) -> Iterator[Finding]:
    machine = _MACHINES.get(triple)
    start = program.start
    elf = start.startswith(b"\x7fELF") and len(start) == 20  # noqa: PLR2004  (up to e_machine)
    got = int.from_bytes(start[18:20], "little") if elf else None
    if machine is None or got != machine:
        yield problem(
            "release-machine",
            f"{path}:{_PROGRAM}",
            expected=f"an ELF program for machine {machine} ({triple})",
            got="no ELF program" if got is None else f"machine {got}",
        )
