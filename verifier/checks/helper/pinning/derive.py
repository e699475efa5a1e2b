"""Step 5: from what was read to the entry of a lineage (`Lineage`), or to why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from verifier.catalog.entries.helper import (
    Base,
    EndAnchor,
    Lineage,
    Producer,
    Published,
    Site,
    Status,
    Version,
)
from verifier.catalog.entries.helper_writing import prefixes
from verifier.checks.helper import admissible
from verifier.checks.helper.pinning import blocks, insertions, literals, names, spans, text
from verifier.checks.helper.pinning.literals import Literal, Source
from verifier.checks.helper.pinning.recipe import FULL, Origin, Place, Recipe, RecipeVersion
from verifier.checks.helper.pinning.spans import Span
from verifier.checks.helper.pinning.text import Text
from verifier.checks.helper.regions import Range, Remainder, occurrences
from verifier.checks.python_scope import Unparsable
from verifier.checks.python_scope import parse as parse_python
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

STRIPPED: Final = "stripped/v1"
_SHOWN: Final = 60


@frozen
class Material:
    """Every byte that a derivation reads: producers' files by origin, hosts by place."""

    files: Mapping[Origin, bytes | Finding]
    hosts: Mapping[Place, bytes]


@frozen
class Carried:
    """One patched host, taken apart: helper, inserted ranges, and the sites they make."""

    base: str
    name: str
    data: bytes
    pristine: bytes
    span: Span
    import_site: Site | None
    sites: tuple[Site, ...]
    pieces: tuple[tuple[str, bytes], ...]
    """Texts that an install writes, by the names that an exported payload gives them."""
    owned: tuple[Range, ...]


@frozen
class Pinned:
    """One derived version with its hosts."""

    version: Version
    hosts: tuple[Carried, ...]
    site_list: tuple[Site, ...]


