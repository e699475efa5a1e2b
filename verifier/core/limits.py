"""Every size and count at which pinproof stops reading, in one place.

Limits keep a hostile file from costing more than it may; each is far above anything real.
"""

from typing import Final

MIB: Final = 1 << 20

#: A host file (`--max-size` changes it).
HOST_BYTES: Final = 16 * MIB
#: What --max-size may raise that to.
LARGEST_FILE: Final = 1 << 34
#: A policy, a floor, one registry entry.
DOCUMENT_BYTES: Final = 4 * MIB
#: One piece of registry metadata or of the look-up index.
METADATA_BYTES: Final = 16 * MIB
#: The table of a composition's files, and so one target of a registry.
FILES_TABLE_BYTES: Final = 64 * MIB
#: Nesting of tables and lists in a strict document.
DOCUMENT_DEPTH: Final = 32
#: Steps of a root chain (FORMATS §1, point 2).
ROOT_STEPS: Final = 256
#: Delegated roles followed (FORMATS §1, point 7).
DELEGATIONS: Final = 32
#: Digests in one file of the look-up index, on average.
INDEX_DIGESTS: Final = 2_000
#: Files below one registry folder.
REGISTRY_FILES: Final = 100_000
#: Mistakes of one document that are listed; the rest is counted.
MISTAKES_SHOWN: Final = 20
#: Allowed values of a key that an error lists; of more it names the nearest.
CHOICES_SHOWN: Final = 12
#: Findings of one code in one subject that are listed; the rest is counted.
FINDINGS_PER_CODE: Final = 20
#: Places of one kind that a check looks up before it stops listing them.
PLACES_LISTED: Final = 100
#: A file with more markers than this many times those of an install is not searched for sites.
MARKERS_PER_INSTALL: Final = 64
#: First lines, markers or lines of one text of a payload that are looked at.
PAYLOAD_PLACES: Final = 1 << 16
#: All files of one payload.
PAYLOAD_BYTES: Final = 256 * MIB
PAYLOAD_FILES: Final = 20_000
#: Files of a commit or archive, each of which is read on its own.
PAYLOAD_PACKED_FILES: Final = 64
#: One source that is searched for literals, and all of them.
PAYLOAD_PYTHON_BYTES: Final = 4 * MIB
PAYLOAD_ALL_PYTHON_BYTES: Final = 32 * MIB
#: One compiled file beside a host.
BYTECODE_BYTES: Final = 64 * MIB
#: Nesting of syntax in one Python file: every supported Python parses this much from any caller.
PYTHON_DEPTH: Final = 1000
#: Digits of one integer literal: Python's own default, whatever the environment says.
PYTHON_DIGITS: Final = 4300
#: Characters of one string that constant folding may build.
FOLDED_TEXT: Final = 1 << 16
#: Entries of one tree.
TREE_ENTRIES: Final = 1_000_000
#: All names of one archive, with the folders above each.
TREE_NAMES_BYTES: Final = 256 * MIB
#: One path, and the target of one link (Linux: PATH_MAX).
TREE_PATH_BYTES: Final = 4096
#: Segments of one path.
TREE_DEPTH: Final = 128
#: Links on the way to one path of a merged root (Linux: MAXSYMLINKS).
LINKS_FOLLOWED: Final = 40
#: All content of one archive, unpacked.
ARCHIVE_BYTES: Final = 256 * 1024 * MIB
#: One file inside an archive.
ARCHIVE_ENTRY_BYTES: Final = 64 * 1024 * MIB
#: What any archive may unpack to; a larger one only to `INFLATION` times its own size.
INFLATED_FREELY: Final = 256 * MIB
INFLATION: Final = 200
#: Memory that decompressing may take (zstd's window, xz's dictionary).
INFLATE_MEMORY: Final = 128 * MIB
#: PAX records of one member, or a GNU long name.
TAR_EXTENSION_BYTES: Final = MIB
#: The central directory of a zip.
ZIP_DIRECTORY_BYTES: Final = 256 * MIB
#: RECORD of a wheel.
RECORD_BYTES: Final = 64 * MIB
#: One blob; a larger one is refused before git inflates it.
GIT_BLOB_BYTES: Final = 512 * MIB
#: All blobs of one commit.
GIT_ALL_BYTES: Final = 256 * 1024 * MIB
#: One tree, and one commit or tag.
GIT_TREE_BYTES: Final = 64 * MIB
GIT_COMMIT_BYTES: Final = 16 * MIB
#: A file of the repository that is read for what it says of itself: config, packed-refs.
GIT_FILE_BYTES: Final = 64 * MIB
#: A `.gitattributes` or `.gitmodules` that is looked into.
GIT_DOTFILE_BYTES: Final = MIB
#: Git's memory beyond one blob and what it was made from.
GIT_MEMORY_BYTES: Final = 512 * MIB
#: What one answer of git may take, and more for each so many bytes of it.
GIT_OBJECT_SECONDS: Final = 60
GIT_BYTES_PER_SECOND: Final = 4 * MIB
#: Deaths of git after which the objects that are left are not read.
GIT_DEATHS: Final = 64
#: Findings of one code that are kept of one commit.
GIT_FINDINGS: Final = 1_000
#: Object stores reached through alternates.
GIT_STORES: Final = 32
#: Symbolic references and tags of tags that are followed for a hint.
GIT_STEPS: Final = 8
#: Branches of a clone that are looked at.
GIT_REFERENCES: Final = 100_000
#: Digits of a line number or count in a patch.
PATCH_LINE_DIGITS: Final = 9
#: The files that independent stages touch, once for each stage: what trying orders keeps.
ORDER_BYTES: Final = 512 * MIB
#: What one stage's patch may be looked for in, where its hunks have moved.
ORDER_SEARCHED_BYTES: Final = 4096 * MIB
#: Commits that are read to find one among the ancestors of another.
GIT_HISTORY: Final = 200_000
#: Of a merge: commits that are merge bases or merge bases of those, bytes of the folders and
#: files in which the sides differ, and how long git may take.
GIT_MERGE_BASES: Final = 64
GIT_MERGE_BYTES: Final = 512 * MIB
GIT_MERGE_SECONDS: Final = 120
#: Commits of one path that exploring a clone looks at.
GIT_LOG: Final = 1_000
#: Files that an entry lists itself; of more it has a table beside it.
ENTRY_FILES: Final = 2_000
#: Levels of image indexes below each other, mentions of documents and of layers in one image
#: source, and bytes of all its documents, each counted once.
IMAGE_DEPTH: Final = 8
IMAGE_DOCUMENTS: Final = 10_000
IMAGE_LAYERS: Final = 100_000
IMAGE_DOCUMENT_BYTES: Final = 1 << 26
#: Members of all layers of one image source, each layer counted once while they are read, and as
#: often as an image mentions it where they are merged.
IMAGE_MEMBERS: Final = 2_000_000
#: What all layers of one image source together may unpack to beyond `INFLATION` times their sizes,
#: and what is unpacked to reach the parts of a compressed archive.
IMAGE_INFLATED_FREELY: Final = 4096 * MIB
IMAGE_REACHED_BYTES: Final = 512 * 1024 * MIB
#: Signatures of one envelope, and keys of one demand.
SIGNATURES: Final = 64
#: Log entries and timestamps of one bundle, and hashes of one inclusion proof (2^64 entries).
LOG_ENTRIES: Final = 8
TIMESTAMPS: Final = 32
PROOF_HASHES: Final = 64
#: A file that is read whole because its signature is over the file and not over a digest.
SIGNED_WHOLE_BYTES: Final = 256 * MIB
#: One in-toto layout or link, all of a folder, and how many of them.
CHAIN_DOCUMENT_BYTES: Final = 32 * MIB
CHAIN_BYTES: Final = 512 * MIB
CHAIN_FILES: Final = 2_000
#: Layouts below layouts.
CHAIN_DEPTH: Final = 8
#: Steps and keys of one layout, and rules times artifacts of one chain with all that lies below.
CHAIN_STEPS: Final = 1_000
CHAIN_KEYS: Final = 256
CHAIN_COMPARISONS: Final = 20_000_000
#: How many comparisons it takes to make a rule ready.
CHAIN_RULE: Final = 1_000
#: Characters of foreign text in one line of a finding.
QUOTED_CHARACTERS: Final = 500
#: The signature of a commit or tag, and a keyring.
GIT_SIGNATURE_BYTES: Final = MIB
KEYRING_BYTES: Final = 16 * MIB
#: One line of a side file of samples.
SAMPLE_BYTES: Final = 1 << 16
#: Numbers of samples that are kept in memory; of more only summaries are, and there are further
#: passes over the samples, each of which may collect so many around one rank.
NUMBERS_KEPT: Final = 1 << 19
NUMBERS_COLLECTED: Final = 1 << 16
#: Arms, cases and memberships of samples, each counted with the others.
SAMPLE_PLACES: Final = 1 << 16
#: Kinds of rows of which is known at one time what they share.
ROW_KINDS: Final = 1 << 12
#: Rows of one rule that a finding names; the rest is counted.
ROWS_NOTED: Final = 3
#: How deep figures may be made of figures.
FIGURE_DEPTH: Final = 32
#: Arms, claims and figures of one receipt; rules look at all claims with all their figures.
RECEIPT_ARMS: Final = 1_000
RECEIPT_CLAIMS: Final = 200
RECEIPT_FIGURES: Final = 2_000
#: One receipt, with its samples.
RECEIPT_BYTES: Final = 256 * MIB
#: A workload whose normal form is computed.
WORKLOAD_BYTES: Final = 64 * MIB
#: All files of a commit's folder of receipts.
RECEIPT_FOLDER_BYTES: Final = 1024 * MIB
