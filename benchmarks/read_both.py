"""Read commits whole, each as `list tree` reads one: `python read_both.py REPO COMMIT…`."""

import sys
from pathlib import Path

from verifier.sources.git.tree import GitTree

repository, *commits = sys.argv[1:]
trees = [GitTree(Path(repository), commit, name=commit) for commit in commits]
read = [tree.entries() for tree in trees]
sys.exit(not all(tree.complete for tree in trees))
