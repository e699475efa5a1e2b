"""A commit as a tree, read through git and believed only for what hashes to its id."""
