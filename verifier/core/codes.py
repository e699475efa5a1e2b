"""The one table of codes: facet, outcome and title of everything pinproof can say.

A code belongs to one facet and has exactly one outcome (ARCHITECTURE §3). Where CHECKS names
two outcomes for one step there are two codes. `docs/codes/<code>.md` explains each; codes are
stable: scripts and waivers name them, prose is never parsed.

Outcomes: `rejected` (the evidence says no), `undecided` (nothing says yes), `error` (there was
nothing to judge with; such a code is never a finding).
"""

from typing import Final, NamedTuple


class Code(NamedTuple):
    """One row: the facet it belongs to (`input` is always demanded), outcome, title."""

    code: str
    facet: str
    outcome: str
    title: str


_REJECTED, _UNDECIDED, _ERROR = "rejected", "undecided", "error"

_ROWS: Final = (
    # CHECKS helper, step 1: bytes that can be judged at all
    Code("helper-nul", "input", _UNDECIDED, "the file holds a NUL byte"),
    Code("helper-nul-marked", "input", _REJECTED, "a marked file holds a NUL byte"),
    Code("helper-bom", "input", _UNDECIDED, "the file starts with a byte order mark"),
    Code("helper-bom-marked", "input", _REJECTED, "a marked file starts with a byte order mark"),
    Code("helper-carriage-return", "input", _UNDECIDED, "the file holds carriage returns"),
    Code(
        "helper-carriage-return-marked",
        "input",
        _REJECTED,
        "a marked file holds carriage returns",
    ),
    Code("helper-not-utf8", "input", _UNDECIDED, "the file is not UTF-8"),
    Code("helper-not-utf8-marked", "input", _REJECTED, "a marked file is not UTF-8"),
    Code("helper-coding-cookie", "input", _UNDECIDED, "the file declares another encoding"),
    # steps 2 and 3: which versions to test
    Code("helper-unattested", "helper", _REJECTED, "the marker names a version never published"),
    Code("helper-revoked", "helper", _REJECTED, "the version was revoked"),
    Code("helper-mixed-markers", "helper", _REJECTED, "markers of more than one version"),
    Code("helper-name-unmarked", "helper", _REJECTED, "an owned name stands without a marker"),
    Code("helper-unknown-marker", "helper", _UNDECIDED, "only markers that no entry registers"),
    Code("helper-unrecognised", "helper", _UNDECIDED, "nothing in the file is registered"),
    Code("helper-pristine", "helper", _UNDECIDED, "a registered host without a helper"),
    # step 4: the helper's bytes
    Code("helper-missing", "helper", _REJECTED, "markers without a helper"),
    Code("helper-repeated", "helper", _REJECTED, "the helper's first line occurs more than once"),
    Code("helper-displaced", "helper", _REJECTED, "the helper does not stand on its own"),
    Code("helper-drifted", "helper", _REJECTED, "the helper's bytes are no published version"),
    Code("helper-end-unknown", "helper", _REJECTED, "what follows the helper is not registered"),
    Code(
        "helper-not-accepted",
        "helper",
        _UNDECIDED,
        "authentic, but the policy does not accept it",
    ),
    Code("helper-not-expected", "helper", _UNDECIDED, "authentic, but not the version asked for"),
    # step 5: the call sites
    Code("helper-site-missing", "sites", _REJECTED, "a call site is missing or drifted"),
    Code("helper-site-repeated", "sites", _REJECTED, "a call site occurs more than once"),
    Code("helper-site-continued", "sites", _REJECTED, "a call site begins inside a line"),
    Code("helper-site-context", "sites", _REJECTED, "a call site does not restore its context"),
    Code("helper-site-overlap", "sites", _REJECTED, "two call sites share bytes"),
    # step 6: what is left when all owned bytes are taken out
    Code(
        "helper-marker-elsewhere",
        "helper",
        _REJECTED,
        "a marker stands outside the owned bytes",
    ),
    Code("helper-tag-elsewhere", "helper", _UNDECIDED, "a spelling of the tag stands outside"),
    Code("helper-name-elsewhere", "helper", _REJECTED, "an owned name stands outside"),
    Code("helper-context-repeated", "sites", _REJECTED, "a call site's context is not unique"),
    # step 7: scope
    Code("helper-unparsable", "scope", _UNDECIDED, "the file does not parse with this Python"),
    Code("helper-invisible", "scope", _UNDECIDED, "invisible or reordering characters"),
    Code("helper-not-code", "scope", _REJECTED, "the helper's text is not the module's code"),
    Code("helper-decorated", "scope", _REJECTED, "a decorator wraps the helper"),
    Code("helper-rebound", "scope", _REJECTED, "an owned name is bound elsewhere"),
    Code("helper-site-not-code", "scope", _REJECTED, "a call site is no statement of its block"),
    Code("helper-site-dead", "scope", _REJECTED, "a call site can never run"),
    Code("helper-site-elsewhere", "scope", _UNDECIDED, "a call site stands in another place"),
    Code("helper-site-nested", "scope", _UNDECIDED, "a call site stands in a nested function"),
    Code("helper-site-rebound", "scope", _REJECTED, "what holds a call site is bound again"),
    Code("helper-site-decorated", "scope", _REJECTED, "what holds a call site is decorated"),
    Code("helper-class-patched", "scope", _UNDECIDED, "attributes of the class are assigned"),
    Code(
        "helper-import-missing",
        "scope",
        _REJECTED,
        "an import that the helper needs is missing",
    ),
    Code("helper-import-rebound", "scope", _REJECTED, "an import of the helper is bound again"),
    Code("helper-import-patched", "scope", _REJECTED, "an attribute of an import is assigned"),
    Code("helper-builtin-shadowed", "scope", _REJECTED, "a builtin of the helper is shadowed"),
    Code("helper-reflection-owned", "scope", _REJECTED, "reflection spells an owned name"),
    Code("helper-reflection", "scope", _UNDECIDED, "reflection could change the helper"),
    # step 8: the rest of the file
    Code("helper-rest-not-attested", "whole-file", _UNDECIDED, "the rest is no registered base"),
    # step 9: what Python would load instead
    Code("helper-shadowed", "bytecode", _REJECTED, "Python would load something else"),
    Code("helper-bytecode-unchecked", "bytecode", _UNDECIDED, "unchecked bytecode lies beside it"),
    Code("helper-bytecode-different", "bytecode", _UNDECIDED, "bytecode of other source"),
    # FORMATS §1: the registry does not authenticate; nothing of it is used
    Code("registry-untrusted-root", "registry", _UNDECIDED, "the registry starts at another root"),
    Code("registry-missing", "registry", _UNDECIDED, "a file of the registry is missing"),
    Code("registry-unlisted", "registry", _UNDECIDED, "a file that nothing signed lists"),
    Code(
        "registry-unreachable-role",
        "registry",
        _UNDECIDED,
        "metadata that nothing delegates to",
    ),
    Code("registry-link", "registry", _UNDECIDED, "a link or special file in the registry"),
    Code(
        "registry-name-unsafe",
        "registry",
        _UNDECIDED,
        "a name that is not plain, or leaves its folder",
    ),
    Code("registry-outside-paths", "registry", _UNDECIDED, "a role lists what it was not given"),
    Code("registry-too-large", "registry", _UNDECIDED, "more than the registry may hold"),
    Code("registry-malformed", "registry", _UNDECIDED, "metadata that breaks its format"),
    Code("registry-duplicate-key", "registry", _UNDECIDED, "metadata gives a key twice"),
    Code("registry-wrong-role", "registry", _UNDECIDED, "metadata of another role"),
    Code("registry-version", "registry", _UNDECIDED, "metadata of another version"),
    Code("registry-truncated", "registry", _UNDECIDED, "a file ends early"),
    Code("registry-tampered", "registry", _UNDECIDED, "bytes that were not signed"),
    Code("registry-swapped", "registry", _UNDECIDED, "one signed file in place of another"),
    Code("registry-weak-digest", "registry", _UNDECIDED, "a record without SHA-256 and length"),
    Code("registry-unsigned", "registry", _UNDECIDED, "metadata without a signature"),
    Code("registry-wrongly-signed", "registry", _UNDECIDED, "a signature that does not verify"),
    Code("registry-threshold", "registry", _UNDECIDED, "fewer keys signed than needed"),
    Code("registry-key-repeated", "registry", _UNDECIDED, "one key under two key ids"),
    Code("registry-key-id", "registry", _UNDECIDED, "a key id that is not the key's digest"),
    Code("registry-key-type", "registry", _UNDECIDED, "a kind of key that is not accepted"),
    Code("registry-expired", "registry", _UNDECIDED, "metadata has expired"),
    Code("registry-rolled-back", "registry", _UNDECIDED, "older than a version already seen"),
    Code("registry-replaced", "registry", _UNDECIDED, "the same version with other bytes"),
    Code("registry-entry-malformed", "registry", _UNDECIDED, "a signed entry breaks its format"),
    Code("registry-name-repeated", "registry", _UNDECIDED, "two projects use one name"),
    Code("registry-index-wrong", "registry", _UNDECIDED, "the look-up index contradicts an entry"),
    Code("entry-newer", "registry", _UNDECIDED, "the entry needs a newer pinproof"),
    Code("entry-unknown", "registry", _UNDECIDED, "the registry has no such entry"),
    # not findings: there was nothing to judge with
    Code("malformed", "input", _ERROR, "a document breaks its format"),
    Code("wrong-call", "input", _ERROR, "an argument is not understood"),
    Code("past-time", "input", _ERROR, "a past effective time needs --insecure-past-time"),
    Code("cannot-read", "input", _ERROR, "a file cannot be read"),
    Code("not-a-file", "input", _ERROR, "not a regular file"),
    Code("too-large", "input", _ERROR, "larger than the limit"),
    Code("changed-while-read", "input", _ERROR, "a file changed while it was read"),
    Code("cannot-write", "input", _ERROR, "a file cannot be written"),
    Code("no-shipped-data", "input", _ERROR, "pinproof was not installed with its data"),
    Code("internal", "input", _ERROR, "a fault of pinproof"),
)

CODES: Final[dict[str, Code]] = {row.code: row for row in _ROWS}
