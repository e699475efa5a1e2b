"""What is this file, or this digest? Known or not; never a verdict."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from verifier.ask.answers import Answer, Answered, failed, refusal
from verifier.ask.helper import outcomes, subject
from verifier.ask.reading import Reach, is_tree, read_file
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.helper import Lineage, PinRow
from verifier.catalog.open import Catalog, Refused
from verifier.checks.helper.why import nearest_digest
from verifier.core.demand import HelperDemand, Pristine
from verifier.core.digest import KINDS, Digest, Pin
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Outcome
from verifier.core.value import frozen
from verifier.sources.file import FileBytes
from verifier.sources.image.argument import is_image

#: At least 7 hex digits, as people cut them off, in any case, or behind a kind.
_NEARLY = re.compile(r"((?:[a-z-]+:)?sha256:|git-[a-z]+:)?([0-9A-Fa-f]{7,})")
_NOTHING_DEMANDED = HelperDemand(facets=frozenset(), pristine=Pristine.VERIFIED)


def identify(
    arguments: Sequence[str],
    *,
    trust: Trust | None = None,
    max_size: int = HOST_BYTES,
    stdin: BinaryIO | None = None,
    reach: Reach | None = None,
) -> Answered:
    """Say what each argument is: a digest if it is spelled like one, else a file or a tree.

    Write `./` before the name of a file that is spelled like a digest. Raises `WrongCallError`
    without arguments.
    """
    trust = trust or open_trust()
    if not arguments:
        raise WrongCallError(
            "nothing to identify", code="wrong-call", remedy="name a file or a digest"
        )
    answers = []
    for argument in arguments:
        digest = Digest.parse(argument)
        if digest is not None:
            answers.append(_of_digest(digest, argument, trust.catalog))
            continue
        _refuse_cut_off(argument)
        if is_image(argument):
            from verifier.ask.image_identity import identify_image  # noqa: PLC0415  (as below)

            answers.append(identify_image(argument, trust.catalog))
            continue
        if is_tree(argument):
            # Most questions are about digests and files, which pay for no tree.
            from verifier.ask.tree_identity import identify_tree  # noqa: PLC0415

            answers.append(identify_tree(argument, trust.catalog, reach or Reach()))
            continue
        try:
            reading = read_file(argument, limit=max_size, stdin=stdin, reach=reach or Reach())
        except WrongCallError:
            raise
        except PinproofError as error:
            answers.append(
                failed(argument, error.code, error.message, error.remedy, exit_code=error.exit)
            )
            continue
        if reading.file is None:
            headline = f"{argument}: its bytes could not be proven"
            refused = Refused(findings=reading.findings)
            answers.append(refusal(argument, refused, headline=headline))
        else:
            answers.append(_of_file(reading.file, trust.catalog))
    return Answered(question="identify", answers=tuple(answers), report=trust.report(()))


def _refuse_cut_off(argument: str) -> None:
    """Refuse what is nearly a digest, unless a file has that name."""
    near = _NEARLY.fullmatch(argument)
    if near is None or Path(argument).exists():
        return
    kind, digits = near[1] or "", near[2]
    whole = "40 or 64" if kind.startswith("git-") or not kind else "64"
    expected = f"{whole} lower-case hex digits"
    kinds = ", ".join(KINDS)
    raise WrongCallError(
        f"{argument} is no digest: expected {expected}, got {len(digits)} characters",
        code="wrong-call",
        remedy=f"give it complete, as sha256:… or <kind>:sha256:… ({kinds}); or ./ and a file",
    )


def _of_digest(digest: Digest, spelling: str, catalog: Catalog | Refused) -> Answer:
    if isinstance(catalog, Refused):
        return refusal(spelling, catalog)
    found = _pinned(digest, catalog)
    if isinstance(found, Refused):
        return refusal(spelling, found)
    as_asked = [hit for hit in found if digest.kind in (None, hit.kind)]
    if as_asked:
        row = as_asked[0]
        return Answer(
            known=True,
            name=spelling,
            headline=f"{row.name}, {row.what}",
            rows=_rows_of(as_asked),
            data={"entry": row.name, "row": row.row, "kind": row.kind},
        )
    if found:
        row = found[0]
        return Answer(
            known=False,
            name=spelling,
            headline=f"no {digest.kind} of this digest is registered",
            rows=(
                ("but", f"it is the digest of a {row.kind}: {row.name}, {row.what}"),
                ("you may", f"ask for {_spelt(row.kind, digest.hex)} if you meant that"),
            ),
        )
    near = nearest_digest(digest.hex, dict(_all_pins(catalog)))
    return Answer(
        known=False,
        name=spelling,
        headline="no entry of the registry has this digest",
        rows=(
            *((("but", f"one digit away: {near}"),) if near else ()),
            ("you may", "check where the digest comes from; pinproof list shows what is here"),
        ),
    )


@frozen
class _Pinned:
    """One row of an entry that a digest or git id is found in. `raw` is of the exact bytes."""

    name: str
    project: str
    row: str
    kind: str
    what: str
    length: str | None
    raw: str | None = None


def _pinned(digest: Digest, catalog: Catalog) -> list[_Pinned] | Refused:
    """Follow the index's hints to entries, and keep those where the pin really is."""
    index = catalog.index
    hints = index if isinstance(index, Refused) else index.rows(digest.hex)
    if isinstance(hints, Refused):
        return hints
    found: list[_Pinned] = []
    for hint in hints:
        of = _OF.get(hint.entry_kind, _of_helper)
        rows = of(catalog, hint.entry, hint.row, digest.hex)
        if isinstance(rows, Refused):
            return rows
        found += rows
    return found