@frozen
class Derived:
    """What a derivation comes to: the entry, and everything that a proof or an export takes."""

    lineage: Lineage
    pinned: tuple[Pinned, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def derive(
    recipe: Recipe, material: Material, *, known: Mapping[str, tuple[Site, ...]]
) -> Derived | tuple[Finding, ...]:
    """Derive the entry of a recipe; every version that cannot be derived says why.

    `known` are lists of sites that are registered already, under the names that they keep.
    """
    problems: list[Finding] = []
    pinned: list[Pinned] = []
    for asked in recipe.versions:
        if asked.status is Status.UNATTESTED:
            continue
        found = _version(recipe, asked, material)
        if isinstance(found, Pinned):
            pinned.append(found)
        else:
            problems += [_about(finding, asked.id) for finding in found]
    if problems:
        return tuple(problems)
    generations = _generations(recipe, pinned, known)
    if isinstance(generations, Finding):
        return (generations,)
    sites, named = generations
    imports = {c.import_site for p in pinned for c in p.hosts if c.import_site}
    if len(imports) > 1:
        return (_imports_differ(pinned),)
    versions = {p.version.id: p for p in named}
    lineage = Lineage(
        name=recipe.name,
        project=recipe.project,
        host=recipe.host,
        marker_prefix=recipe.marker_prefix,
        current=recipe.current,
        owned_names=_owned(recipe, named),
        end_anchors=_anchors(recipe, named),
        import_site=next(iter(imports), None),
        bases=tuple(Base(name=n, pin=Pin.of(material.hosts[p])) for n, p in recipe.bases),
        versions=tuple(
            versions[v.id].version if v.id in versions else _unattested(v) for v in recipe.versions
        ),
        sites=sites,
    )
    lines = {p.version.id: prefixes(p.hosts[0].span.data) for p in named}
    return Derived(lineage=lineage, pinned=tuple(named), lines=lines)


def _about(finding: Finding, version: str) -> Finding:
    return replace(finding, cause=f"{version}{': ' + finding.cause if finding.cause else ''}")


def _unattested(version: RecipeVersion) -> Version:
    return Version(
        id=version.id,
        aliases=(),
        status=version.status,
        marker=version.marker,
        reason=version.reason,
        body=None,
    )


# ── one version ────────────────────────────────────────────────────────────────────────────────


def _version(
    recipe: Recipe, asked: RecipeVersion, material: Material
) -> Pinned | tuple[Finding, ...]:
    hosts = [(base, place, material.hosts[place]) for base, place in asked.hosts]
    bad = [f for _, place, data in hosts for f in _inadmissible(data, str(place))]
    if bad:
        return tuple(bad)
    texts = _texts(asked, material, [data for _, _, data in hosts])
    if isinstance(texts, Finding):
        return (texts,)
    pristine = {name: material.hosts[place] for name, place in recipe.bases}
    carried: list[Carried] = []
    problems: list[Finding] = []
    source = _source(asked, material)
    for base, place, data in hosts:
        one = _Host(base=base, name=str(place), data=data, pristine=pristine[base])
        found = _carried(recipe, asked, one, texts[0], source)
        if isinstance(found, Carried):
            carried.append(found)
        else:
            problems.append(replace(found, where=replace(found.where, path=str(place))))
    if problems:
        return tuple(problems)
    for finding in (_same_span(carried), *_others(asked, texts, carried[0].span)):
        if finding is not None:
            return (finding,)
    body = _published(recipe, asked, texts, carried)
    if isinstance(body, Finding):
        return (body,)
    return Pinned(
        version=Version(
            id=asked.id,
            aliases=asked.aliases,
            status=asked.status,
            marker=asked.marker,
            reason=asked.reason,
            body=body,
        ),
        hosts=tuple(carried),
        site_list=carried[0].sites,
    )


def _inadmissible(data: bytes, name: str) -> tuple[Finding, ...]:
    found = admissible.inadmissible(data, marked=True)
    return tuple(replace(f, where=replace(f.where, path=name)) for f in found)


def _texts(
    asked: RecipeVersion, material: Material, hosts: Sequence[bytes]
) -> tuple[Text, ...] | Finding:
    found: list[Text] = []
    for origin in asked.origins:
        if not FULL.fullmatch(origin.commit):
            return _abbreviated(origin)
        data = material.files[origin]
        one = data if isinstance(data, Finding) else text.find(data, origin, hosts)
        if isinstance(one, Finding):
            return one
        found.append(one)
    return tuple(found)


def _abbreviated(origin: Origin) -> Finding:
    return Finding(
        code="pin-commit-abbreviated",
        where=Where(path=origin.path),
        expected="the full id of a commit, 40 or 64 lower-case hex digits",
        got=quoted(origin.commit[:_SHOWN]),
        cause="a branch or tag says something else tomorrow, an abbreviation as history grows",
        remedy="pinproof list history CLONE prints full ids; git rev-parse NAME prints one",
    )


def _source(asked: RecipeVersion, material: Material) -> Source | None:
    data = material.files[asked.origins[0]]
    source = None if isinstance(data, Finding) else literals.read(data)
    return source if isinstance(source, Source) else None


@frozen
class _Host:
    base: str
    name: str
    data: bytes
    pristine: bytes


def _carried(
    recipe: Recipe, asked: RecipeVersion, host: _Host, one: Text, source: Source | None
) -> Carried | Finding:
    """Take one patched host apart (steps 2 and 3)."""
    span = spans.find(host.data, host.pristine, host.name, asked, one)
    if isinstance(span, Finding):
        return span
    rest = Remainder(host.data, (span.place,))
    inserted = insertions.inserted(host.pristine, rest.data)
    if isinstance(inserted, insertions.Otherwise):
        return _not_insertions(host, rest, inserted)
    found = blocks.find(
        blocks.Host(rest.data, host.pristine, inserted, span.place[0]),
        () if source is None else _apart(source.literals, one),
        asked.marker,
        recipe.marker_prefix,
    )
    if isinstance(found, Finding):
        at = found.where.byte_offset or 0
        where = Where.at(host.data, rest.host_offset(at), found.where.byte_length or 0)
        return replace(found, where=where)
    return _sited(asked, host, _Apart(span=span, rest=rest, inserted=inserted, blocks=found))


@frozen
class _Apart:
    """A host taken apart: the helper, what is left without it, what was inserted into that."""

    span: Span
    rest: Remainder
    inserted: tuple[Range, ...]
    blocks: tuple[blocks.Block, ...]

    def place(self, one: Range) -> Range:
        """Return where a range of the rest lies in the host."""
        start = self.rest.host_offset(one[0])
        return start, start + one[1] - one[0]


def _apart(found: Sequence[Literal], one: Text) -> tuple[Literal, ...]:
    return tuple(literal for literal in found if literal.text.strip(b"\n") != one.text.strip(b"\n"))


def _sited(asked: RecipeVersion, host: _Host, apart: _Apart) -> Carried | Finding:
    """Describe the blocks of a host as sites, and keep their texts for a payload."""
    module = parse_python(host.data)
    if isinstance(module, Unparsable):
        return Finding(
            code="pin-host-unparsable",
            expected="Python that this interpreter can parse",
            got=module.reason,
            remedy="run pinproof with the Python that the host runs under",
        )
    import_site, made, pieces = None, [], []
    for block in apart.blocks:
        inside = [r for r in apart.inserted if block.place[0] <= r[0] and r[1] <= block.place[1]]
        start, end = apart.place(block.place)
        site = blocks.site(
            block.name, module, (start, end), list(map(apart.place, inside)), marker=asked.marker
        )
        imports = all(blocks.is_import(apart.rest.data, r) for r in inside)
        if imports and site.within is None:
            import_site = replace(site, name="import", within=None, marker_offsets=())
        else:
            made.append(site)
        pieces.append(("import" if site not in made else "", host.data[start:end]))
    sites = _named(asked, made)
    names_of = iter(site.name for site in sites)
    return Carried(
        base=host.base,
        name=host.name,
        data=host.data,
        pristine=host.pristine,
        span=apart.span,
        import_site=import_site,
        sites=sites,
        pieces=(
            ("helper", apart.span.data),
            *((name or f"site-{next(names_of)}", data) for name, data in pieces),
        ),
        owned=tuple(sorted([apart.span.place, *map(apart.place, apart.inserted)])),
    )


def _named(asked: RecipeVersion, sites: Sequence[Site]) -> tuple[Site, ...]:
    """Name each site: as the recipe says, as the installer labels it, else after its function."""
    taken: set[str] = set()
    found = []
    for number, site in enumerate(sites):
        given = asked.site_names[number] if number < len(asked.site_names) else site.name
        stem = given or (site.within or "module").rpartition(".")[2]
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name)
        found.append(replace(site, name=name))
    return tuple(found)


