"""Step 5: from what was read to the entry of a lineage (`Lineage`), or to why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from verifier.catalog.entries.helper import Base, EndAnchor, Lineage, Site, Status, Version
from verifier.catalog.entries.helper_writing import prefixes
from verifier.checks.helper.pinning import spans, version
from verifier.checks.helper.pinning.recipe import Recipe, RecipeVersion
from verifier.checks.helper.pinning.values import Derived, Material, Pinned
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where


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
        found = version.pinned(recipe, asked, material)
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
