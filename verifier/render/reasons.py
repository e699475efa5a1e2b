"""The main reason of a verdict, and what one may do: the second and the last line of a report."""

from typing import Final

from verifier.core.codes import CODES
from verifier.core.finding import Finding
from verifier.core.outcome import Result
from verifier.core.verdict import Verdict

#: Kinds that no entry of the registry describes.
_HOLDING: Final = ("head", "still-valid", "policy")
_EMPTY: Final = {"tree": "it is empty", "diff": "both are empty"}
_REASONS: Final = {
    "chain": "its layout is signed, its links are, and every artifact follows its rules",
    "commit": "the signature holds over the bytes of the object",
    "registry": "every file is signed, every entry parses, the index is as derived",
    "statement": "as many have signed as were asked for, and it is about what was given",
    "tree": "read and hashed; compared with nothing",
    "diff": "content and modes are the same",
    "bundle": "the signature holds, and all that comes with it",
    "receipt": "every rule that the policy demands holds, every figure follows",
    "pin": "derived from what was published, and proved on every patched host",
    "agreement": "a digest has one length wherever it is pinned, and a commit one tree",
    "audit": "every producer that is asked for was found, and says what the entry says",
    "vouches": "every digest, version, status and alias is in both",
    "scan": "no credential, host, address, home, person, prompt, or hidden character",
}


def titled(code: str) -> str:
    """Print a code with its title."""
    return f"{code}: {CODES[code].title}"


def place(finding: Finding, item: Result) -> str:
    """Say where a finding is: another file than the subject, and the line if it tells one."""
    where, found = finding.where, []
    if where.path not in (None, item.subject.name):
        found.append(str(where.path))
    if where.line and finding.row.facet != "whole-file":
        found.append(f"line {where.line}")
    return f" ({', '.join(found)})" if found else ""


def reason(item: Result, main: Finding | None) -> str:
    """Say the main reason, a finding where there is one."""
    if main is not None:
        return f"{titled(main.code)}{place(main, item)}"
    if item.verdict is Verdict.VERIFIED:
        if item.kind in _REASONS:
            return _REASONS[item.kind]
        held = [c.facet for c in item.coverage if c.facet in item.demanded and c.state.holds]
        words = [facet.replace("-", " ") for facet in held]
        listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        waived = f"; waived: {', '.join(item.waived)}" if item.waived else ""
        many = len(words) > 1
        if item.kind in _HOLDING:
            return f"{listed} {'hold' if many else 'holds'}{waived}"
        return f"{listed} {'are' if many else 'is'} as registered{waived}"
    if item.kind in _EMPTY and not item.findings:
        return _EMPTY[item.kind]
    unmet = [c.facet for c in item.coverage if c.facet in item.demanded and not c.state.holds]
    return f"nothing says yes: {', '.join(unmet)} not checked"


def remedy(item: Result, main: Finding | None) -> str | None:
    """Say what one may do about a verdict; None where nothing needs doing."""
    if main is not None:
        return main.remedy
    if item.verdict is not Verdict.UNDECIDED:
        return None
    if item.kind in ("tree", "diff"):
        return "name a folder, commit or archive that holds something"
    return "judge with a policy that demands what can be checked here"