def _of_helper(catalog: Catalog, name: str, row: str, digits: str) -> list[_Pinned] | Refused:
    entry = catalog.helper(name)
    if isinstance(entry, Refused):
        return entry
    rows = {each.row: each for each in entry.pins()}
    raw = rows.get(f"{row.split('/other/', maxsplit=1)[0]}/span") if "/other/" in row else None
    return [
        _Pinned(
            name=name,
            project=entry.project,
            row=row,
            kind=found.kind,
            what=found.what,
            length=_length(found.pin),
            raw=str(raw.pin) if raw else None,
        )
        for found in [rows[row]]
        if row in rows
        if found.pin.sha256 == digits
    ]


def _of_composition(catalog: Catalog, name: str, row: str, digits: str) -> list[_Pinned] | Refused:
    from verifier.catalog.entries.composition_rows import ids, pins  # noqa: PLC0415

    entry = catalog.composition(name)
    if isinstance(entry, Refused):
        return entry
    rows: list[tuple[str, str, str, str, str | None]] = [
        (
            found.row,
            found.kind,
            found.what,
            found.pin.sha256,
            _length(found.pin) if found.kind == "file" else None,
        )
        for found in pins(entry)
    ]
    rows += [(each.row, each.kind, each.what, each.id, None) for each in ids(entry)]
    return [
        _Pinned(name=name, project=entry.project, row=row, kind=kind, what=what, length=length)
        for its, kind, what, hexed, length in rows
        if (its, hexed) == (row, digits)
    ]


def _of_image(catalog: Catalog, name: str, row: str, digits: str) -> list[_Pinned] | Refused:
    from verifier.catalog.entries.image_rows import image_ids, image_pins  # noqa: PLC0415

    entry = catalog.image(name)
    if isinstance(entry, Refused):
        return entry
    return _rows_at(name, entry.project, (row, digits), image_pins(entry), image_ids(entry))


def _of_runtime(catalog: Catalog, name: str, row: str, digits: str) -> list[_Pinned] | Refused:
    from verifier.catalog.entries.image_rows import runtime_ids, runtime_pins  # noqa: PLC0415

    entry = catalog.runtime(name)
    if isinstance(entry, Refused):
        return entry
    return _rows_at(name, entry.project, (row, digits), runtime_pins(entry), runtime_ids(entry))


def _rows_at(
    name: str,
    project: str,
    at: tuple[str, str],
    pins: Iterable[PinRow],
    ids: Iterable[tuple[str, str, str, str]],
) -> list[_Pinned]:
    rows = [(p.row, p.kind, p.what, p.pin.sha256, _length(p.pin)) for p in pins]
    rows += [(row, kind, what, digits, "") for row, kind, digits, what in ids]
    return [
        _Pinned(name=name, project=project, row=row, kind=kind, what=what, length=length or None)
        for row, kind, what, digits, length in rows
        if (row, digits) == at
    ]


