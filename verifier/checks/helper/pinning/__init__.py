"""Deriving a helper/v1 entry from what its producer published and from hosts that carry it.

Whoever pins writes down where things lie (a *recipe*); every pin, offset, name and place is read
from the bytes. The steps:

1. *Text*: the helper of each version in the producer's file: a literal, found by its symbol or by
   scanning, or a slice of the file with texts substituted (`text`).
2. *Insertions*: each patched host is its pristine host plus the helper plus whole inserted lines,
   and nothing else (`insertions`).
3. *Sites*: the inserted ranges in blocks, whose borders are those of the installer's own literals
   where it has such, else the least context that is unique (`blocks`).
4. *Names*: what the helper binds, and what helper and insertions read (`names`).
5. *Entry*: all of it as a `Lineage` (`derive`), which is printed and read again, because reading
   checks every invariant.
6. *Proof*: each patched host verifies by the check itself, taking the version out gives the
   pristine host, and putting it in again the patched one (`proof`).
"""
