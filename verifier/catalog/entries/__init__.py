"""The kinds of entries, one module a kind."""
