"""Of images: layers and what they merge to, documents, what was expected, claims, runtimes."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final = (
    # CHECKS image: members of layers
    Code("layer-marker-name", "tree", REJECTED, "a whiteout names nothing that can be hidden"),
    Code("layer-marker-below", "tree", REJECTED, "a member lies below a whiteout"),
    Code("layer-marker-content", "tree", REJECTED, "a whiteout is more than an empty file"),
    Code("layer-unended", "tree", UNDECIDED, "a layer's tar has no end"),
    Code("layer-marker-unknown", "tree", UNDECIDED, "a marker that pinproof does not know"),
    Code(
        "layer-overlay-attribute",
        "tree",
        UNDECIDED,
        "an attribute that overlay file systems obey",
    ),
    # CHECKS image: layers on each other
    Code(
        "layer-link-redirects",
        "root-files",
        UNDECIDED,
        "a link of a lower layer leads a member elsewhere",
    ),
    Code("layer-link-lost", "root-files", REJECTED, "links lead a member in a circle or too deep"),
    Code(
        "layer-hardlink-missing",
        "root-files",
        REJECTED,
        "a hard link to nothing in the merged root",
    ),
    Code("layer-whiteout-late", "input", UNDECIDED, "a layer brings a path and then hides it"),
    Code(
        "layer-file-on-the-way", "input", UNDECIDED, "a member lies below a file of a lower layer"
    ),
    # CHECKS image: archives and layers alike
    Code("image-sparse", "input", REJECTED, "a sparse member, which readers know by another name"),
    # CHECKS image: one path in the merged root
    Code("image-path-hidden", "input", REJECTED, "a layer hides the path"),
    Code("image-path-not-file", "input", UNDECIDED, "at the path stands no regular file"),
    Code("image-path-redirected", "input", UNDECIDED, "runtimes differ on what lies at the path"),
    Code("image-label-contradicts", "input", REJECTED, "a label of ours contradicts the image"),
    Code("image-label-revision", "tree", UNDECIDED, "a label names another commit"),
    # CHECKS image: what an image source says of itself, and its digests
    Code("image-layout", "graph", UNDECIDED, "the layout lacks what makes it one"),
    Code("image-part-link", "graph", UNDECIDED, "a part of the image is a link"),
    Code("image-json", "graph", REJECTED, "a document of the image breaks its format"),
    Code("image-duplicate-key", "graph", REJECTED, "a document gives a key twice"),
    Code("image-key-case", "graph", REJECTED, "a key that some readers take for another"),
    Code("image-document-large", "graph", UNDECIDED, "a document is larger than is read"),
    Code("image-schema", "graph", UNDECIDED, "a manifest of an old kind"),
    Code("image-blob-changed", "graph", REJECTED, "bytes do not hash to their digest"),
    Code(
        "image-name-digest", "graph", REJECTED, "a name states another digest than its content has"
    ),
    Code("image-size", "graph", REJECTED, "a descriptor states another size"),
    Code("image-media-type", "graph", REJECTED, "a media type contradicts what it describes"),
    Code("image-data", "graph", REJECTED, "a descriptor carries other bytes than it names"),
    Code("image-both-shapes", "graph", REJECTED, "one document is an index and a manifest"),
    Code("image-ref-twice", "graph", REJECTED, "one name leads to two images"),
    Code("image-two-images", "graph", REJECTED, "the archive is two images at once"),
    Code("image-repositories", "graph", REJECTED, "the legacy repositories name other tags"),
    Code("image-too-deep", "graph", REJECTED, "more indexes or manifests than an image may have"),
    Code(
        "image-layer-count", "graph", REJECTED, "the configuration lists another number of layers"
    ),
    Code(
        "image-diff-id",
        "graph",
        REJECTED,
        "a layer unpacks to other bytes than the configuration says",
    ),
    Code("image-platform-spelling", "graph", UNDECIDED, "a platform in an unusual spelling"),
    Code("image-platform-twice", "graph", REJECTED, "two images of one platform"),
    Code(
        "image-platform-config",
        "platform",
        REJECTED,
        "the index states another platform than the image",
    ),
    Code("image-blob-missing", "graph", UNDECIDED, "a part of the image is not there"),
    Code("image-algorithm", "graph", UNDECIDED, "a digest by another algorithm than SHA-256"),
    Code("image-urls", "graph", UNDECIDED, "a part of the image lies elsewhere"),
    Code("image-subject", "graph", UNDECIDED, "it is about another image"),
    Code("image-artifact", "graph", UNDECIDED, "it is no image"),
    Code("image-artifact-claim", "graph", REJECTED, "an image is called an artifact"),
    Code("image-empty", "graph", UNDECIDED, "it lists no image"),
    Code("image-no-ref", "graph", UNDECIDED, "it holds no image of that name"),
    Code("image-layer-type", "graph", UNDECIDED, "a layer of a type that is not read"),
    Code("image-layer-unread", "graph", UNDECIDED, "a layer was not read to its end"),
    Code("image-history", "graph", UNDECIDED, "the history has another number of layers"),
    Code("image-unreferenced", "tree", UNDECIDED, "the source holds blobs that no image refers to"),
    # what is asked for
    Code("image-platform-absent", "platform", REJECTED, "it holds no image of that platform"),
    Code(
        "image-platform-entry", "platform", REJECTED, "the registered image is of another platform"
    ),
    Code(
        "image-index-not-manifest",
        "expected",
        REJECTED,
        "an index and a manifest were taken for each other",
    ),
    Code(
        "image-config-not-manifest",
        "expected",
        REJECTED,
        "a configuration and a manifest were taken for each other",
    ),
    Code("image-other-kind", "expected", REJECTED, "the digest is of another kind"),
    Code("image-reserialised", "expected", REJECTED, "the same document, printed in another way"),
    Code("image-recompressed", "expected", REJECTED, "the same content, compressed in another way"),
    Code("image-relabelled", "expected", REJECTED, "the same layers under another configuration"),
    Code("image-extended", "expected", REJECTED, "the pinned layers, and more on top of them"),
    Code("image-not-expected", "expected", REJECTED, "it is not the image asked for"),
    Code("image-expect-untyped", "expected", UNDECIDED, "a digest was asked for without its kind"),
    Code(
        "image-lazy-pull",
        "expected",
        UNDECIDED,
        "lazy pulls go by annotations that the pin does not cover",
    ),
    Code("image-part-only", "expected", UNDECIDED, "the digest pins a part of an image"),
    Code("image-several", "expected", UNDECIDED, "several images, and it is not said which"),
    Code(
        "image-kind-unstated",
        "expected",
        UNDECIDED,
        "registered without saying what the digest is of",
    ),
    Code("image-unregistered", "expected", UNDECIDED, "no entry of the registry is this image"),
    Code(
        "image-claim-contradicts",
        "expected",
        REJECTED,
        "what Docker says of the image contradicts its pin",
    ),
    Code("image-claim-only", "expected", UNDECIDED, "what Docker says of an image proves nothing"),
    # CHECKS runtime
    Code("runtime-image", "ranks", REJECTED, "a rank runs another image"),
    Code("runtime-rank-odd", "ranks", REJECTED, "one rank differs from the others"),
    Code("runtime-ranks-differ", "ranks", REJECTED, "the ranks differ"),
    Code("runtime-rank-missing", "ranks", UNDECIDED, "not every rank was given"),
    Code("runtime-rank-unread", "ranks", UNDECIDED, "a rank's image could not be proven"),
    Code("runtime-component", "components", REJECTED, "the image holds another component"),
    Code(
        "runtime-component-unknown",
        "components",
        UNDECIDED,
        "nothing says what the image is made of",
    ),
)
