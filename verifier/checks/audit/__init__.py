"""Entries of a registry against public source: who says so, and does it say so.

Each producer that an entry names is *confirmed* (found at its commit, path and symbol, and how),
*contradicted* (what is there instead), or *unverifiable* (what is missing to look). Nothing here
trusts an entry: signatures say who vouches, this says whether what they vouch for was published.
"""
