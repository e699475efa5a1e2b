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
    # CHECKS trees and archives: what a source has to say of itself
    Code("tree-special", "tree", _UNDECIDED, "a device, FIFO or socket lies in the tree"),
    # CHECKS trees and archives: decompression
    Code(
        "tree-compression-unsupported",
        "tree",
        _UNDECIDED,
        "a compression that pinproof does not read",
    ),
    Code(
        "tree-compression-memory",
        "tree",
        _UNDECIDED,
        "decompressing needs more memory than allowed",
    ),
    Code("tree-compressed-damaged", "tree", _REJECTED, "compressed data are damaged"),
    Code("tree-compressed-truncated", "tree", _REJECTED, "compressed data end early"),
    Code("tree-compressed-trailing", "tree", _REJECTED, "something follows the compressed data"),
    Code("tree-bomb", "tree", _REJECTED, "it unpacks to far more than its size"),
    Code("tree-too-large", "tree", _REJECTED, "it unpacks to more than a tree may hold"),
    Code("tree-entry-too-large", "tree", _REJECTED, "an entry is larger than an entry may be"),
    Code("tree-too-many", "tree", _REJECTED, "more members than an archive may hold"),
    # names inside a tree
    Code("tree-name-absolute", "tree", _REJECTED, "a name starts at the root of the file system"),
    Code("tree-name-escapes", "tree", _REJECTED, "a name leaves the tree"),
    Code("tree-name-dot", "tree", _REJECTED, "a name has a segment that is a dot"),
    Code("tree-name-empty", "tree", _REJECTED, "a name has an empty segment"),
    Code("tree-name-nul", "tree", _REJECTED, "a name holds a NUL byte"),
    Code("tree-name-long", "tree", _REJECTED, "a name is too long or too deep"),
    Code("tree-name-repeated", "tree", _REJECTED, "two entries have one name"),
    Code("tree-name-two-kinds", "tree", _REJECTED, "a name is a file and a folder"),
    Code("tree-link-on-the-way", "tree", _REJECTED, "an entry lies behind a link of the tree"),
    Code("tree-link-target", "tree", _REJECTED, "a link leads nowhere that can be named"),
    Code("tree-name-backslash", "tree", _UNDECIDED, "a name holds a backslash"),
    Code("tree-name-not-utf8", "tree", _UNDECIDED, "a name is not UTF-8"),
    Code("tree-name-control", "tree", _UNDECIDED, "a name holds a line break or control character"),
    Code("tree-name-trailing", "tree", _UNDECIDED, "a name ends in a dot or a space"),
    Code("tree-name-drive", "tree", _UNDECIDED, "a name starts like a drive"),
    Code("tree-name-reserved", "tree", _UNDECIDED, "a name that Windows gives to a device"),
    Code("tree-name-case", "tree", _UNDECIDED, "two names differ in case alone"),
    Code(
        "tree-name-normalised", "tree", _UNDECIDED, "two names differ in their Unicode form alone"
    ),
    Code("tree-mode-special", "tree", _UNDECIDED, "a file runs with the rights of its owner"),
    # tar
    Code("tree-tar-checksum", "tree", _REJECTED, "a header whose checksum is wrong"),
    Code("tree-tar-field", "tree", _REJECTED, "a header field that has no one meaning"),
    Code("tree-tar-dialect", "tree", _UNDECIDED, "a kind of tar that pinproof does not read"),
    Code("tree-tar-truncated", "tree", _REJECTED, "the tar ends inside a member"),
    Code("tree-tar-unended", "tree", _REJECTED, "the tar has no end"),
    Code("tree-tar-lone-zero", "tree", _REJECTED, "an end block stands alone"),
    Code("tree-tar-trailing", "tree", _REJECTED, "something follows the end of the tar"),
    Code("tree-tar-padding", "tree", _REJECTED, "something is hidden behind a member"),
    Code("tree-tar-size", "tree", _REJECTED, "two sizes for one member"),
    Code("tree-tar-body", "tree", _REJECTED, "a member that can have no content has some"),
    Code("tree-tar-pax", "tree", _REJECTED, "a PAX record breaks its format"),
    Code("tree-tar-pax-repeated", "tree", _REJECTED, "a PAX record is given twice"),
    Code("tree-tar-pax-unknown", "tree", _UNDECIDED, "a PAX record that pinproof does not know"),
    Code("tree-tar-global", "tree", _REJECTED, "a global header that changes members"),
    Code("tree-tar-extension", "tree", _REJECTED, "an extension header belongs to no one member"),
    Code("tree-tar-long-name", "tree", _REJECTED, "a GNU long name breaks its format"),
    Code("tree-tar-sparse", "tree", _UNDECIDED, "a sparse file"),
    Code("tree-tar-type", "tree", _UNDECIDED, "a member of an unknown type"),
    Code("tree-hardlink-outside", "tree", _REJECTED, "a hard link leaves the tree"),
    Code("tree-hardlink-missing", "tree", _REJECTED, "a hard link to nothing before it"),
    Code("tree-hardlink-mode", "tree", _UNDECIDED, "a hard link states another mode"),
    # CHECKS image: members of layers
    Code("layer-marker-name", "tree", _REJECTED, "a whiteout names nothing that can be hidden"),
    Code("layer-marker-below", "tree", _REJECTED, "a member lies below a whiteout"),
    Code("layer-marker-content", "tree", _REJECTED, "a whiteout is more than an empty file"),
    Code("layer-unended", "tree", _UNDECIDED, "a layer's tar has no end"),
    Code("layer-marker-unknown", "tree", _UNDECIDED, "a marker that pinproof does not know"),
    Code(
        "layer-overlay-attribute",
        "tree",
        _UNDECIDED,
        "an attribute that overlay file systems obey",
    ),
    # CHECKS image: layers on each other
    Code(
        "layer-link-redirects",
        "root-files",
        _UNDECIDED,
        "a link of a lower layer leads a member elsewhere",
    ),
    Code("layer-link-lost", "root-files", _REJECTED, "links lead a member in a circle or too deep"),
    Code(
        "layer-hardlink-missing",
        "root-files",
        _REJECTED,
        "a hard link to nothing in the merged root",
    ),
    Code(
        "layer-whiteout-late", "root-files", _UNDECIDED, "a layer brings a path and then hides it"
    ),
    # CHECKS image: one path in the merged root
    Code("image-path-hidden", "input", _REJECTED, "a layer hides the path"),
    Code("image-path-not-file", "input", _UNDECIDED, "at the path stands no regular file"),
    Code("image-path-redirected", "input", _UNDECIDED, "runtimes differ on what lies at the path"),
    Code("image-label-contradicts", "input", _REJECTED, "a label of ours contradicts the image"),
    Code("image-label-revision", "tree", _UNDECIDED, "a label names another commit"),
    # zip
    Code("tree-zip-end", "tree", _REJECTED, "the end of the zip is missing or not unique"),
    Code("tree-zip-several-disks", "tree", _UNDECIDED, "the zip is one part of several"),
    Code("tree-zip-prefixed", "tree", _REJECTED, "something stands in front of the zip"),
    Code("tree-zip-directory", "tree", _REJECTED, "the central directory breaks its format"),
    Code("tree-zip-zip64", "tree", _REJECTED, "zip64 records contradict the others"),
    Code("tree-zip-local", "tree", _REJECTED, "an entry's two headers contradict each other"),
    Code("tree-zip-descriptor", "tree", _REJECTED, "a data descriptor contradicts the directory"),
    Code("tree-zip-gap", "tree", _REJECTED, "bytes that belong to no entry"),
    Code("tree-zip-overlap", "tree", _REJECTED, "two entries share bytes"),
    Code("tree-zip-extra", "tree", _REJECTED, "an extra field breaks its format"),
    Code("tree-zip-name", "tree", _REJECTED, "an entry has two names"),
    Code("tree-zip-charset", "tree", _UNDECIDED, "a name in an unknown character set"),
    Code("tree-zip-encrypted", "tree", _UNDECIDED, "an entry is encrypted"),
    Code("tree-zip-method", "tree", _UNDECIDED, "a method that pinproof does not read"),
    Code(
        "tree-zip-flags", "tree", _UNDECIDED, "an entry uses features that pinproof does not read"
    ),
    Code("tree-zip-data", "tree", _REJECTED, "content contradicts its sizes"),
    Code("tree-zip-crc", "tree", _REJECTED, "content contradicts its checksum"),
    Code("tree-zip-type", "tree", _REJECTED, "an entry is of two types"),
    # wheels
    Code("tree-record-malformed", "tree", _REJECTED, "RECORD breaks its format"),
    Code(
        "tree-record-unlisted",
        "tree",
        _REJECTED,
        "the wheel holds a file that RECORD does not list",
    ),
    Code("tree-record-missing", "tree", _REJECTED, "RECORD lists a file that the wheel lacks"),
    Code("tree-record-different", "tree", _REJECTED, "a file is not what RECORD says"),
    Code("tree-record-weak", "tree", _UNDECIDED, "RECORD has no digest that can be compared"),
    # two trees against each other
    Code("diff-missing", "content", _REJECTED, "a path is only in the first tree"),
    Code("diff-added", "content", _REJECTED, "a path is only in the second tree"),
    Code("diff-type", "content", _REJECTED, "a path is of another type"),
    Code("diff-content", "content", _REJECTED, "a path has other content"),
    Code("diff-mode", "modes", _REJECTED, "a path has another mode"),
    Code("diff-mode-unknown", "modes", _UNDECIDED, "modes that one side does not carry"),
    # CHECKS git reader: objects that lie
    Code("git-object-forged", "tree", _REJECTED, "an object's bytes do not hash to its id"),
    Code("git-object-type", "tree", _REJECTED, "an object is of another type than its tree says"),
    Code("git-collision", "tree", _REJECTED, "git sees a SHA-1 collision attack"),
    Code("git-commit-malformed", "tree", _REJECTED, "a commit or tag that breaks its format"),
    Code("git-tree-malformed", "tree", _REJECTED, "a tree object that breaks its format"),
    Code("git-tree-duplicate", "tree", _REJECTED, "a tree object holds a name twice"),
    Code("git-tree-unsorted", "tree", _REJECTED, "a tree object is not in git's order"),
    Code("git-name-unsafe", "tree", _REJECTED, "a tree object holds a name that no folder may"),
    Code("git-mode-padded", "tree", _REJECTED, "a mode in a tree object is padded with zeros"),
    Code("git-mode-unknown", "tree", _REJECTED, "a mode in a tree object that git does not write"),
    # git: what could not be read
    Code("git-object-missing", "tree", _UNDECIDED, "the store does not hold an object"),
    Code("git-object-corrupt", "tree", _UNDECIDED, "an object cannot be unpacked"),
    Code("git-object-large", "tree", _UNDECIDED, "an object is larger than is read"),
    Code("git-tree-large", "tree", _UNDECIDED, "the commit's tree is larger than is read"),
    Code("git-store-special", "tree", _UNDECIDED, "a link or special file in the object store"),
    Code("git-alternates", "tree", _UNDECIDED, "objects elsewhere that were not looked at"),
    # git: what is worth knowing and changed no answer
    Code("git-alternates-followed", "tree", _UNDECIDED, "objects elsewhere were looked at"),
    Code("git-shallow", "tree", _UNDECIDED, "the clone is shallow"),
    Code("git-partial", "tree", _UNDECIDED, "the clone is partial"),
    Code("git-grafted", "tree", _UNDECIDED, "the repository grafts other parents onto commits"),
    Code("git-replaced", "tree", _UNDECIDED, "the repository replaces objects by others"),
    Code("git-ref-like-id", "tree", _UNDECIDED, "a reference is named like an object id"),
    Code("git-fsck", "tree", _UNDECIDED, "git's own check objects to a commit or tree"),
    # CHECKS composition: a tree against the stages of a composition
    Code("composition-not-here", "final-stage", _UNDECIDED, "nothing of the composition is there"),
    Code(
        "composition-files-unknown",
        "final-stage",
        _UNDECIDED,
        "the entry pins a git tree, and no file that could be compared here",
    ),
    Code("composition-tree", "final-stage", _REJECTED, "the commit holds another git tree"),
    Code("composition-type", "final-stage", _REJECTED, "a path is of another type"),
    Code("composition-changed", "final-stage", _REJECTED, "a file is as no stage leaves it"),
    Code(
        "composition-line-ends",
        "final-stage",
        _REJECTED,
        "a file has been converted to other line ends",
    ),
    Code("composition-missing", "final-stage", _REJECTED, "a file of the composition is missing"),
    Code("composition-mixed", "final-stage", _REJECTED, "files stand at different stages"),
    Code(
        "composition-earlier-stage", "final-stage", _REJECTED, "the tree stands at an earlier stage"
    ),
    Code("composition-file-stage", "final-stage", _REJECTED, "a file stands at an earlier stage"),
    Code("composition-not-deleted", "final-stage", _REJECTED, "a file that was deleted is there"),
    Code(
        "composition-collision",
        "final-stage",
        _REJECTED,
        "a name that some file systems take for a listed one",
    ),
    Code("composition-unread", "final-stage", _UNDECIDED, "a listed file could not be read"),
    Code("composition-retained", "retained", _REJECTED, "a file that had to stay was changed"),
    Code(
        "composition-retained-unknown",
        "retained",
        _UNDECIDED,
        "the entry does not say which files had to stay",
    ),
    Code(
        "composition-unlisted", "unlisted", _REJECTED, "a file that the composition does not list"
    ),
    Code("composition-bytecode", "unlisted", _UNDECIDED, "compiled files that nothing lists"),
    Code(
        "composition-incomplete",
        "unlisted",
        _UNDECIDED,
        "the entry does not list every file of its scope",
    ),
    Code("composition-mode", "modes", _REJECTED, "a file has another mode"),
    Code("composition-mode-unknown", "modes", _UNDECIDED, "modes that the source does not carry"),
    Code("composition-mode-unpinned", "modes", _UNDECIDED, "modes that the entry does not pin"),
    # CHECKS image: what an image source says of itself, and its digests
    Code("image-layout", "graph", _UNDECIDED, "the layout lacks what makes it one"),
    Code("image-part-link", "graph", _UNDECIDED, "a part of the image is a link"),
    Code("image-json", "graph", _REJECTED, "a document of the image breaks its format"),
    Code("image-duplicate-key", "graph", _REJECTED, "a document gives a key twice"),
    Code("image-key-case", "graph", _REJECTED, "a key that some readers take for another"),
    Code("image-document-large", "graph", _UNDECIDED, "a document is larger than is read"),
    Code("image-schema", "graph", _UNDECIDED, "a manifest of an old kind"),
    Code("image-blob-changed", "graph", _REJECTED, "bytes do not hash to their digest"),
    Code(
        "image-name-digest", "graph", _REJECTED, "a name states another digest than its content has"
    ),
    Code("image-size", "graph", _REJECTED, "a descriptor states another size"),
    Code("image-media-type", "graph", _REJECTED, "a media type contradicts what it describes"),
    Code("image-data", "graph", _REJECTED, "a descriptor carries other bytes than it names"),
    Code("image-both-shapes", "graph", _REJECTED, "one document is an index and a manifest"),
    Code("image-ref-twice", "graph", _REJECTED, "one name leads to two images"),
    Code("image-two-images", "graph", _REJECTED, "the archive is two images at once"),
    Code("image-repositories", "graph", _REJECTED, "the legacy repositories name other tags"),
    Code("image-too-deep", "graph", _REJECTED, "more indexes or manifests than an image may have"),
    Code(
        "image-layer-count", "graph", _REJECTED, "the configuration lists another number of layers"
    ),
    Code(
        "image-diff-id",
        "graph",
        _REJECTED,
        "a layer unpacks to other bytes than the configuration says",
    ),
    Code("image-platform-twice", "graph", _REJECTED, "two images of one platform"),
    Code(
        "image-platform-config",
        "platform",
        _REJECTED,
        "the index states another platform than the image",
    ),
    Code("image-blob-missing", "graph", _UNDECIDED, "a part of the image is not there"),
    Code("image-algorithm", "graph", _UNDECIDED, "a digest by another algorithm than SHA-256"),
    Code("image-urls", "graph", _UNDECIDED, "a part of the image lies elsewhere"),
    Code("image-subject", "graph", _UNDECIDED, "it is about another image"),
    Code("image-artifact", "graph", _UNDECIDED, "it is no image"),
    Code("image-empty", "graph", _UNDECIDED, "it lists no image"),
    Code("image-no-ref", "graph", _UNDECIDED, "it holds no image of that name"),
    Code("image-layer-type", "graph", _UNDECIDED, "a layer of a type that is not read"),
    Code("image-layer-unread", "graph", _UNDECIDED, "a layer was not read to its end"),
    Code("image-history", "graph", _UNDECIDED, "the history has another number of layers"),
    Code(
        "image-unreferenced", "tree", _UNDECIDED, "the source holds blobs that no image refers to"
    ),
    # what is asked for
    Code("image-platform-absent", "platform", _REJECTED, "it holds no image of that platform"),
    Code(
        "image-platform-entry", "platform", _REJECTED, "the registered image is of another platform"
    ),
    Code(
        "image-index-not-manifest",
        "expected",
        _REJECTED,
        "an index and a manifest were taken for each other",
    ),
    Code(
        "image-config-not-manifest",
        "expected",
        _REJECTED,
        "a configuration and a manifest were taken for each other",
    ),
    Code("image-other-kind", "expected", _REJECTED, "the digest is of another kind"),
    Code("image-reserialised", "expected", _REJECTED, "the same document, printed in another way"),
    Code(
        "image-recompressed", "expected", _REJECTED, "the same content, compressed in another way"
    ),
    Code("image-relabelled", "expected", _REJECTED, "the same layers under another configuration"),
    Code("image-extended", "expected", _REJECTED, "the pinned layers, and more on top of them"),
    Code("image-not-expected", "expected", _REJECTED, "it is not the image asked for"),
    Code("image-expect-untyped", "expected", _UNDECIDED, "a digest was asked for without its kind"),
    Code("image-part-only", "expected", _UNDECIDED, "the digest pins a part of an image"),
    Code("image-several", "expected", _UNDECIDED, "several images, and it is not said which"),
    Code(
        "image-kind-unstated",
        "expected",
        _UNDECIDED,
        "registered without saying what the digest is of",
    ),
    Code("image-unregistered", "expected", _UNDECIDED, "no entry of the registry is this image"),
    Code(
        "image-claim-contradicts",
        "expected",
        _REJECTED,
        "what Docker says of the image contradicts its pin",
    ),
    Code("image-claim-only", "expected", _UNDECIDED, "what Docker says of an image proves nothing"),
    # CHECKS runtime
    Code("runtime-image", "ranks", _REJECTED, "a rank runs another image"),
    Code("runtime-rank-odd", "ranks", _REJECTED, "one rank differs from the others"),
    Code("runtime-ranks-differ", "ranks", _REJECTED, "the ranks differ"),
    Code("runtime-rank-missing", "ranks", _UNDECIDED, "not every rank was given"),
    Code("runtime-rank-unread", "ranks", _UNDECIDED, "a rank's image could not be proven"),
    Code("runtime-component", "components", _REJECTED, "the image holds another component"),
    Code(
        "runtime-component-unknown",
        "components",
        _UNDECIDED,
        "nothing says what the image is made of",
    ),
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
    Code("git-missing", "input", _ERROR, "git is not installed"),
    Code("git-failed", "input", _ERROR, "git did not answer as git does"),
    Code("git-no-repository", "input", _ERROR, "not a git repository"),
    Code("git-elsewhere", "input", _ERROR, "the repository's objects lie elsewhere"),
    Code("git-no-path", "input", _ERROR, "the commit has no such path"),
    Code("internal", "input", _ERROR, "a fault of pinproof"),
)

CODES: Final[dict[str, Code]] = {row.code: row for row in _ROWS}
