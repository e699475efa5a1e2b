"""Rules B1 to B9: the commits, digests, images, models and tools that a receipt is bound to."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.identities import LoadedFile, Runtime, Written, full
from verifier.checks.receipt.document.model import ClaimKind, Receipt
from verifier.checks.receipt.numbers.alike import RowRule
from verifier.checks.receipt.numbers.samples import DIGESTS, Row
from verifier.checks.receipt.study import Study
from verifier.core.digest import HEX64

#: Digits of a whole SHA-256, and of the shorter of git's two object ids.
_WHOLE: Final = {"sha256": 64, "gitCommit": 40, "gitBlob": 40}
_HEX: Final = re.compile("[0-9a-f]+")
_MEASURED: Final = Uncheckable(missing="the full commit that was measured, subject source")


def b1_exact_head(study: Study) -> Answer:
    """Ask that the commit of the claim is the one that was measured, from a clean tree.

    An equality proof that covers every loaded file stands for the same commit (B2).
    """
    receipt = study.receipt
    measured, claimed = full(receipt.source), full(receipt.claim_head)
    if measured is None:
        return _MEASURED
    for head in filter(None, (study.companions.head, claimed)):
        if head != measured and (head != claimed or _uncovered(receipt)):
            return Broken(expected=f"commit {head}", got=f"measured at commit {measured}")
    if receipt.runtime and receipt.runtime.dirty:
        return Broken(
            expected=f"the files of commit {measured}",
            got="a working tree with other changes, dirtyTree",
            condition="dirty",
        )
    if claimed is None and (receipt.claim_head or study.companions.head is None):
        return Uncheckable(missing="the full commit that the claim is about, claimHead")
    return Holds(detail=measured[:12])


def b2_refreshed_head(study: Study) -> Answer:
    """Ask that a head that was not measured inherits only what is shown to be equal."""
    receipt = study.receipt
    measured, claimed = full(receipt.source), full(receipt.claim_head)
    heads = tuple(filter(None, (study.companions.head, claimed)))
    if measured is None:
        return _MEASURED
    for each in receipt.equality:
        if full(each.measured) and full(each.head) and full(each.measured) != full(each.head):
            return Broken(expected=f"{each.path} as it was measured", got="other bytes at the head")
    for head in heads:
        if head == measured:
            continue
        proof = "no proof about this commit" if head != claimed else _uncovered(receipt)
        if proof:
            return Broken(expected=f"proof that every loaded file is the same at {head}", got=proof)
    if not heads:
        return Uncheckable(missing="the full commit that the claim is about, claimHead")
    same = all(head == measured for head in heads)
    return Holds(detail="nothing is inherited" if same else "only for the files that are compared")


def _uncovered(receipt: Receipt) -> str | None:
    """Say which loaded file is not shown to be the same at the head, None if all are."""
    files = receipt.runtime.files if receipt.runtime else ()
    if not receipt.equality:
        return "no equality proof"
    if not files:
        return "no list of the files that were loaded"
    shown = {each.path: each for each in receipt.equality}
    for file in files:
        each = shown.get(file.path)
        if each is None or full(each.head) is None:
            return f"{file.path} is not compared"
        if full(each.measured) != full(each.head):
            return f"{file.path} differs"
        if full(each.measured) != full(file.loaded):
            return f"{file.path} was loaded with other bytes than are compared"
    return None


def b3_full_digests(study: Study) -> Answer:
    """Ask that every digest is complete; an abbreviated one binds nothing (seeds/004)."""
    digests, noted = study.receipt.digests, study.tally.broken.get("B3")
    short = [each for each in digests if _short(each)]
    if short:
        got = ", ".join(f"{each.path}, {len(each.text)} characters" for each in short)
        return Broken(expected="64 hex digits, of a commit 40", got=got, path=short[0].path)
    if noted:
        return Broken(expected="64 hex digits", got=str(noted), path="samples")
    return Holds(detail=f"{len(digests)} digests") if digests else Uncheckable(missing="any digest")


def b4_whole_digests(study: Study) -> Answer:
    """Ask that each digest is one whole token: no prefix, nothing run together (seeds/004)."""
    digests, noted = study.receipt.digests, study.tally.broken.get("B4")
    wrong = [each for each in digests if each.full is None and not _short(each)]
    if wrong:
        got = ", ".join(f"{each.path}, {len(each.text)} characters" for each in wrong)
        return Broken(expected="lower-case hex digits alone", got=got, path=wrong[0].path)
    if noted:
        return Broken(expected="lower-case hex digits alone", got=str(noted), path="samples")
    return Holds(detail=f"{len(digests)} digests") if digests else Uncheckable(missing="any digest")


def _short(written: Written) -> bool:
    return _abbreviated(written.text, _WHOLE[written.algorithm])


def _abbreviated(text: str, whole: int) -> bool:
    """Whether this is the beginning of a digest, with or without dots behind it."""
    stem = text.rstrip("….")
    return len(stem) < whole and _HEX.fullmatch(stem) is not None


def b3_row(row: Row) -> str | None:
    """Ask that no digest of a row is abbreviated."""
    for name in DIGESTS:
        digest = row.get(name)
        if digest is not None and len(digest["sha256"]) < 64 + 3:  # dots behind it
            text = digest["sha256"]
            if len(text) != 64 and _abbreviated(text, 64):  # noqa: PLR2004
                return f"{name} abbreviated to {len(text)} characters"
    return None


def b4_row(row: Row) -> str | None:
    """Ask that no digest of a row is anything but a digest."""
    for name in DIGESTS:
        digest = row.get(name)
        if digest is not None and not HEX64.fullmatch(digest["sha256"]):
            text = digest["sha256"]
            if not _abbreviated(text, _WHOLE["sha256"]):
                return f"{name} of {len(text)} characters is no digest"
    return None


def b5_one_image(study: Study) -> Answer:
    """Ask for one image on every rank, its id and its registry digest kept apart.

    An id is the digest of the image's configuration, which the manifest names by digest: the two
    cannot be equal (OCI image specification, manifest and config).
    """
    runtime, subject = study.receipt.runtime, full(study.receipt.image)
    if runtime is None or not runtime.images:
        return Uncheckable(missing="the image of each rank, runtime.images")
    ids = {full(image.id) for image in runtime.images}
    registries = {full(image.registry) for image in runtime.images}
    for what, found in (("id", ids), ("registryDigest", registries)):
        if len(known := found - {None}) > 1:
            got = f"{len(known)} of them: {', '.join(sorted(filter(None, known)))}"
            return Broken(expected=f"one image {what} on every rank", got=got)
    if same := ids & registries - {None}:
        got = f"{min(filter(None, same))} as both"
        expected = "the image id apart from the registry digest"
        return Broken(expected=expected, got=got, condition="kinds")
    if subject and None not in ids | registries and subject not in ids | registries:
        expected, got = f"the image that ran, {min(filter(None, ids))}", f"subject image {subject}"
        return Broken(expected=expected, got=got, condition="subject")
    return _images_missing(study, runtime, ids, registries)


def _images_missing(
    study: Study, runtime: Runtime, ids: set[str | None], registries: set[str | None]
) -> Answer:
    """Say what is not there to tell that every rank ran the image of the receipt."""
    if None in ids and None in registries:
        return Uncheckable(missing="the image id of every rank, in full")
    if full(study.receipt.image) not in (ids | registries) - {None}:
        return Uncheckable(missing="the image by its id or registry digest, subject image")
    ranks = {image.rank for image in runtime.images}
    gap = next(rank for rank in count() if rank not in ranks)
    if gap <= max(ranks | {file.rank for file in runtime.files}):
        return Uncheckable(missing=f"the image of rank {gap}")
    return Holds(detail=f"{len(ranks)} ranks")


def b6_loaded_bytes(study: Study) -> Answer:
    """Ask that what was loaded after start-up, on each rank, is what is recorded.

    A difference is disclosed by a deviation whose `affects` names the path (seeds/000: the
    coordinator with one more import).
    """
    files = study.receipt.runtime.files if study.receipt.runtime else ()
    if wrong := list(_otherwise(files)):
        affects = [set(named) for _, named in study.receipt.deviations]
        disclosed = set[str]().union(*affects)
        hidden = [file for file in wrong if file.path not in disclosed]
        file = next(iter(hidden or wrong))
        arms = {arm.id for arm in study.receipt.arms}
        reach = {name for named in affects if named & {f.path for f in wrong} for name in named}
        lost = study.named(ClaimKind.ISOLATED_HEAD, ClaimKind.ATTRIBUTION)
        lost |= {c.id for c in study.claims() if arms & reach & (set(c.arms) or arms)}
        return Broken(
            expected=f"{file.path} as recorded, {full(file.recorded)}",
            got=f"rank {file.rank} loaded {full(file.loaded)}",
            condition="" if hidden else "disclosed",
            claims=frozenset() if hidden else frozenset(lost),
        )
    return _files_missing(study, files) or Holds(detail=f"{len(files)} files over all ranks")


def _otherwise(files: tuple[LoadedFile, ...]) -> Iterator[LoadedFile]:
    """Return files whose bytes are not those recorded, or not those of the first rank."""
    first: dict[str, str] = {}
    for file in files:
        loaded, recorded = full(file.loaded), full(file.recorded)
        if loaded and (loaded != (recorded or loaded) or first.get(file.path, loaded) != loaded):
            yield file
        elif loaded:
            first.setdefault(file.path, loaded)


def _files_missing(study: Study, files: tuple[LoadedFile, ...]) -> Uncheckable | None:
    if not files:
        return Uncheckable(missing="hashes of the files after start-up, runtime.loadedFiles")
    for file in files:
        if full(file.loaded) is None or full(file.recorded) is None:
            return Uncheckable(missing=f"full hashes of {file.path} on rank {file.rank}")
    images = study.receipt.runtime.images if study.receipt.runtime else ()
    ranks = {file.rank for file in files} | {image.rank for image in images}
    for path in sorted({file.path for file in files}):
        if gaps := ranks - {file.rank for file in files if file.path == path}:
            return Uncheckable(missing=f"the hash of {path} on rank {min(gaps)}")
    return None


def b7_model_revisions(study: Study) -> Answer:
    """Ask that the model, its tokenizer and its draft model are pinned to full revisions."""
    models, noted = study.receipt.models, study.tally.broken.get("B7")
    for model in models:
        if model.revision and model.revision.full is None:
            got = f"{len(model.revision.text)} characters"
            return Broken(
                expected=f"the full revision of the {model.role} model",
                got=got,
                path=model.revision.path,
            )
    if noted:
        return Broken(expected="a draft model with its revision", got=str(noted), path="models")
    for role in ("target", "tokenizer"):
        if role not in {model.role for model in models}:
            return Uncheckable(missing=f"the {role} model, models")
    bare = [model.role for model in models if model.revision is None]
    return Uncheckable(missing=f"the revision of the {bare[0]} model") if bare else Holds()


def b7_rows(receipt: Receipt) -> Iterator[RowRule]:
    """Ask of the rows whether tokens were drafted, where no draft model is named."""
    if not any(model.role == "draft" for model in receipt.models):
        yield RowRule("B7", _drafted)


def _drafted(row: Row) -> str | None:
    drafts = (row.get("counterDeltas") or {}).get("drafts")
    return f"{drafts} drafts" if drafts else None


def b8_one_collector(study: Study) -> Answer:
    """Ask that one and the same program measured every arm."""
    collector = study.receipt.collector
    used = {f"arm {arm.id}": full(arm.collector) for arm in study.started}
    used["collector"] = full(collector.executable) if collector else None
    if len(set(used.values()) - {None}) > 1:
        got = ", ".join(f"{where} {digest}" for where, digest in used.items() if digest)
        return Broken(expected="one executable in every arm", got=got)
    if lacking := [where for where, digest in used.items() if digest is None]:
        return Uncheckable(missing=f"the full digest of the executable, {', '.join(lacking)}")
    return Holds(detail=f"{len(used) - 1} arms") if study.started else Uncheckable(missing="arms")


def b9_published_tool(study: Study) -> Answer:
    """Ask that the executable is known from a published release, and not from staging.

    Releases are rebuilt: what was staged is not what was published (seeds/000, seeds/002).
    """
    collector, beside = study.receipt.collector, study.companions
    executable = full(collector.executable) if collector else None
    if collector is None or executable is None:
        return Uncheckable(missing="the full digest of the executable, collector.executable")
    given = {executable, full(collector.archive)} - {None}
    expected = f"{collector.name} {collector.version} as it was published"
    lost = study.named(ClaimKind.PUBLISHED_TOOL)
    if staged := given & beside.staging:
        got = f"{min(filter(None, staged))}, which was only staged"
        return Broken(expected=expected, got=got, condition="staging", claims=lost)
    if unknown := given - beside.published:
        got = f"{min(filter(None, unknown))}, which no registered release holds"
        return Broken(expected=expected, got=got, claims=lost)
    return Holds(detail=f"{collector.name} {collector.version}")


RULES: Final = (
    Rule(
        "B1",
        "exact-head",
        "exact-head",
        {"": Consequence.STALE, "dirty": Consequence.STALE},
        b1_exact_head,
        "measure at that commit, or cite the receipt for the one it was measured at",
    ),
    Rule(
        "B2",
        "refreshed-head",
        "exact-head",
        only(Consequence.STALE),
        b2_refreshed_head,
        "measure at the new head, or compare every loaded file at both commits, equality",
    ),
    Rule(
        "B3",
        "full-digests",
        "identity",
        only(Consequence.UNCHECKABLE),
        b3_full_digests,
        "write every digest in full, taken from the thing itself and not from a message about it",
    ),
    Rule(
        "B4",
        "whole-digests",
        "identity",
        only(Consequence.INVALID),
        b4_whole_digests,
        "write the hex digits alone, in lower case, as the tool that hashed printed them",
    ),
    Rule(
        "B5",
        "one-image",
        "identity",
        dict.fromkeys(("", "kinds", "subject"), Consequence.INVALID),
        b5_one_image,
        "read id and registry digest on every rank, and measure again if they are not one image",
    ),
    Rule(
        "B6",
        "loaded-bytes",
        "identity",
        {"": Consequence.INVALID, "disclosed": Consequence.LIMITS},
        b6_loaded_bytes,
        "measure again with what is recorded, or disclose the file as a deviation",
    ),
    Rule(
        "B7",
        "model-revisions",
        "identity",
        only(Consequence.UNCHECKABLE),
        b7_model_revisions,
        "name the full commit of each model's repository that was loaded",
    ),
    Rule(
        "B8",
        "one-collector",
        "identity",
        only(Consequence.INVALID),
        b8_one_collector,
        "measure every arm with the same executable",
    ),
    Rule(
        "B9",
        "published-tool",
        "identity",
        {"": Consequence.LIMITS, "staging": Consequence.LIMITS},
        b9_published_tool,
        "measure with the published release, or do not claim that you did",
    ),
)
