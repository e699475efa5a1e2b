"""Measurement receipts: whether the published numbers follow from the samples, and whose they are.

The document is `model`, read by `reading`; samples stay rows (`samples`) and are seen once
(`tally`). `formulas` says what a figure is, `figures` recomputes each. Every rule of the book is
one function in the module of its group, written out in `rules`, with its answer (`answer`).
"""
