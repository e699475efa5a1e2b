"""pinproof: proves, offline, that bytes are what was pinned, and refuses what it cannot prove.

The distribution and the command are called `pinproof`; the import package is `verifier`. Its
public API is `verifier.ask`, one function a question:

>>> from verifier import ask
>>> ask.verify_helper.__name__
'verify_helper'

The rooms stand on floors, and each imports only from those before it: `core`, `sources`,
`catalog`, `evidence`, `checks`, `policy`, `ask`, `render`, `actions`, `cli`.
"""

__version__ = "1.0.0"
