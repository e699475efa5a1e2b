"""Of importing: foreign evidence that no receipt can be made of."""

from typing import Final

from verifier.core.codes.row import ERROR, Code

ROWS: Final[tuple[Code, ...]] = (
    Code("import-not-a-file", "input", ERROR, "a link or a special file among the evidence"),
    Code("import-missing", "input", ERROR, "a file of the evidence is missing"),
    Code("import-extra", "input", ERROR, "a file that does not belong to the evidence"),
    Code("import-truncated", "input", ERROR, "a file of another length than was recorded"),
    Code("import-contradicts", "input", ERROR, "the evidence contradicts itself"),
    Code("import-unsupported", "input", ERROR, "a part of the format that is not read"),
)
