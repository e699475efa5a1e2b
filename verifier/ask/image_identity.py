"""What is this image? Every digest of it with its kind, and the entries that know one."""

from verifier.ask.answers import Answer, failed, refusal
from verifier.ask.image import entries_of
from verifier.catalog.open import Catalog, Refused
from verifier.checks.image import Asked, check, every
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import in_order
from verifier.sources.image.argument import Source, parse
from verifier.sources.image.open import read

_WHOLE = ("archive", "index", "manifest", "config")


def identify_image(argument: str, catalog: Catalog | Refused) -> Answer:
    """Say which image a source holds; known if an entry pins it as a whole.

    Raises `WrongCallError` for an argument that is not written as a source, or a claim.
    """
    if isinstance(catalog, Refused):
        return refusal(argument, catalog)
    try:
        graph = read(_source(argument))
    except WrongCallError:
        raise
    except PinproofError as error:
        return failed(argument, error.code, error.message, error.remedy, exit_code=error.exit)
    found = every(graph)
    known = entries_of((named.digest.hex for named in found), catalog)
    if isinstance(known, Refused):
        return refusal(argument, known)
    outcome = check(graph, Asked(known=known))
    findings = in_order(outcome.findings)
    rejected = list(dict.fromkeys(f.code for f in findings if f.row.outcome == "rejected"))
    rows = [(named.kind, str(named.digest)) for named in found if named.kind in _WHOLE]
    layers = sum(named.kind == "diff-id" for named in found)
    rows.append(("layers", f"{layers} different, diff-ids computed again"))
    rows += [("but", code) for code in rejected]
    names = [identified.entry for identified in outcome.identified]
    held = bool(names) and not rejected
    rows.append(("you may", f"pinproof verify image {argument} --expect …"))
    return Answer(
        known=held,
        name=argument,
        headline=f"{argument} is {names[0]}" if names else f"{argument} is no registered image",
        rows=tuple(rows),
        data={
            "identified": [
                {"entry": each.entry, "version": each.version, "status": each.status}
                for each in outcome.identified
            ],
            "digests": [str(named.digest) for named in found],
        },
    )


def _source(argument: str) -> Source:
    source = parse(argument)
    if source.form != "docker-inspect":
        return source
    raise WrongCallError(
        f"{argument}: a claim is no image",
        code="wrong-call",
        remedy=f"pinproof verify image {argument} compares it with what is registered",
    )
