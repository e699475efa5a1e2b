"""Step 7: whether the regions are code, are reached, and are not undone elsewhere in the file.

Bytes alone cannot say so: the same text in a string, under a decorator, after a `return`, or
rebound below has no effect (helpers.md §1.7 and §3.1 list what fooled the published checks).
The facts come from one parse (`checks.python_scope`); this module holds the rules, in the
letters of CHECKS.md.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from verifier.catalog.entries.helper import Lineage
from verifier.checks.helper.admissible import invisible
from verifier.checks.helper.regions import Installed, PlacedSite
from verifier.checks.helper.words import LOOK, RESTORE
from verifier.checks.python_binding import (
    AttributeStore,
    Binding,
    attribute_stores,
    bindings,
    names_of,
    rebindings,
)
from verifier.checks.python_scope import (
    Enclosing,
    Insertion,
    Misplaced,
    Module,
    Unparsable,
    parse,
    qualified,
)
from verifier.core.finding import Finding, Where
from verifier.core.limits import PLACES_LISTED
from verifier.core.value import frozen

_BUILTINS = ("builtins", "__builtins__")
_FUNCTIONS = ("function", "lambda")


@frozen
class _Facts:
    """What every rule looks at, found out once."""

    module: Module
    lineage: Lineage
    installed: Installed
    insertions: tuple[tuple[PlacedSite, Insertion], ...]
    bindings: tuple[Binding, ...]
    stores: tuple[AttributeStore, ...]

    @property
    def scopes(self) -> tuple[tuple[Enclosing, ...], ...]:
        """The scopes that hold a site, each once."""
        return tuple(dict.fromkeys(found.scope for _, found in self.insertions))

    def outside(self, offset: int) -> bool:
        """Whether a byte is none of the owned ones."""
        return not any(start <= offset < end for start, end in self.installed.owned)

    def where(self, offset: int, length: int = 0) -> Where:
        return Where.at(self.module.data, offset, length)


def judge(
    data: bytes, lineage: Lineage, installed: Installed, *, attested: bool
) -> tuple[str, tuple[Finding, ...]]:
    """Return in which functions the sites stand, and everything that takes them out of effect.

    `attested` says that the whole file is registered: what it does beyond the regions is then
    the base's own, and neither reflection nor invisible characters are findings.
    """
    module = parse(data)
    if isinstance(module, Unparsable):
        return "", (_unparsable(module),)
    placed, misplaced = _insertions(module, installed)
    facts = _facts(module, lineage, installed, placed)
    rules: list[Callable[[_Facts], Iterator[Finding]]]
    rules = [_fragment, _owned_names, _places, _holders, _dead, _imports, _builtins, _patched]
    if not attested:
        rules.append(_reflection)
    findings = misplaced[:PLACES_LISTED]
    for rule in rules:
        findings += islice(rule(facts), PLACES_LISTED)
    if not attested:
        findings += invisible(data, installed.owned)
    first = {site.site.name: found for site, found in reversed(placed)}
    counts = Counter(qualified(found.scope) or "module" for found in reversed(first.values()))
    return ", ".join(f"{name} {count}" for name, count in counts.items()), tuple(findings)


def _unparsable(problem: Unparsable) -> Finding:
    return Finding(
        code="helper-unparsable",
        expected="Python that this interpreter can parse",
        got=problem.reason,
        cause="a damaged file, or one written for a newer Python",
        remedy="run pinproof with the Python that the host runs under, or restore the file",
    )


def _insertions(
    module: Module, installed: Installed
) -> tuple[tuple[tuple[PlacedSite, Insertion], ...], list[Finding]]:
    """Rule c: every inserted range is one or more whole statements of one statement list."""
    placed, findings = [], []
    for site in installed.sites:
        for start, end in site.inserted:
            found = module.insertion(start, end, block=(site.start, site.end))
            if isinstance(found, Insertion) and not found.strangers:
                placed.append((site, found))
                continue
            reason = (
                found.reason
                if isinstance(found, Misplaced)
                else f"line {found.strangers[0]} beside it belongs to another block"
            )
            findings.append(
                Finding(
                    code="helper-site-not-code",
                    where=Where.at(module.data, start, end - start),
                    expected=f"whole statements of site {site.site.name}",
                    got=reason,
                    cause="the site stands in a string, a comment, or a continued line",
                    remedy=RESTORE,
                )
            )
    return tuple(placed), findings


def _facts(
    module: Module,
    lineage: Lineage,
    installed: Installed,
    placed: tuple[tuple[PlacedSite, Insertion], ...],
) -> _Facts:
    body = installed.helper.body
    holders = {name for _, found in placed for name in names_of(found.scope)}
    names = {*lineage.owned_names, *body.required_imports, *body.reads_builtins, "__builtins__"}
    patchable = {step.name for _, found in placed for step in found.scope if step.kind == "class"}
    return _Facts(
        module=module,
        lineage=lineage,
        installed=installed,
        insertions=placed,
        bindings=bindings(module, names | holders),
        stores=attribute_stores(
            module, {*lineage.owned_names, *patchable, *body.required_imports, *_BUILTINS}
        ),
    )


def _fragment(facts: _Facts) -> Iterator[Finding]:
    """Rule a: the helper's text is the same statements in the module body, undecorated."""
    helper = facts.installed.helper
    found = facts.module.fragment(helper.start, helper.end)
    if found.decorated:
        yield Finding(
            code="helper-decorated",
            where=Where(line=found.decorated[0]),
            expected=f"the helper {helper.version.id} as it was published",
            got="a decorator above it",
            cause="the decorator decides what the name means",
            remedy=RESTORE,
        )
    elif not found.same:
        yield Finding(
            code="helper-not-code",
            where=facts.where(helper.start, helper.end - helper.start),
            expected="the helper's statements in the body of the module",
            got=f"{len(found.inside)} of its statements there",
            cause="the text stands in a string, or inside another block",
            remedy=RESTORE,
        )


