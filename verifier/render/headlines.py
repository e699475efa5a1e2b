"""The first line of a report: what the verdict is about.

One function a kind of subject; a new kind adds one here and nothing elsewhere.
"""

import re
from collections.abc import Callable
from typing import Final

from verifier.core.coverage import State
from verifier.core.finding import Finding
from verifier.core.outcome import Identified, Result, StudyFacts
from verifier.core.verdict import Verdict

#: A commit in a headline is shortened as digests are; below it stands whole, to be copied.
_COMMIT: Final = re.compile("commit ([0-9a-f]{12})[0-9a-f]{28}")
_CANNOT: Final = ", and cannot be brought to the version asked for"


def headline(item: Result, main: Finding | None) -> str:
    """Say what the verdict is about."""
    if main is not None and main.row.facet == "registry":
        about = "" if item.kind == "registry" else f"{item.subject.name}: "
        return f"{about}the registry cannot be used"
    return _HEADLINES[item.kind](item, main)


def _of_registry(_item: Result, _main: Finding | None) -> str:
    return "the registry authenticates"


def _of_tree(item: Result, _main: Finding | None) -> str:
    if not item.subject.digests:
        return f"{item.subject.name}: not read whole"
    length = item.subject.length or 0
    size = "1 byte" if length == 1 else f"{length:,} bytes"
    return f"{item.subject.name}: {item.coverage[0].detail}, {size}, all of them read"


def _of_diff(item: Result, main: Finding | None) -> str:
    if item.coverage[0].state is State.NOT_CHECKED:
        return f"{item.subject.name} were not compared: one was not read whole"
    if item.verdict is Verdict.UNDECIDED:
        what = "nothing to compare" if main is None else "the same content"
        return f"{item.subject.name} hold {what}"
    return f"{item.subject.name} are {'the same' if main is None else 'not the same'}"


def _of_helper(item: Result, main: Finding | None) -> str:
    name = item.subject.name
    found = next(iter(item.identified), None)
    if found is None and item.claims:
        says = " and ".join(item.claims)
        return f"{name} says {says}, its bytes do not" if _says_no(item) else f"{name} says {says}"
    if found is None:
        return f"{name} is not what was published" if _says_no(item) else f"{name} is not known"
    if found.version == "pristine":
        stands = _CANNOT if main is not None and main.code.startswith("migrate-") else ""
        return f"{name} is the registered {found.detail} of {found.entry}{stands}"
    return f"{name} carries {found.entry} {found.version}{_standing(item, found, main)}"


def _of_head(item: Result, _main: Finding | None) -> str:
    commits = [found for found in item.identified if found.status == "commit"]
    sides = {found.entry: found.version[:12] for found in commits}
    name = _shortened(item.subject.name)
    into = f" into {sides['base']}" if "base" in sides else ""
    if item.verdict is Verdict.VERIFIED:
        return f"{name} may be merged{into}"
    return f"{name} {'may not' if _says_no(item) else 'is not yet fit to'} be merged{into}"


def _of_policy(item: Result, main: Finding | None) -> str:
    return f"{item.subject.name} {'is sound' if main is None else 'is not as it should be'}"


def _of_still_valid(item: Result, _main: Finding | None) -> str:
    sides = {found.entry: found.version[:12] for found in item.identified}
    covers = "covers" if item.verdict is Verdict.VERIFIED else "does not cover"
    return f"what was said of {sides['then']} {covers} {sides['now']}"


def _shortened(name: str) -> str:
    return re.sub("([0-9a-f]{12})[0-9a-f]{28,52}", r"\1", name)


def _of_composition(item: Result, main: Finding | None) -> str:
    name, found = item.subject.name, next(iter(item.identified), None)
    if found is None:
        nothing = main is not None and main.code == "composition-not-here"
        return f"{name} {'holds nothing of that composition' if nothing else 'is not known'}"
    if found.current and not _says_no(item):
        rest = ", not all that is demanded" if main is not None else ""
        return f"{name} is {found.entry} at its final stage, {found.version}{rest}"
    if found.current or found.version == "changed":
        return f"{name} is not {found.entry} as it was composed"
    return f"{name} stands at {_stage(found)} of {found.entry}"


