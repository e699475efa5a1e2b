"""A commit or annotated tag: whether it is signed, by whom it should be, in their time.

1. *Signature*: the object was hashed to its id. It carries one signature, in the form of git, of a
   kind that is checked, and that is over exactly these bytes (`evidence.git_signature`).
2. *Signer*: the key that made it is one of those that were named. A name in the object, such as
   that of the committer, is never compared: anybody can write it.
3. *Time*: nothing in a commit or tag proves when it was signed. The committer's date is the
   signer's own word, and so is the date in an OpenPGP signature: git judges windows by the first
   (gpg.ssh.allowedSignersFile, `valid-before`), which lets an expired key sign for the past. Here
   every window is judged at the effective time.
4. *Merged tags*: a commit that merges a signed tag holds that tag. One whose signature is over
   other bytes, or that is of none of the commit's parents, is refused (git's `show_mergetag`); one
   signed by somebody who was not named is told, and vouches for nothing.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from verifier.catalog.entries.signers import GIT_COMMIT, GIT_TAG, Signer
from verifier.checks.commit import said
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Outcome
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.evidence import git_signature, openpgp
from verifier.evidence.claim import Claim
from verifier.evidence.git_signature import GitSignature, SeveralError
from verifier.evidence.signers import decide
from verifier.evidence.sshsig import SshKey, SshSignature
from verifier.sources.git.objects import SHA1_HEX, Commit, Fault, Tag, parse_tag

_NAMESPACE: Final = "git"


@frozen
class Asked:
    """Who may have signed: signers of the registry, SSH keys, keys of an OpenPGP keyring."""

    signers: tuple[Signer, ...] = ()
    ssh_keys: tuple[SshKey, ...] = ()
    keyring: bytes | None = None


@frozen
class _Made:
    """A signature that holds: by which key, in words, and as a claim where the key counts here."""

    by: str
    claim: Claim | None = None
    ssh: SshKey | None = None


@frozen
class _MergedTag:
    """A tag that a merge brought with it: who signed it, or why nothing can be said of that."""

    name: str
    by: str = ""
    unnamed: str = ""
    finding: Finding | None = None


def check(found: Commit | Tag, asked: Asked, now: datetime) -> Outcome:
    """Check the signature of an object that hashes to its id."""
    signature: GitSignature | None = None
    made: _Made | None = None
    try:
        signature = _taken_apart(found)
    except SeveralError as error:
        findings = [said.several(str(error))]
    except ValueError as error:
        findings = [said.malformed(str(error))]
    else:
        judged = _signature(signature, asked, now)
        made, findings = (judged, []) if isinstance(judged, _Made) else (None, [judged])
    if made is not None:
        findings += _signer(made, asked, found, now)
    merged = tuple(_merged(found, signature, asked, now)) if signature else ()
    findings += [each.finding for each in merged if each.finding is not None]
    return Outcome(
        kind="commit",
        identified=(),
        findings=tuple(findings),
        coverage=tuple(_coverage(made, merged, findings, now)),
        not_proven=tuple(_not_proven(found, signature, merged)),
    )


def unread(finding: Finding) -> Outcome:
    """Return the outcome for an object that could not be read as what it is called."""
    return Outcome(
        kind="commit",
        identified=(),
        findings=(finding,),
        coverage=tuple(Covered(facet=f, state=State.NOT_CHECKED) for f in FACETS["commit"]),
    )


def _taken_apart(found: Commit | Tag) -> GitSignature:
    if isinstance(found, Tag):
        return git_signature.of_tag(found.raw)
    return git_signature.of_commit(found.raw, len(found.oid))


# ── 1. the signature ───────────────────────────────────────────────────────────────────────────


def _signature(signature: GitSignature, asked: Asked, now: datetime) -> _Made | Finding:
    if signature.kind is None:
        return said.missing(other_hash=signature.other_hash)
    if signature.kind == "ssh":
        return _ssh(signature)
    if signature.kind == "openpgp":
        return _openpgp(signature, asked, now)
    what = "X.509, as gitsign makes it" if signature.kind == "x509" else signature.kind
    return said.unsupported(f"a signature by {what}")


def _ssh(signature: GitSignature) -> _Made | Finding:
    try:
        found = SshSignature.parse(signature.armor)
    except ValueError as error:
        return said.malformed(f"it {error}")
    signer = found.signer
    if signer.key is None:
        return said.unsupported(f"one by a key of type {signer.kind}")
    if found.namespace != _NAMESPACE:
        return said.other_namespace(found.namespace, _NAMESPACE)
    if not found.holds(signature.signed, namespace=_NAMESPACE):
        return said.broken(f"SSH key {signer.fingerprint}")
    return _Made(
        by=f"SSH key {signer.fingerprint}",
        claim=Claim(keys=frozenset({signer.key})),
        ssh=signer,
    )


def _openpgp(signature: GitSignature, asked: Asked, now: datetime) -> _Made | Finding:
    if not openpgp.armored(signature.armor):
        return said.malformed("armor that is not one OpenPGP signature, or text beside it")
    if asked.keyring is None:
        return said.no_keyring()
    answer = openpgp.check(signature.armor, signature.signed, asked.keyring)
    problem = said.of_answer(answer, now)
    return _Made(by=f"OpenPGP key {answer.key}") if problem is None else problem


# ── 2. and 3. the signer, and their time ───────────────────────────────────────────────────────


def _signer(made: _Made, asked: Asked, found: Commit | Tag, now: datetime) -> tuple[Finding, ...]:
    """Say why nobody who was named has signed; of signers of the registry the closest one's why."""
    if made.claim is None:  # gpgv knows no key but those of the keyring
        return ()
    if any(made.ssh is not None and made.ssh.blob == key.blob for key in asked.ssh_keys):
        return ()
    kind = GIT_TAG if isinstance(found, Tag) else GIT_COMMIT
    reasons = [decide(each, made.claim, predicate=kind, now=now) for each in asked.signers]
    if any(not each for each in reasons):
        return ()
    by_key = [each for each in reasons if each[0].code != "signer-not-this-key"]
    if by_key:
        return min(by_key, key=len)
    if reasons and not asked.ssh_keys:
        return min(reasons, key=len)
    named = ", ".join(key.fingerprint for key in asked.ssh_keys)
    return (said.other_signer(made.by, named or "a key that was named"),)


