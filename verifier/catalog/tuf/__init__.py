"""The registry as a TUF repository: the only rooms that know `tuf` (ARCHITECTURE, law 7).

`folder` turns a directory into bytes and follows no link; `keys` says which public keys count;
`shape` turns the bytes of one piece of metadata into a document of the right form;
`delegation` says which role answers for which target; `trusted` decides, in the ten steps of
FORMATS §1, what may be believed. `values` is what is left then, `problems` what was wrong.
`publish` is the way back, from targets to signed metadata. Nothing is imported here: `tuf` costs
more than all else that a run imports, and only a run that reaches a registry pays for it.
"""