def _not_insertions(host: _Host, rest: Remainder, how: insertions.Otherwise) -> Finding:
    start = rest.host_offset(how.patched[0])
    length = how.patched[1] - how.patched[0]
    was = host.pristine[how.pristine[0] : how.pristine[1]]
    now = rest.data[how.patched[0] : how.patched[1]]
    line = host.pristine.count(b"\n", 0, how.pristine[0]) + 1
    return Finding(
        code="pin-host-not-insertions",
        where=Where.at(host.data, start, length),
        expected=f"bytes {how.pristine[0]:,} to {how.pristine[1]:,} of the pristine host, line "
        f"{line}: {_quote(was)}",
        got=f"bytes {start:,} to {start + length:,}: {_quote(now)}" if now else "nothing there",
        cause="the host is of another upstream commit, or the installer changes lines",
        remedy="give the very host that was patched; an installer that replaces lines cannot be "
        "undone from its entry and cannot be pinned",
    )


def _quote(data: bytes) -> str:
    line = data.split(b"\n", 1)[0]
    more = " …" if len(data) > len(line) + 1 else ""
    return quoted(line[:_SHOWN].decode("utf-8", "replace")) + more


def _same_span(carried: Sequence[Carried]) -> Finding | None:
    """Compare the hosts of one version: they carry the same helper at the same sites."""
    one = carried[0]
    for other in carried[1:]:
        if other.span.data != one.span.data or other.sites != one.sites:
            what = "sites" if other.span.data == one.span.data else "helper"
            return Finding(
                code="pin-hosts-differ",
                where=Where(path=other.name),
                expected=f"the same {what} as in {one.name}",
                got="others",
                cause="hosts that were patched by different installers, or contexts that differ",
                remedy="make every host of a version with one installer; a host with other "
                "contexts needs a lineage of its own",
            )
    return None


def _others(
    asked: RecipeVersion, texts: Sequence[Text], span: Span
) -> "tuple[Finding | None, ...]":
    """Compare what further origins published with the first one."""
    core = span.data.strip(b"\n")
    return tuple(
        Finding(
            code="pin-origins-differ",
            where=Where(path=origin.path, line=one.line),
            expected=f"the text that {asked.origins[0].path} published: {Pin.of(core)}",
            got=str(Pin.of(one.text.strip(b"\n"))),
            remedy="a text that differs is another version; give it a name of its own",
        )
        for origin, one in zip(asked.origins, texts, strict=True)
        if one.text.strip(b"\n") != core
    )