def _owned_names(facts: _Facts) -> Iterator[Finding]:
    """Rule a: each name that the version binds is bound in the helper, and nowhere else."""
    helper = facts.installed.helper
    there: set[str] = set()
    for binding in facts.bindings:
        if binding.name not in facts.lineage.owned_names:
            continue
        if helper.start <= binding.offset < helper.end:
            there |= {binding.name} if not binding.scope else set()
            continue
        yield Finding(
            code="helper-rebound",
            where=facts.where(binding.offset, len(binding.name)),
            expected=f"{binding.name} bound by the helper alone",
            got=f"bound by {binding.form}",
            cause="what is bound last is what the sites call",
            remedy=LOOK,
        )
    for store in facts.stores:
        named = {store.attribute, *store.base.split(".")}
        if named & set(facts.lineage.owned_names) and facts.outside(store.offset):
            yield Finding(
                code="helper-rebound",
                where=facts.where(store.offset),
                expected="no assignment to an attribute that touches an owned name",
                got=f"{store.base}.{store.attribute} assigned",
                cause="the name is bound from outside of the helper",
                remedy=LOOK,
            )
    for name in sorted(set(helper.body.binds) - there):
        yield Finding(
            code="helper-not-code",
            where=facts.where(helper.start, helper.end - helper.start),
            expected=f"{name} bound in the body of the module",
            got="not bound there",
            cause="the text stands in a string, or inside another block",
            remedy=RESTORE,
        )


def _places(facts: _Facts) -> Iterator[Finding]:
    """Rule b: each site stands in exactly one function, the one that is registered."""
    for site, found in facts.insertions:
        within, place = site.site.within, qualified(found.scope)
        if found.functions > 1:
            yield Finding(
                code="helper-site-nested",
                where=facts.where(site.start, site.end - site.start),
                expected=f"site {site.site.name} in {within or 'one function'}",
                got=f"in {place}",
                cause="whether the inner function is called cannot be seen",
                remedy=RESTORE,
            )
        elif found.functions == 0 or (within is not None and place != within):
            yield Finding(
                code="helper-site-elsewhere",
                where=facts.where(site.start, site.end - site.start),
                expected=f"site {site.site.name} in {within or 'a function'}",
                got=f"in {place or 'the body of the module'}",
                cause="the host was restructured, or the site was moved",
                remedy=RESTORE,
            )


def _holders(facts: _Facts) -> Iterator[Finding]:
    """Rule b: nothing binds the function or class of a site again, and nothing decorates it."""
    for scope in facts.scopes:
        for binding in rebindings(scope, facts.bindings):
            yield Finding(
                code="helper-site-rebound",
                where=facts.where(binding.offset, len(binding.name)),
                expected=f"{qualified(scope)} bound once",
                got=f"{binding.name} bound again by {binding.form}",
                cause="the later definition replaces the one that holds the sites",
                remedy=LOOK,
            )
    classes = {step.name for scope in facts.scopes for step in scope if step.kind == "class"}
    for store in facts.stores:
        if classes & set(store.base.split(".")) and facts.outside(store.offset):
            yield Finding(
                code="helper-class-patched",
                where=facts.where(store.offset),
                expected=f"no assignment to an attribute of {store.base}",
                got=f"{store.base}.{store.attribute} assigned",
                cause="a method that holds a site may be replaced",
                remedy=LOOK,
            )
    for site, found in facts.insertions:
        lines = [line for step in found.scope for line in step.decorators]
        if lines and not site.site.decorated:
            yield Finding(
                code="helper-site-decorated",
                where=Where(line=lines[0]),
                expected=f"{qualified(found.scope)} undecorated, as in the pinned host",
                got=f"a decorator around site {site.site.name}",
                cause="the decorator decides whether the function runs as it is written",
                remedy=LOOK,
            )


