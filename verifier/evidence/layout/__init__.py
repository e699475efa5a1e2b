"""in-toto layouts and links: what a supply chain was to be, and what was done (in-toto 1.0).

`signed` reads a file of either form and finds who signed it, `model` what it says, `rules` what a
rule of it means. All of that is ours: in-toto's own reader takes duplicate keys, finds keys by
their ids, and runs what a layout says. Its rule functions are a second opinion (`opinion`).
"""
