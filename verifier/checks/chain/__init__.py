"""A chain: whether a product was made in the steps that its owner laid down, by whom they named.

The steps are those of in-toto 1.0 §5.2; where in-toto only warns or takes silence for consent,
this does not. Nothing that a layout or a link says is run.

1. *Layout*: read strictly; signed by enough of the given keys, each counted once by its material;
   not expired at the effective time; it has steps, every rule is one of in-toto's, and it has no
   inspections, because they are programs.
2. *Links*: of each step, every file that its name claims: read strictly, about that step, signed by
   a key that the layout authorises for it. Their keys reach the step's threshold, all of them list
   the same artifacts, and the command is the expected one.
3. *Sublayouts*: where a step's file is a layout, its signer's key has signed it, and 1 to 5 hold of
   it with the links of its own folder; its first materials, last products and last command are the
   step's.
4. *Artifacts*: the rules of every step, in order. No artifact is left over, and no rule that
   compares had nothing to compare; something was compared.
5. *Second opinion*: in-toto's own rule functions find nothing either.
6. *Products*: each given file is a product of the last step.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from verifier.checks.chain import artifacts, layouts
from verifier.checks.chain.steps import Evidence, Found, of_step, other_command
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding, Where
from verifier.core.limits import CHAIN_COMPARISONS, CHAIN_DEPTH, CHAIN_RULE
from verifier.core.outcome import Outcome
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey
from verifier.evidence.layout.model import Layout, Link, Step
from verifier.evidence.layout.opinion import objection
from verifier.evidence.layout.signed import Signed
from verifier.sources.links import NO_LINKS, Links

__all__ = ["Asked", "Product", "check"]


@frozen
class Product:
    """A file that the chain is said to have made, and its SHA-256."""

    name: str
    sha256: str


@frozen
class Asked:
    """By which keys the layout has to be signed, and by how many of them; which products."""

    keys: frozenset[PublicKey]
    threshold: int
    products: tuple[Product, ...] = ()


@frozen
class _Judged:
    """One layout with what lies below it; `summary` is None unless every step is known."""

    findings: tuple[Finding, ...]
    layout: Layout | None = None
    summary: Link | None = None
    links: int = 0
    artifacts: int = 0


def check(data: bytes, *, name: str, links: Links, asked: Asked, now: datetime) -> Outcome:
    """Check a layout, called `name`, and the links of its steps."""
    judged = _read_and_judged(data, name, links, asked, now)
    findings = [*judged.findings]
    if judged.summary is not None:
        if not judged.artifacts:
            findings.append(artifacts.nothing(name))
        findings += _products(judged.summary, asked.products)
    return Outcome(
        kind="chain",
        identified=(),
        findings=tuple(findings),
        coverage=tuple(_coverage(judged, asked, findings)),
        not_proven=tuple(_not_proven(asked, links)),
    )


def _read_and_judged(data: bytes, name: str, links: Links, asked: Asked, now: datetime) -> _Judged:
    signed = layouts.read(data, name)
    if isinstance(signed, Finding):
        return _Judged(findings=(signed,))
    unsigned = layouts.signature(signed, asked.keys, asked.threshold)
    if unsigned is not None:
        return _Judged(findings=(unsigned,))
    return _Judge(now).judged(signed, name, links, CHAIN_DEPTH)


class _Judge:
    """Judges layouts at one time, with one amount of work for a chain and all that lies below."""

    def __init__(self, now: datetime) -> None:
        self._now, self._left = now, CHAIN_COMPARISONS

    def judged(self, signed: Signed, name: str, links: Links, depth: int) -> _Judged:
        """Judge a layout whose signatures hold, and the layouts below it, `depth` deep."""
        layout = layouts.model(signed, name)
        if isinstance(layout, Finding):
            return _Judged(findings=(layout,))
        findings = [*layouts.problems(layout, name, self._now)]
        found: dict[str, Found] = {}
        for step in layout.steps:
            evidence = of_step(step, layout, links)
            one = self._agreed(step, evidence, links, depth)
            findings += (*evidence.findings, *one.findings)
            if one.link is not None:
                found[step.name] = one
        told = {step: one.link for step, one in found.items() if one.link is not None}
        findings += self._applied(layout, told, name)
        summary = _summary(layout, told)
        if summary is not None and not findings:
            findings += _second(signed, found, name)
        return _Judged(
            findings=tuple(findings),
            layout=layout,
            summary=summary,
            links=sum(one.links for one in found.values()),
            artifacts=sum(len(link.materials) + len(link.products) for link in told.values()),
        )

    def _agreed(self, step: Step, evidence: Evidence, links: Links, depth: int) -> Found:
        """Turn layouts among the evidence of a step into links; all links have to agree."""
        findings: list[Finding] = []
        told: list[tuple[str, Link]] = [(item.file.name, item.link) for item in evidence.links]
        for item in evidence.layouts:
            if depth == 0:
                findings.append(layouts.too_deep(item.file.name))
                continue
            folder = links.below.get(f"{item.file.step}.{item.file.hint}", NO_LINKS)
            below = self.judged(item.signed, item.file.name, folder, depth - 1)
            findings += below.findings
            if below.summary is not None:
                findings += other_command(step, item.file.name, below.summary)
                told.append((item.file.name, below.summary))
        payload = next((item.signed.payload for item in evidence.links), None)
        if not told or not evidence.enough:
            return Found(findings=tuple(findings))
        (name, link), *others = told
        for other, theirs in others:
            if (link.materials, link.products) != (theirs.materials, theirs.products):
                findings.append(artifacts.disagreement(name, link, other, theirs))
                return Found(findings=tuple(findings))
        return Found(findings=tuple(findings), link=link, payload=payload, links=len(told))

    def _applied(self, layout: Layout, links: dict[str, Link], name: str) -> Iterator[Finding]:
        """Apply the rules of every step that has a link, if that is not too much work."""
        steps = [step for step in layout.steps if step.name in links]
        self._left -= sum(
            len(step.rules[side]) * (CHAIN_RULE + len(links[step.name].side(side)))
            for step in steps
            for side in step.rules
        )
        if self._left < 0:
            yield Finding(
                code="chain-too-large",
                where=Where(path=printable(name)),
                expected=f"at most {CHAIN_COMPARISONS:,} comparisons of a rule with an artifact, "
                f"each rule counting {CHAIN_RULE:,} more",
                got=f"{CHAIN_COMPARISONS - self._left:,}",
                remedy="use patterns in place of one rule a file, or record fewer artifacts",
            )
            return
        for step in steps:
            yield from artifacts.of_step(step, links)


def _summary(layout: Layout, links: dict[str, Link]) -> Link | None:
    """Return what a layout stands for above: the first materials, the last products and command.

    None unless every step has done something that is known.
    """
    if not layout.steps or len(links) != len(layout.steps):
        return None
    first, last = links[layout.steps[0].name], links[layout.steps[-1].name]
    return Link(name="", command=last.command, materials=first.materials, products=last.products)


def _second(signed: Signed, found: dict[str, Found], name: str) -> Iterator[Finding]:
    """Ask in-toto, too; of a sublayout it is told the summary that was found to hold."""
    links = {step: one.payload or _told(step, one.link) for step, one in found.items()}
    kind = objection(signed.payload, links)
    if kind is not None:
        yield Finding(
            code="chain-second-opinion",
            where=Where(path=printable(name)),
            expected="the same answer from in-toto's own models and rule functions",
            got=f"{kind} from in-toto",
            remedy="report this with layout and links; until then judge the chain by hand",
        )


def _told(step: str, link: Link | None) -> dict[str, object]:
    sides = (link.materials, link.products) if link else ({}, {})
    materials, products = ({k: dict(v) for k, v in side.items()} for side in sides)
    return {"name": step, "materials": materials, "products": products}


def _products(summary: Link, products: Iterable[Product]) -> Iterator[Finding]:
    for product in products:
        problem = artifacts.product(summary, product.name, product.sha256)
        if problem is not None:
            yield problem


#: What a facet says where it holds, and where nothing was looked at.
_UNTRUSTED: Final = "the layout is not trusted"


def _coverage(judged: _Judged, asked: Asked, findings: list[Finding]) -> Iterator[Covered]:
    layout = judged.layout
    details = {
        "layout": f"signed by {_counted(asked.threshold, 'key')} of {len(asked.keys)} given",
        "steps": f"{_counted(len(layout.steps), 'step')}, {_counted(judged.links, 'link')}"
        if layout
        else "",
        "artifacts": f"{_counted(judged.artifacts, 'artifact')} by all rules, "
        f"{_counted(len(asked.products), 'product')} compared",
    }
    unruled = any(f.code == "chain-rule-unknown" for f in findings)
    for facet in FACETS["chain"]:
        of_facet = [f for f in findings if f.row.facet == facet]
        if any(f.row.outcome == "rejected" for f in of_facet):
            yield Covered(facet=facet, state=State.NOT_HELD)
        elif layout is None and facet != "layout":
            yield Covered(facet=facet, state=State.NOT_CHECKED, detail=_UNTRUSTED)
        elif of_facet or (facet == "artifacts" and (judged.summary is None or unruled)):
            yield Covered(facet=facet, state=State.NOT_CHECKED)
        else:
            yield Covered(facet=facet, state=State.HELD, detail=details[facet])


def _not_proven(asked: Asked, links: Links) -> Iterator[str]:
    yield "that a step did what its link says"
    if not asked.products:
        yield "which files the chain made: none was given"
    if links.others:
        yield f"{_counted(links.others, 'other file')} in the folder of links, not opened"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