#: By the kind of an entry, what finds the rows of a digest in it.
_OF = {"composition": _of_composition, "image": _of_image, "runtime": _of_runtime}


def _length(pin: Pin) -> str:
    return "not published" if pin.length is None else f"{pin.length:,} bytes"


def _spelt(kind: str, digits: str) -> str:
    """Print a digest of a kind, if that kind has a spelling of its own."""
    return str(Digest(kind=kind if kind in KINDS else None, hex=digits))


def _all_pins(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for name in catalog.names("helper"):
        entry = catalog.helper(name)
        if isinstance(entry, Lineage):
            for row in entry.pins():
                yield row.pin.sha256, f"{row.pin.sha256} is {entry.name}, {row.what}"
    yield from _image_pins(catalog)
    if not catalog.names("composition"):
        return
    from verifier.catalog.entries.composition_rows import pins  # noqa: PLC0415

    for name in catalog.names("composition"):
        composed = catalog.composition(name)
        if not isinstance(composed, Refused):
            for row in pins(composed):
                yield row.pin.sha256, f"{row.pin.sha256} is {composed.name}, {row.what}"


def _image_pins(catalog: Catalog) -> Iterator[tuple[str, str]]:
    if not catalog.names("image"):
        return
    from verifier.catalog.entries.image_rows import image_pins  # noqa: PLC0415

    for name in catalog.names("image"):
        entry = catalog.image(name)
        if not isinstance(entry, Refused):
            for row in image_pins(entry):
                yield row.pin.sha256, f"{row.pin.sha256} is {entry.name}, {row.what}"


def _rows_of(hits: list[_Pinned]) -> tuple[tuple[str, str], ...]:
    found, *others = hits
    rows = [("kind", found.kind)]
    if found.length:
        rows.append(("length", found.length))
    rows.append(("project", found.project))
    if found.raw:
        note = "it is the digest after str.strip(); exact bytes are compared"
        rows.append(("note", f"{note}: {found.raw}"))
    rows += [("also", f"{other.name}, {other.what}") for other in others[:5]]
    if len(others) > 5:  # noqa: PLR2004  (one headline and five rows)
        rows.append(("also", f"{len(others) - 5} more rows"))
    return tuple(rows)


def _of_file(found: FileBytes, catalog: Catalog | Refused) -> Answer:
    if isinstance(catalog, Refused):
        return refusal(found.name, catalog)
    about = subject(found)
    known = [o for o in outcomes(found, catalog, _NOTHING_DEMANDED) if o.identified]
    if not known:
        hit = _of_digest(about.digests[0], found.name, catalog)
        rows = (("digest", str(about.digests[0])), ("you may", f"pinproof why {found.name}"))
        return (
            hit
            if hit.known
            else Answer(
                known=False,
                name=found.name,
                headline=f"{found.name} is nothing that the registry knows",
                rows=rows,
            )
        )
    return Answer(
        known=True,
        name=found.name,
        headline=f"{found.name} carries " + " and ".join(map(_named, known)),
        rows=(("digest", str(about.digests[0])), *(row for o in known for row in _states(o))),
        data={
            "identified": [
                {"entry": i.entry, "version": i.version, "status": i.status}
                for o in known
                for i in o.identified
            ]
        },
    )


def _named(outcome: Outcome) -> str:
    found = outcome.identified[0]
    if found.version == "pristine":
        return f"no helper: it is the {found.detail} of {found.entry}"
    current = ", the current version" if found.current else ""
    return f"{found.entry} {found.version} ({found.status}{current})"


def _states(outcome: Outcome) -> Iterator[tuple[str, str]]:
    for covered in outcome.coverage:
        if covered.facet != "bytecode":
            yield covered.facet.replace("-", " "), covered.words
    for finding in outcome.findings:
        if finding.row.outcome == "rejected":
            yield "but", f"{finding.code}: {finding.row.title}"
