"""Printing helper/v1: a `Lineage` as the TOML that people review and sign (FORMATS §2).

One pin stands on one line, so that a diff of an entry shows which pin changed; values are spelled
by the writer of `core.strict`. `read(written(lineage)) == lineage`, which the tests hold for every
entry of the registry.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from verifier.catalog.entries.helper import (
    Inserted,
    Lineage,
    Producer,
    Published,
    Site,
    Slice,
    Status,
    Version,
)
from verifier.catalog.entries.helper_format import SCHEMA
from verifier.core.digest import Pin
from verifier.core.strict import toml_value

#: Digests of line prefixes in one line of a lines/v1 file.
_A_LINE: Final = 4
_CUT: Final = 8


def tables(lineage: Lineage) -> dict[str, Any]:
    """Return an entry as plain tables, in the order in which they are printed."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "name": lineage.name,
        "project": lineage.project,
        "language": "python",
        "host": lineage.host,
        "marker_prefix": lineage.marker_prefix.decode(),
        "current": lineage.current,
        "owned_names": list(lineage.owned_names),
        "end_anchor": [{"name": a.name, "text": a.text.decode()} for a in lineage.end_anchors],
    }
    if lineage.import_site is not None:
        found["import_site"] = _blocks(lineage.import_site)
    found["base"] = [{"name": base.name, **_pin(base.pin)} for base in lineage.bases]
    found["version"] = [_version(version) for version in lineage.versions]
    found["sites"] = {name: [_site(s) for s in sites] for name, sites in lineage.sites.items()}
    return found


def written(lineage: Lineage, *, comment: bytes = b"") -> bytes:
    """Print an entry; `comment` is what stands above it, whole lines that begin with `#`."""
    lines = list(_lines(tables(lineage)))
    return comment + (b"\n" if comment else b"") + "\n".join([*lines, ""]).encode()


def comment_of(entry: bytes) -> bytes:
    """Return the comment that an entry begins with, to be kept when it is printed again."""
    kept = []
    for line in entry.splitlines(keepends=True):
        if not line.startswith(b"#"):
            break
        kept.append(line)
    return b"".join(kept)


def prefixes(span: bytes) -> tuple[str, ...]:
    """Return the digests of the first line of a span, its first two lines, and so on."""
    running, found = hashlib.sha256(), []
    for line in span.splitlines(keepends=True):
        running.update(line)
        found.append(running.digest()[:_CUT].hex())
    return tuple(found)


def written_lines(lineage: str, found: Mapping[str, Sequence[str]]) -> bytes:
    """Print `lines/<lineage>.json`: four digests in a line."""
    versions = []
    for version, digests in found.items():
        quoted = [json.dumps(digest) for digest in digests]
        rows = [", ".join(quoted[at : at + _A_LINE]) for at in range(0, len(quoted), _A_LINE)]
        listed = ",\n".join(f"    {row}" for row in rows)
        versions.append(f"  {json.dumps(version)}: [\n{listed}\n  ]")
    head = f'{{\n "schema": "lines/v1",\n "lineage": {json.dumps(lineage)},\n "prefixes": {{\n'
    return (head + ",\n".join(versions) + "\n }\n}\n").encode()


# ── values to tables ───────────────────────────────────────────────────────────────────────────


def _pin(pin: Pin) -> dict[str, Any]:
    length = {} if pin.length is None else {"length": pin.length}
    return {"sha256": pin.sha256, **length}


def _blocks(site: Site) -> dict[str, Any]:
    return {
        "new": _pin(site.new),
        "old": _pin(site.old),
        "inserted": [_inserted(part) for part in site.inserted],
    }


def _inserted(part: Inserted) -> dict[str, Any]:
    return {"offset": part.offset, "length": part.pin.length, "sha256": part.pin.sha256}


def _site(site: Site) -> dict[str, Any]:
    return {
        "name": site.name,
        **({} if site.within is None else {"within": site.within}),
        **_blocks(site),
        "marker_offsets": list(site.marker_offsets),
        "decorated": site.decorated,
    }


def _version(version: Version) -> dict[str, Any]:
    unattested = version.status is Status.UNATTESTED
    return {
        "id": version.id,
        **({"aliases": list(version.aliases)} if version.aliases else {}),
        "status": str(version.status),
        "marker": version.marker.decode(),
        **({"reason": version.reason} if version.reason or unattested else {}),
        **(_published(version.body) if version.body is not None else {}),
    }


def _published(body: Published) -> dict[str, Any]:
    begin = body.begin.decode()
    sentinels = body.end is not None
    found: dict[str, Any] = {}
    if body.end is not None:
        found["sentinels"] = {"begin": begin, "end": body.end.decode()}
    else:
        found["first_line"] = begin
    found |= {"span": "raw/v1", **_pin(body.pin)}
    if not sentinels:
        found["first_line_offset"] = body.begin_offset
    found |= {
        "marker_offsets": list(body.marker_offsets),
        "binds": list(body.binds),
        "required_imports": list(body.required_imports),
        "sites": body.sites,
        "reads": {"module": list(body.reads_module), "builtins": list(body.reads_builtins)},
    }
    others = [{"span": name, **_pin(pin)} for name, pin in body.other_spans]
    whole = [{"base": name, **_pin(pin)} for name, pin in body.whole_files]
    found |= {"other_spans": others} if others else {}
    found |= {"whole_file": whole} if whole else {}
    producers = [_producer(producer) for producer in body.producers]
    return {**found, **({"producer": producers} if producers else {})}


def _producer(producer: Producer) -> dict[str, Any]:
    commit = {"commit": producer.commit} if producer.commit is not None else {}
    cut = {"commit_prefix": producer.commit_prefix} if producer.commit_prefix is not None else {}
    return {
        "repository": producer.repository,
        **commit,
        **cut,
        "path": producer.path,
        "symbol": producer.symbol,
        "method": producer.method,
        **({} if producer.slice is None else {"slice": _slice(producer.slice)}),
    }


def _slice(cut: Slice) -> dict[str, Any]:
    pairs = [{"old": old.decode(), "new": new.decode()} for old, new in cut.substitute]
    return {"start": cut.start, "end": cut.end, **({"substitute": pairs} if pairs else {})}


# ── tables to lines ────────────────────────────────────────────────────────────────────────────

#: Keys whose tables are sections of their own; all others stand on the line of their key.
_SECTIONS: Final = ("end_anchor", "base", "version", "producer")


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    for key, value in entry.items():
        if key == "import_site":
            yield from ("", "[import_site]", *_rows(value))
        elif key == "sites":
            for generation, sites in value.items():
                for site in sites:
                    yield from ("", f"[[sites.{_key(generation)}]]", *_rows(site))
        elif key in _SECTIONS:
            for table in value:
                yield from _section(key, table)
        else:
            yield f"{key} = {toml_value(value)}"


def _section(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    own = {key: value for key, value in table.items() if key not in _SECTIONS}
    yield from ("", f"[[{name}]]", *_rows(own))
    for key, value in table.items():
        if key in _SECTIONS:
            for below in value:
                yield from _section(f"{name}.{key}", below)


def _rows(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        yield f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    """Print a value on its line; of several tables each has a line of its own."""
    several = isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict)
    if not several:
        return toml_value(value)
    return "\n".join(["[", *(f"    {toml_value(each)}," for each in value), "]"])


def _key(name: str) -> str:
    """Print a key, quoted where TOML needs it: versions such as `v5.1` hold a dot."""
    plain = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    return name if plain else toml_value(name)
