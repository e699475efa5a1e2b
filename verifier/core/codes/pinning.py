"""Of pinning: why an entry could not be derived, and of auditing one against what was published."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final[tuple[Code, ...]] = (
    # where the text was published
    Code("pin-commit-abbreviated", "producer", UNDECIDED, "a commit is not named by its full id"),
    Code("pin-path-absent", "producer", UNDECIDED, "the commit holds no file of that path"),
    Code("pin-clone-missing", "producer", UNDECIDED, "no clone of the producer was given"),
    Code("pin-symbol-absent", "producer", UNDECIDED, "the file defines no such name"),
    Code("pin-symbol-ambiguous", "producer", UNDECIDED, "the file defines the name more than once"),
    Code("pin-text-absent", "producer", UNDECIDED, "the text is not in the producer's file"),
    Code("pin-text-ambiguous", "producer", UNDECIDED, "more than one literal may be the text"),
    Code("pin-text-computed", "producer", UNDECIDED, "the text is computed at run time"),
    Code("pin-origins-differ", "producer", REJECTED, "two origins of one version differ"),
    # hosts
    Code(
        "pin-host-not-insertions", "hosts", REJECTED, "a patched host is no pristine one plus lines"
    ),
    Code("pin-host-unparsable", "hosts", UNDECIDED, "a patched host is no Python"),
    Code("pin-text-not-in-host", "hosts", REJECTED, "a patched host does not carry the text"),
    Code("pin-first-line", "hosts", UNDECIDED, "the first line does not find the helper"),
    Code("pin-hosts-differ", "hosts", REJECTED, "hosts of one version carry different things"),
    # sites
    Code("pin-site-overlap", "sites", REJECTED, "two blocks of the installer share bytes"),
    Code("pin-site-context", "sites", UNDECIDED, "an inserted line has no context of its own"),
    Code("pin-sites-differ", "sites", REJECTED, "other sites under the same marker"),
    Code("pin-imports-differ", "sites", REJECTED, "imports are added at different places"),
    # names
    Code("pin-name-unbound", "names", UNDECIDED, "helper or sites read a name that nothing binds"),
    # what is registered already
    Code("pin-body-drifted", "registered", REJECTED, "another body under the same marker and name"),
    Code("pin-version-shadows", "registered", REJECTED, "a version would hide a registered one"),
    Code("pin-marker-owned", "registered", REJECTED, "the marker or a name is another lineage's"),
    # the check that will be used
    Code("pin-not-proved", "proof", REJECTED, "a patched host would not verify by the entry"),
    # entries against public source
    Code("audit-contradicted", "producers", REJECTED, "the producer published something else"),
    Code("audit-unverifiable", "producers", UNDECIDED, "what was published cannot be looked at"),
    Code("audit-no-producer", "producers", UNDECIDED, "an entry does not say where it is from"),
    Code("audit-field-differs", "fields", REJECTED, "a field is not what its recipe derives"),
    Code("audit-not-derived", "fields", UNDECIDED, "the entry cannot be derived again"),
    Code("audit-pins-disagree", "agreement", REJECTED, "entries contradict each other"),
    # two registries
    Code("vouch-gained", "vouches", REJECTED, "artifacts that only the second vouches for"),
    Code("vouch-lost", "vouches", REJECTED, "artifacts that only the first vouches for"),
    Code("vouch-changed", "vouches", REJECTED, "what is said of an entry is not the same"),
    Code("vouch-unauthenticated", "vouches", UNDECIDED, "a registry that does not authenticate"),
    Code("audit-digest-unknown", "documents", UNDECIDED, "a document quotes an unknown digest"),
)