# ── 4. the tags that it merged ─────────────────────────────────────────────────────────────────


def _merged(
    found: Commit | Tag, signature: GitSignature, asked: Asked, now: datetime
) -> Iterator[_MergedTag]:
    parents = found.parents if isinstance(found, Commit) else ()
    for raw in signature.merged:
        tag = parse_tag(found.oid, raw)
        if isinstance(tag, Fault) or tag.target not in parents:
            got = "bytes that are no tag" if isinstance(tag, Fault) else f"one of {tag.target}"
            yield _MergedTag(name="", finding=said.merged_tag("a tag of one of its parents", got))
            continue
        name = printable(tag.name.decode(errors="surrogateescape"))
        made = _of_merged(tag, asked, now)
        if isinstance(made, _Made):
            wrong = _signer(made, asked, tag, now)
            told = f"who signed tag {name}, which it merged: {made.by}, whom nobody named"
            yield _MergedTag(name=name, by=made.by, unnamed=told if wrong else "")
        elif made.code == "git-signature-broken":
            finding = said.merged_tag(f"tag {name} as it was signed", "its signature, other bytes")
            yield _MergedTag(name=name, finding=finding)
        else:
            told = f"the signature of tag {name}, which it merged: {made.row.title}"
            yield _MergedTag(name=name, unnamed=told)


def _of_merged(tag: Tag, asked: Asked, now: datetime) -> _Made | Finding:
    try:
        return _signature(git_signature.of_tag(tag.raw), asked, now)
    except SeveralError as error:
        return said.several(str(error))
    except ValueError as error:
        return said.malformed(str(error))


def _coverage(
    made: _Made | None, merged: tuple[_MergedTag, ...], findings: list[Finding], now: datetime
) -> Iterator[Covered]:
    tags = "".join(f"; merged tag {m.name} by {m.by}" for m in merged if m.by and not m.unnamed)
    details = {
        "signature": f"by {made.by}{tags}" if made else "",
        "signer": "one that was named",
        "time": f"judged at {print_time(now)}; the committer's date proves nothing",
    }
    for facet in FACETS["commit"]:
        of_facet = [f for f in findings if f.row.facet == facet]
        if any(f.row.outcome == "rejected" for f in of_facet):
            yield Covered(facet=facet, state=State.NOT_HELD)
        elif of_facet or made is None:
            yield Covered(facet=facet, state=State.NOT_CHECKED)
        else:
            yield Covered(facet=facet, state=State.HELD, detail=details[facet])


def _not_proven(
    found: Commit | Tag, signature: GitSignature | None, merged: tuple[_MergedTag, ...]
) -> Iterator[str]:
    yield "when it was signed; who wrote it, whatever names it holds"
    if isinstance(found, Tag):
        yield f"anything of the {found.type} {found.target} but that the tag names it"
    if len(found.oid) == SHA1_HEX:
        yield "that no other content has the same SHA-1 id"
    if signature is None:
        return
    if signature.other_hash:
        yield "the signature over its form in the other hash"
    if signature.kind == "openpgp":
        yield "that the key is not to expire before the effective time, if that lies ahead"
    yield from (each.unnamed for each in merged if each.unnamed)
