"""Releases of tools: whether a folder of downloads is the version that was published.

`grill` checks the four files that TheGrill publishes for a target, `sums` a plain set of files
under a list of checksums; `published` compares either with the entry. `outcome` puts them together.
"""
