"""Measurement receipts: whether the published numbers follow from the samples, and whose they are.

`document` reads what a receipt says; `numbers` passes over its samples and computes its figures
again; `rules` are the 115 of the book, one function each, with its `answer`; `scan` finds what must
not be published; `adapters` read what other programs measured. `open` makes a `study` of a
document, and `check` asks the rules of it.
"""
