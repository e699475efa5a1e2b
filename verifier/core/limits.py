"""Every size and count at which pinproof stops reading, in one place.

Limits keep a hostile file from costing more than it may; each is far above anything real.
"""

from typing import Final

MIB: Final = 1 << 20

#: A host file (`--max-size` changes it).
HOST_BYTES: Final = 16 * MIB
#: A policy, a floor, one registry entry.
DOCUMENT_BYTES: Final = 4 * MIB
#: One piece of registry metadata or of the look-up index.
METADATA_BYTES: Final = 16 * MIB
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
