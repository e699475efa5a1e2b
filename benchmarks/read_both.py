"""Read commits whole, as a proof reads base and target: `python read_both.py REPO COMMIT…`."""

import sys

from verifier.ask.clones import Clones
from verifier.ask.reading import Reach

repository, *commits = sys.argv[1:]
with Clones({"base": repository}, Reach()) as clones:
    sys.exit(None in [clones.read("base", commit) for commit in commits])