def _dead(facts: _Facts) -> Iterator[Finding]:
    """Rule d: no site is dead by the closed list."""
    for site, found in facts.insertions:
        if found.dead is not None:
            yield Finding(
                code="helper-site-dead",
                where=Where(line=found.dead.line),
                expected=f"site {site.site.name} reached",
                got=found.dead.reason,
                cause="the code around it never lets it run",
                remedy=LOOK,
            )


def _imports(facts: _Facts) -> Iterator[Finding]:
    """Rule e: every required import is a plain import above the helper, bound once."""
    helper = facts.installed.helper
    for name in helper.body.required_imports:
        found = [b for b in facts.bindings if b.name == name and _matters(b, facts)]
        good = [b for b in found if _is_plain_import(b) and b.offset < helper.start]
        if not good:
            yield Finding(
                code="helper-import-missing",
                where=facts.where(helper.start),
                expected=f"import {name} in the body of the module, above the helper",
                got=f"bound by {found[0].form}" if found else "none",
                cause="the overlay adds the import; it was removed, moved or rewritten later",
                remedy=RESTORE,
            )
        for binding in found:
            if binding is not next(iter(good), None) and good:
                yield Finding(
                    code="helper-import-rebound",
                    where=facts.where(binding.offset, len(name)),
                    expected=f"{name} bound once, by its import",
                    got=f"bound again by {binding.form}",
                    cause="helper and sites read whatever the name is bound to last",
                    remedy=LOOK,
                )


def _is_plain_import(binding: Binding) -> bool:
    return binding.form == "import" and binding.plain and binding.direct and not binding.scope


def _matters(binding: Binding, facts: _Facts) -> bool:
    """Whether a binding can change what helper or sites read: global, or local to a site."""
    functions = {
        scope[: depth + 1]
        for scope in facts.scopes
        for depth, step in enumerate(scope)
        if step.kind in _FUNCTIONS
    }
    anywhere = binding.form in ("global", "type parameter")
    return not binding.scope or anywhere or binding.scope in functions


def _builtins(facts: _Facts) -> Iterator[Finding]:
    """Rule e: no builtin that helper or sites read is bound where they would read it."""
    names = {*facts.installed.helper.body.reads_builtins, "__builtins__"}
    for binding in facts.bindings:
        if binding.name in names and _matters(binding, facts):
            yield Finding(
                code="helper-builtin-shadowed",
                where=facts.where(binding.offset, len(binding.name)),
                expected=f"the builtin {binding.name}",
                got=f"{binding.name} bound by {binding.form}",
                cause="helper or sites would read that instead of the builtin",
                remedy=LOOK,
            )


def _patched(facts: _Facts) -> Iterator[Finding]:
    """Rule e: no attribute of `builtins` or of a required import is assigned."""
    names = {*facts.installed.helper.body.required_imports, *_BUILTINS}
    for store in facts.stores:
        if store.base.split(".")[0] in names and facts.outside(store.offset):
            yield Finding(
                code="helper-import-patched",
                where=facts.where(store.offset),
                expected=f"{store.base} as Python provides it",
                got=f"{store.base}.{store.attribute} assigned",
                cause="helper or sites may read the attribute that was replaced",
                remedy=LOOK,
            )


def _reflection(facts: _Facts) -> Iterator[Finding]:
    """Rule f: nothing outside the owned bytes could bind a name without naming it."""
    from verifier.checks.python_reflection import reflection  # noqa: PLC0415  (attested files need none)

    for use in reflection(facts.module, facts.installed.owned, facts.lineage.owned_names):
        yield Finding(
            code="helper-reflection-owned" if use.spells else "helper-reflection",
            where=facts.where(use.offset, len(use.what)),
            expected="no reflection in a file that is not attested as a whole",
            got=use.what + (f" spelling {', '.join(use.spells)}" if use.spells else ""),
            cause="it rebinds, or could rebind, the helper without naming it in the code",
            remedy=RESTORE if use.spells else LOOK,
        )
