"""The evidence of one step: which files count, by whose keys, and whether they are enough."""

from collections.abc import Iterator, Mapping
from typing import Any

from verifier.core.finding import Finding, Where
from verifier.core.printable import cut, printable, quoted
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey
from verifier.evidence.layout.model import Layout, Link, Step
from verifier.evidence.layout.signed import Signed
from verifier.sources.links import LinkFile, Links

_AGAIN = "get the links again from where the step was done"


@frozen
class Told:
    """One file that counts. `link` is what it says unless it is a layout."""

    file: LinkFile
    signed: Signed
    link: Link


@frozen
class Below:
    """One file that counts and is a layout of its own."""

    file: LinkFile
    signed: Signed


@frozen
class Evidence:
    """What counts for a step; `enough` says that the keys behind it reach the threshold."""

    findings: tuple[Finding, ...]
    links: tuple[Told, ...] = ()
    layouts: tuple[Below, ...] = ()
    enough: bool = False


@frozen
class Found:
    """What a step is taken to have done, None where that is not known."""

    findings: tuple[Finding, ...] = ()
    link: Link | None = None
    payload: Mapping[str, Any] | None = None
    links: int = 0


def of_step(step: Step, layout: Layout, links: Links) -> Evidence:
    """Look at every file whose name claims to be a link of this step."""
    files = [file for file in links.files if file.step == step.name]
    allowed = {key for keyid in step.key_ids if (key := layout.keys[keyid]) is not None}
    unsupported = [keyid for keyid in step.key_ids if layout.keys[keyid] is None]
    findings: list[Finding] = []
    told: list[Told] = []
    below: list[Below] = []
    signers: list[frozenset[PublicKey]] = []
    for file in files:
        one = _of_file(file, step, layout, allowed, unsupported)
        if isinstance(one, Finding):
            findings.append(one)
            continue
        counted, keys = one
        signers.append(keys)
        if isinstance(counted, Told):
            told.append(counted)
            findings += other_command(step, counted.file.name, counted.link)
        else:
            below.append(counted)
    count = _different(signers)
    if not files:
        findings.append(_missing(step))
    elif count < step.threshold:
        findings.append(_too_few(step, count, len(allowed)))
    return Evidence(
        findings=tuple(findings),
        links=tuple(told),
        layouts=tuple(below),
        enough=count >= step.threshold,
    )


def _of_file(
    file: LinkFile,
    step: Step,
    layout: Layout,
    allowed: set[PublicKey],
    unsupported: list[str],
) -> tuple[Told | Below, frozenset[PublicKey]] | Finding:
    """Return what a file says and which keys of the step have signed it, or why it cannot count."""
    where = Where(path=printable(file.name))
    signed = _read(file, where)
    if isinstance(signed, Finding):
        return signed
    signers = signed.signers(key for key in layout.keys.values() if key is not None)
    if not signers & allowed:
        return _stranger(step, where, known=bool(signers), unsupported=unsupported)
    if signed.kind == "layout":
        return Below(file=file, signed=signed), signers & allowed
    try:
        link = Link.read(signed)
    except MalformedError as error:
        return _malformed(error, where)
    if link.name == step.name:
        return Told(file=file, signed=signed, link=link), signers & allowed
    return Finding(
        code="chain-link-name",
        where=where,
        expected=f"a link of step {quoted(step.name)}",
        got=cut(f"one of {quoted(link.name)}"),
        remedy="name the file as in-toto-run did; a link counts for its own step only",
    )


def _read(file: LinkFile, where: Where) -> Signed | Finding:
    """Read a file in either form; nothing in it is believed yet."""
    if not isinstance(file.data, bytes):
        return Finding(
            code="chain-link-unread",
            where=where,
            expected="a plain file",
            got=str(file.data),
            remedy="put the link itself there; links of the file system are not followed",
        )
    try:
        signed = Signed.parse(file.data, what=file.name)
    except MalformedError as error:
        return _malformed(error, where)
    if signed.signatures:
        return signed
    return Finding(
        code="chain-link-unsigned",
        where=where,
        expected="a signature by a key of the step",
        got="none",
        remedy="do the step again with in-toto-run --signing-key KEY",
    )


def _malformed(error: MalformedError, where: Where) -> Finding:
    return Finding(
        code="chain-link-malformed",
        where=where,
        expected="a link as in-toto 1.0 defines it",
        got=cut("; ".join(error.listed)),
        remedy=_AGAIN,
    )


def _stranger(step: Step, where: Where, *, known: bool, unsupported: list[str]) -> Finding:
    """Say why no key of the step has signed a link."""
    if known:
        return Finding(
            code="chain-link-unauthorised",
            where=where,
            expected=printable(f"a signature by a key that may do {step.name}"),
            got="one by a key that the layout has for other steps",
            remedy="have the step done by whom the layout names, or ask its owner to name them",
        )
    if unsupported:
        return Finding(
            code="chain-key-unsupported",
            where=where,
            expected="a signature by an Ed25519, ECDSA P-256 or P-384 key",
            got=cut(f"key {', '.join(unsupported)} is of another kind"),
            remedy="sign the step with an Ed25519 key, and name it in the layout",
        )
    return Finding(
        code="chain-link-signature",
        where=where,
        expected=printable(f"a signature by a key that may do {step.name}"),
        got="none by any key of the layout over these bytes",
        cause="the link was changed after it was signed, or somebody else has signed it",
        remedy=f"{_AGAIN}; remove files that are no links of this chain",
    )


def _missing(step: Step) -> Finding:
    return Finding(
        code="chain-link-missing",
        expected=printable(f"{step.name}.KEYID.link in the folder of links"),
        got="no such file",
        remedy="copy the links of every step into one folder",
    )


def _too_few(step: Step, signers: int, allowed: int) -> Finding:
    return Finding(
        code="chain-threshold",
        expected=printable(f"{step.name}: links by {_keys(step.threshold)}"),
        got=f"links by {_keys(signers)}",
        cause=f"the layout names {_keys(allowed)} for it that count, each once by its material",
        remedy="add the links that the others have signed",
    )


def _different(signers: list[frozenset[PublicKey]]) -> int:
    """Count links by different keys: a threshold is of links, each counted for one of its signers.

    A link that two keys have signed is one (in-toto 1.0 §4.3.1: pieces of link metadata).
    """
    of_key: dict[PublicKey, int] = {}

    def placed(link: int, asked: set[PublicKey]) -> bool:
        """Find a key for a link, moving others to other keys of theirs (bipartite matching)."""
        for key in signers[link] - asked:
            asked.add(key)
            if key not in of_key or placed(of_key[key], asked):
                of_key[key] = link
                return True
        return False

    return sum(placed(link, set()) for link in range(len(signers)))


def _keys(number: int) -> str:
    return "1 key" if number == 1 else f"{number} different keys" if number else "no key"


def other_command(step: Step, name: str, link: Link) -> Iterator[Finding]:
    """Compare the command of a link in the file `name`; in-toto only warns of another one."""
    if step.command and link.command != step.command:
        yield Finding(
            code="chain-command",
            where=Where(path=printable(name)),
            expected=cut(" ".join(step.command)),
            got=cut(" ".join(link.command)) or "none recorded",
            remedy="do the step with that command; a layout that does not care leaves it empty",
        )
