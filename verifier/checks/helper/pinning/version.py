"""One version, derived: its text, its hosts taken apart, its sites and names (steps 1 to 4)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from verifier.catalog.entries.helper import Producer, Published, Site, Version
from verifier.checks.helper import admissible
from verifier.checks.helper.pinning import blocks, insertions, literals, names, spans, text
from verifier.checks.helper.pinning.literals import Literal, Source
from verifier.checks.helper.pinning.recipe import FULL, Origin, Recipe, RecipeVersion
from verifier.checks.helper.pinning.spans import Span
from verifier.checks.helper.pinning.text import Text
from verifier.checks.helper.pinning.values import Carried, Material, Pinned
from verifier.checks.helper.regions import Range, Remainder, occurrences
from verifier.checks.python_scope import Unparsable
from verifier.checks.python_scope import parse as parse_python
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

STRIPPED: Final = "stripped/v1"
_SHOWN: Final = 60


def pinned(
    recipe: Recipe, asked: RecipeVersion, material: Material
) -> Pinned | tuple[Finding, ...]:
    """Derive one version of a recipe that has a body, or say why it cannot be."""
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
