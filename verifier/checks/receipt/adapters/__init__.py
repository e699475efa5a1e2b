"""Measurements of other programs, read strictly as far as they go into a receipt.

An adapter is a function over bytes. What the foreign format cannot tell is left out of the
receipt, named in words, and uncheckable afterwards: nothing is guessed.
"""