def _of_proof(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        last = next((found.version for found in item.identified), "")
        return f"{item.subject.name} follows from its base, stage by stage, up to {last}"
    not_so = "does not follow from its base as it is pinned"
    return f"{item.subject.name} {not_so if _says_no(item) else 'is not proved'}"


def _of_image(item: Result, main: Finding | None) -> str:
    name, found = item.subject.name, next(iter(item.identified), None)
    facet, code = (main.row.facet, main.code) if main is not None else ("", "")
    if code in _IMAGES:
        return f"{name} {_IMAGES[code]}"
    if facet in ("graph", "tree", "input") or code == "image-platform-config":
        return f"{name} {'contradicts itself' if _says_no(item) else 'is not all that it says'}"
    if found is not None and not _says_no(item):
        return f"{name} is {found.entry}{', not all that is demanded' if main else ''}"
    if item.verdict is Verdict.VERIFIED:
        return f"{name} is the image asked for"
    how = "" if _says_no(item) else " known to be"
    return f"{name} is not{how} the image that was pinned"


def _of_runtime(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        return f"every rank runs {item.subject.name}"
    if _says_no(item):
        return f"not every rank runs {item.subject.name}"
    return f"not known whether every rank runs {item.subject.name}"


def _of_bundle(item: Result, main: Finding | None) -> str:
    name = item.subject.name
    if item.verdict is Verdict.VERIFIED:
        return f"{name} is signed by {next((f.entry for f in item.identified), 'whom you named')}"
    if main is not None and main.code == "statement-says-no":
        return f"{name} is signed, with a statement that says no"
    if main is not None and main.row.facet == "subject":
        return f"{name} is not what was signed"
    return f"{name} is not{' proved to be' if not _says_no(item) else ''} signed by whom you named"


def _of_statement(item: Result, main: Finding | None) -> str:
    name = item.subject.name
    if main is None:
        by = " and ".join(found.entry for found in item.identified)
        says = f", and says {item.claims[0]}" if item.claims else ""
        return f"{name} is signed by {by or 'somebody whom a waiver accepts'}{says}"
    told = _STATEMENTS.get(main.code) or _STATEMENTS.get(main.row.facet)
    return f"{name} {told or 'is not known to be good'}"


def _of_chain(item: Result, main: Finding | None) -> str:
    if main is not None and main.row.facet == "layout":
        return (
            f"{item.subject.name} is no layout to judge by{'' if _says_no(item) else ' as it is'}"
        )
    if item.verdict is Verdict.VERIFIED:
        return f"every step of {item.subject.name} was done as laid down"
    if _says_no(item):
        return f"{item.subject.name} was not followed"
    return f"not known whether {item.subject.name} was followed"


def _of_commit(item: Result, main: Finding | None) -> str:
    if main is not None and main.code == "git-signature-merged-tag":
        return f"{item.subject.name} merges a tag that is not as it was signed"
    if item.verdict is Verdict.VERIFIED:
        return f"{item.subject.name} is signed by whom you named"
    how = "is not" if _says_no(item) else "is not known to be"
    return f"{item.subject.name} {how} signed by whom you named"


def _of_release(item: Result, _main: Finding | None) -> str:
    name, found = item.subject.name, next(iter(item.identified), None)
    if found is None:
        return f"{name} is {'not' if _says_no(item) else 'not known to be'} what was published"
    known = any(each.facet == "published" and each.state is State.HELD for each in item.coverage)
    rest = "" if item.verdict is Verdict.VERIFIED else ", not all that is demanded"
    return f"{name} {'is' if known else 'agrees with itself that it is'} {found.entry}{rest}"


def _of_receipt(item: Result, main: Finding | None) -> str:
    """Say what is left to be cited; of one that is not verified, why in one clause."""
    name, study = item.subject.name, item.study
    if study is None:
        return f"{name} was not judged"
    left = sum(not claim.lost for claim in study.claims)
    told = f"{left} of {len(study.claims)} claims left" if study.claims else "no claim is made"
    if item.verdict is Verdict.VERIFIED:
        return f"{name}: {'every claim stands' if left == len(study.claims) and left else told}"
    if main is not None and main.code == "receipt-b1-exact-head":
        return _COMMIT.sub(r"\1", f"{name} was {main.got}, not at {main.expected}")
    if main is not None and main.code == "receipt-unsigned" and study.state in ("pass", "limits"):
        return f"{name}: {told}, and nobody signed it"
    if _says_no(item):
        return f"{name}: {_refused(study, main)}"
    why = _OPEN.get(study.state, "not all that is demanded holds")
    if main is not None and main.row.facet in ("signature", "signer"):
        why = _BESIDE["signature"]
    return f"{name}: {why}; {told}"


def _refused(study: StudyFacts, main: Finding | None) -> str:
    """Say why a study is rejected; wrong figures first, for these are what is cited."""
    wrong = sum(figure.state == "inconsistent" for figure in study.figures)
    if wrong:
        are = "is" if wrong == 1 else "are"
        return f"{wrong} of {len(study.figures)} figures {are} not what the samples give"
    facet = main.row.facet if main is not None else ""
    return _REFUSED.get(study.state) or _BESIDE.get(facet, "it does not hold")


def _of_pin(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        return f"{item.subject.name} can be pinned"
    return f"{item.subject.name} is not pinned; nothing was written"


def _of_audit(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        return f"{item.subject.name} is what was published"
    not_so = "is not what was published" if _says_no(item) else "is not confirmed"
    return f"{item.subject.name} {not_so}"


def _of_agreement(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        return "the entries of the registry agree with each other"
    if _says_no(item):
        return "the entries of the registry contradict each other"
    return "the registry does not know all that is quoted from it"


def _of_vouches(item: Result, main: Finding | None) -> str:
    name = item.subject.name
    if main is None:
        return f"{name} vouch for the same"
    if main.code == "vouch-unauthenticated":
        return f"{name} hold the same, and not both authenticate"
    if main.code == "vouch-changed":
        return f"{name} vouch for the same artifacts, and do not say the same of them"
    return f"{name} vouch for different artifacts"


def _of_scan(item: Result, _main: Finding | None) -> str:
    if item.verdict is Verdict.VERIFIED:
        return f"{item.subject.name} holds nothing that the scan knows"
    return f"{item.subject.name} must not be published as it is"


def _stage(found: Identified) -> str:
    words = {"base": "the base", "mixed": "several stages"}
    return words.get(found.version, f"stage {found.version}")


def _says_no(item: Result) -> bool:
    return item.verdict is Verdict.REJECTED


def _standing(item: Result, found: Identified, main: Finding | None) -> str:
    if main is not None and main.code == "helper-not-accepted":
        return ": authentic, not accepted"
    if main is not None and main.code.startswith("migrate-"):
        return _CANNOT
    if _says_no(item):
        return ", but not as published"
    if main is not None and main.code != "helper-not-expected":
        return ", not all that is demanded"
    return ", the current version" if found.current else ", not the current version"


_HEADLINES: Final[dict[str, Callable[[Result, Finding | None], str]]] = {
    "helper": _of_helper,
    "head": _of_head,
    "still-valid": _of_still_valid,
    "policy": _of_policy,
    "composition": _of_composition,
    "proof": _of_proof,
    "image": _of_image,
    "runtime": _of_runtime,
    "bundle": _of_bundle,
    "statement": _of_statement,
    "chain": _of_chain,
    "commit": _of_commit,
    "receipt": _of_receipt,
    "release": _of_release,
    "registry": _of_registry,
    "tree": _of_tree,
    "diff": _of_diff,
    "scan": _of_scan,
    "pin": _of_pin,
    "audit": _of_audit,
    "agreement": _of_agreement,
    "vouches": _of_vouches,
}
#: What an image is, by the finding that decided.
_IMAGES: Final = {
    "image-claim-only": "is what a daemon says, and no image",
    "image-claim-contradicts": "contradicts the pin: a daemon says it is another image",
    "image-recompressed": "is not that manifest, but it is that image",
    "image-relabelled": "holds the same files, and is not the image that was pinned",
    "image-extended": "is built on the image that was pinned, and is another one",
    "image-reserialised": "is not that document, but it says the same",
    "image-blob-missing": "is not whole",
    "image-two-images": "is two images at once",
    "image-several": "holds several images",
    "image-layout": "is no image of that form",
    "image-artifact": "is no image",
}
#: What is wrong with a statement, by the finding that decided, or else by its facet.
_STATEMENTS: Final = {
    "statement-payload-type": "is signed, and not as a statement",
    "statement-malformed": "is signed, and no statement that can be read",
    "statement-says-no": "is signed, and says no",
    "statement-says-otherwise": "is signed, and does not say what was asked for",
    "statement-subject-not-given": "is signed; nothing was named that it has to be about",
    "statement-subject-weak": "is signed, and not known to be about what was given",
    "signer-not-a-key": "is not judged: the signer has no key",
    "signer-time-unproven": "is signed, and not known to be from the signer's time",
    "signature": "is not signed as was asked for",
    "signer": "is signed, and not by whom it may be signed",
    "subject": "is signed, and not about what was given",
}
#: What the gravest broken rule makes of a study: of a rejected one, and of one that is left open.
_REFUSED: Final = {
    "invalid": "it cannot be used as evidence",
    "inconsistent": "it contradicts itself",
    "refuse": "it must not be published as it is",
    "fail": "a gate failed",
}
_OPEN: Final = {
    "incomplete": "not all of it was measured",
    "uncheckable": "something of it cannot be checked",
    "inconclusive": "its gates decide nothing",
    "waived": "a gate that failed was waived",
    "stale": "it is of another commit",
    "descriptive": "it describes, and no gate decides",
}
#: What else rejects a study, by the facet of the finding that decided.
_BESIDE: Final = {
    "gates": "it was not judged by the gates that were declared",
    "signature": "it is not signed as was asked for",
    "signer": "it is signed, and not by whom it may be signed",
}
