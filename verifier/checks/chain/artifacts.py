"""Artifact rules (in-toto 1.0 §4.3.3), applied in order as a firewall applies its own.

All materials, or all products, of a step wait in a queue. Each rule takes out what it speaks for;
`DISALLOW` refuses what is left and fits, `REQUIRE` refuses if its file is not left. in-toto lets
pass what is left at the end, and a rule that found nothing; here both are findings.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final

from verifier.core.finding import Finding, Where
from verifier.core.printable import cut, printable
from verifier.evidence.layout.model import Digests, Link, Step
from verifier.evidence.layout.rules import Pattern, Rule, Verb
from verifier.sources.names import collisions

#: Algorithms of which one has to be there: the others are too weak to tell files apart.
_STRONG: Final = frozenset({"sha256", "sha384", "sha512", "sha3-256", "sha3-384", "sha3-512"})
_LISTED: Final = 5
#: Rules that compare: one that found nothing to compare is no reason to be content.
_COMPARING: Final = (Verb.CREATE, Verb.DELETE, Verb.MODIFY)


def of_step(step: Step, links: Mapping[str, Link]) -> Iterator[Finding]:
    """Apply the rules of a step to its materials, then to its products."""
    link = links[step.name]
    for side in ("materials", "products"):
        where = Where(path=printable(f"{step.name}: {side}"))
        yield from _sound(link.side(side), where)
        yield from _applied(step, side, links, where)


def _sound(artifacts: Mapping[str, Digests], where: Where) -> Iterator[Finding]:
    """Say which artifacts cannot be told from others."""
    weak = sorted(name for name, digests in artifacts.items() if _STRONG.isdisjoint(digests))
    if weak:
        yield Finding(
            code="chain-artifact-weak",
            where=where,
            expected="a SHA-256 of every artifact",
            got=_listed(weak),
            remedy="record the step again; in-toto-run writes SHA-256",
        )
    for clash in collisions([name.encode() for name in artifacts], frozenset()):
        yield Finding(
            code="chain-artifact-collision",
            where=where,
            expected="names that stay different where case and accents are folded",
            got=cut(f"{clash.other.decode()} and {clash.path.decode()}"),
            remedy="rename one of the files, and do the step again",
        )


def _applied(step: Step, side: str, links: Mapping[str, Link], where: Where) -> Iterator[Finding]:
    """Apply rules; not at all where one cannot be applied, which is a finding already."""
    link = links[step.name]
    rules = [rule for _, rule in step.rules[side] if rule is not None]
    absent = any(rule.other_step and rule.other_step not in links for rule in rules)
    if absent or len(rules) != len(step.rules[side]):
        return
    queue = set(link.side(side))
    mismatches: dict[str, str] = {}
    idle: list[Finding] = []
    refused = False
    for rule in rules:
        pattern = Pattern(rule.pattern)
        if rule.verb is Verb.REQUIRE:
            if rule.pattern not in queue:
                yield _required(rule, link.side(side), where)
            continue
        if rule.verb is Verb.MATCH:
            inside = {name for name in queue if _inside(rule, pattern, name)}
            theirs = links[rule.other_step].side(rule.other_side)
            taken = _matched(rule, inside, link.side(side), theirs, mismatches)
        else:
            fitting = {name for name in queue if pattern.fits(name)}
            taken = {name for name in fitting if _takes(rule.verb, name, link)}
        if rule.verb is Verb.DISALLOW and taken:
            refused = True
            yield _disallowed(rule, taken, mismatches, where)
        if not taken and (rule.verb is Verb.MATCH or (rule.verb in _COMPARING and pattern.literal)):
            idle.append(_idle(rule, mismatches, where))
        queue -= taken
    if not refused:  # else it is what the rules did not take that was refused
        yield from idle
    if queue:
        yield Finding(
            code="chain-artifact-unruled",
            where=where,
            expected="a rule for every artifact",
            got=_listed(sorted(queue)),
            cause=_why(sorted(queue), mismatches),
            remedy="ask the layout's owner for a rule that speaks of them; DISALLOW * refuses them",
        )


def _takes(verb: Verb, name: str, link: Link) -> bool:
    """Tell whether a rule whose pattern fits takes an artifact out."""
    before, after = link.materials.get(name), link.products.get(name)
    match verb:
        case Verb.CREATE:
            return before is None and after is not None
        case Verb.DELETE:
            return before is not None and after is None
        case Verb.MODIFY:
            return None not in (before, after) and before != after
        case Verb.ALLOW | Verb.DISALLOW:
            return True
        case Verb.MATCH | Verb.REQUIRE:
            return False


def _inside(rule: Rule, pattern: Pattern, name: str) -> bool:
    """Tell whether MATCH speaks of an artifact: below its prefix, and its pattern fits the rest."""
    prefix = rule.source_prefix
    return name.startswith(prefix) and pattern.fits(name.removeprefix(prefix))


def _matched(
    rule: Rule,
    names: Iterable[str],
    ours: Mapping[str, Digests],
    theirs: Mapping[str, Digests],
    mismatches: dict[str, str],
) -> set[str]:
    """Return what has the same digests under the same name, prefixes apart, at the other step."""
    taken: set[str] = set()
    for name in names:
        other = rule.other_prefix + name.removeprefix(rule.source_prefix)
        found = theirs.get(other)
        if found == ours[name]:
            taken.add(name)
        elif found is None:
            mismatches[name] = f"{rule.other_step} lists no {other}"
        else:
            is_here = f"here it is {_digest(ours[name])}"
            mismatches[name] = f"{rule.other_step} lists {_digest(found)}, {is_here}"
    return taken


def _digest(digests: Digests) -> str:
    return next((f"{algorithm}:{hexes}" for algorithm, hexes in sorted(digests.items())), "none")


def _required(rule: Rule, artifacts: Mapping[str, object], where: Where) -> Finding:
    taken = rule.pattern in artifacts
    return Finding(
        code="chain-artifact-required",
        where=where,
        expected=cut(str(rule)),
        got="a rule before it took that file out" if taken else "no such file",
        remedy="do the step again so that it records that file",
    )


def _disallowed(rule: Rule, taken: set[str], mismatches: dict[str, str], where: Where) -> Finding:
    names = sorted(taken)
    return Finding(
        code="chain-artifact-disallowed",
        where=where,
        expected=cut(f"nothing left for {rule}"),
        got=_listed(names),
        cause=_why(names, mismatches),
        remedy="do not use the product; find out at which step these files came in or changed",
    )


def _idle(rule: Rule, mismatches: dict[str, str], where: Where) -> Finding:
    return Finding(
        code="chain-rule-idle",
        where=where,
        expected=cut(f"an artifact for {rule}"),
        got="none",
        cause=_why(sorted(mismatches), mismatches),
        remedy="record the artifacts that the rule is about, or ask the owner to drop the rule",
    )


def _why(names: list[str], mismatches: Mapping[str, str]) -> str | None:
    """Say of the first artifact that MATCH did not take why it did not."""
    name = next((name for name in names if name in mismatches), None)
    return None if name is None else cut(f"{name}: {mismatches[name]}")


def _listed(names: list[str]) -> str:
    more = len(names) - _LISTED
    tail = f" and {more:,} more" if more > 0 else ""
    return cut(", ".join(names[:_LISTED])) + tail


def disagreement(name: str, link: Link, other: str, theirs: Link) -> Finding:
    """Say in what two links of one step differ."""
    at = "artifacts"
    for side in ("materials", "products"):
        ours, other_side = link.side(side), theirs.side(side)
        names = sorted(
            each for each in {*ours, *other_side} if ours.get(each) != other_side.get(each)
        )
        if names:
            at = f"{side}: {_listed(names)}"
            break
    return Finding(
        code="chain-links-disagree",
        where=Where(path=printable(other)),
        expected=printable(f"the artifacts that {name} lists"),
        got=at,
        remedy="find out which of them is true; the step has to be done again by all its keys",
    )


def nothing(name: str) -> Finding:
    """Say that no link lists anything, so that every rule holds of nothing."""
    return Finding(
        code="chain-no-artifacts",
        where=Where(path=printable(name)),
        expected="at least one material or product",
        got="none in any link",
        remedy="do the steps again, and name what goes in and out: in-toto-run -m PATH -p PATH",
    )


def product(summary: Link, name: str, sha256: str) -> Finding | None:
    """Compare a file with the products of the last step, by its digest.

    A name proves nothing. But a file that is called as one product and is another was exchanged.
    """
    alike = _alike(name, summary.products)
    same = sorted(path for path, each in summary.products.items() if each.get("sha256") == sha256)
    if any(path in alike for path in same) or (same and not alike):
        return None
    if alike:
        return Finding(
            code="chain-product-differs",
            where=Where(path=printable(name)),
            expected=cut(f"{alike[0]}, {_digest(summary.products[alike[0]])}"),
            got=f"sha256:{sha256}",
            cause=cut(f"it is another product of the chain, {same[0]}") if same else None,
            remedy="take the file that the chain made",
        )
    return Finding(
        code="chain-product-unknown",
        where=Where(path=printable(name)),
        expected=f"one of the products: {_listed(sorted(summary.products)) or 'none'}",
        got=f"sha256:{sha256}, under another name",
        remedy="give the file that the last step made",
    )


def _alike(name: str, products: Iterable[str]) -> list[str]:
    """Return the products whose paths share most with the end of a file's, if they share any."""
    shared: dict[str, int] = {}
    for path in products:
        pairs = zip(reversed(name.split("/")), reversed(path.split("/")), strict=False)
        shared[path] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    most = max(shared.values(), default=0)
    return sorted(path for path, count in shared.items() if count == most and most)