def _published(
    recipe: Recipe, asked: RecipeVersion, texts: Sequence[Text], carried: Sequence[Carried]
) -> Published | Finding:
    one = carried[0]
    span = one.span
    inserted = [r for r in one.owned if r != span.place and not blocks.is_import(one.data, r)]
    found = names.reads(one.data, span.data, inserted)
    if found.unbound:
        return Finding(
            code="pin-name-unbound",
            where=Where(path=one.name),
            expected="every name that helper and sites read bound in the host, or a builtin",
            got=", ".join(found.unbound),
            cause="the installer adds an import that this host lacks, or a name is misspelled",
            remedy="correct the helper, or give the host that really runs it",
        )
    bound = names.binds(span.data)
    return Published(
        begin=span.begin,
        begin_offset=span.begin_offset,
        end=span.end,
        pin=Pin.of(span.data),
        marker_offsets=tuple(occurrences(span.data, asked.marker)),
        binds=tuple(n for n in bound if not recipe.owned_names or n in recipe.owned_names),
        required_imports=names.plain_imports(one.data, found.module),
        reads_module=found.module,
        reads_builtins=found.builtins,
        sites=asked.sites,
        other_spans=((STRIPPED, Pin.of(span.data.strip())),),
        whole_files=tuple((each.base, Pin.of(each.data)) for each in carried),
        producers=tuple(
            Producer(
                repository=origin.repository,
                path=origin.path,
                symbol=found_text.symbol,
                method=found_text.method,
                commit=origin.commit,
                slice=found_text.slice,
            )
            for origin, found_text in zip(asked.origins, texts, strict=True)
        ),
    )


# ── all versions ───────────────────────────────────────────────────────────────────────────────


def _generations(
    recipe: Recipe, pinned: Sequence[Pinned], known: Mapping[str, tuple[Site, ...]]
) -> tuple[dict[str, tuple[Site, ...]], list[Pinned]] | Finding:
    """Name the lists of sites: versions with the same list share it, under the first one's id."""
    found: dict[str, tuple[Site, ...]] = {}
    named = []
    asked = {v.id: v.sites for v in recipe.versions}
    by_marker: dict[bytes, Pinned] = {}
    for each in pinned:
        other = by_marker.setdefault(each.version.marker, each)
        if other.site_list != each.site_list:
            return _sites_differ(each, other)
        same = (name for name, sites in (*found.items(), *known.items()) if sites == each.site_list)
        name = asked[each.version.id] or next(same, each.version.id)
        if found.setdefault(name, each.site_list) != each.site_list:
            return _sites_differ(each, other)
        body = each.version.body
        if body is not None:
            version = replace(each.version, body=replace(body, sites=name))
            named.append(replace(each, version=version))
    return found, named


def _sites_differ(one: Pinned, other: Pinned) -> Finding:
    names_of = [{s.name for s in each.site_list} for each in (one, other)]
    differ = sorted(names_of[0] ^ names_of[1]) or sorted(
        a.name for a, b in zip(one.site_list, other.site_list, strict=False) if a != b
    )
    return Finding(
        code="pin-sites-differ",
        where=Where(path=one.hosts[0].name),
        expected=f"the sites of {other.version.id}: one marker, one list of sites",
        got=f"others in {one.version.id}: {', '.join(differ)}",
        cause="the marker was not advanced when the sites changed",
        remedy="such a version cannot be told from the other by its marker; publish it under a "
        "marker of its own",
    )


def _imports_differ(pinned: Sequence[Pinned]) -> Finding:
    said = [
        f"{p.version.id} in {c.name}: {c.import_site.inserted[0].pin}"
        for p in pinned
        for c in p.hosts
        if c.import_site
    ]
    return Finding(
        code="pin-imports-differ",
        expected="one place at which every version adds its imports, if any",
        got="; ".join(dict.fromkeys(said)),
        remedy="an entry has one import site; use hosts that have all other imports already",
    )


def _owned(recipe: Recipe, pinned: Sequence[Pinned]) -> tuple[str, ...]:
    """Return the names that only the helper may bind: those of the current version come first."""
    if recipe.owned_names:
        return recipe.owned_names
    order = sorted(pinned, key=lambda each: each.version.id != recipe.current)
    found = (n for p in order if p.version.body for n in p.version.body.binds)
    return tuple(dict.fromkeys(found))


def _anchors(recipe: Recipe, pinned: Sequence[Pinned]) -> tuple[EndAnchor, ...]:
    """Return the anchors of the recipe, or one for each text that stands behind a helper."""
    if recipe.end_anchors:
        return recipe.end_anchors
    found: dict[bytes, EndAnchor] = {}
    for carried in (c for p in pinned for c in p.hosts):
        anchor = spans.anchor_of(carried.data, carried.pristine, carried.span)
        if anchor is not None:
            found.setdefault(anchor.text, anchor)
    taken: set[str] = set()
    named = []
    for anchor in found.values():
        name, count = anchor.name, 1
        while name in taken:
            count += 1
            name = f"{anchor.name}-{count}"
        taken.add(name)
        named.append(replace(anchor, name=name))
    return tuple(named)
