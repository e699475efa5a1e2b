"""Of migrations, and errors: there was nothing to judge with."""

from typing import Final

from verifier.core.codes.row import ERROR, UNDECIDED, Code

ROWS: Final = (
    # CHECKS migrate: what a plan cannot be made of
    Code("migrate-payload", "input", UNDECIDED, "the payload does not carry the version"),
    Code("migrate-context", "input", UNDECIDED, "a site's context is not in the host once"),
    Code("migrate-anchor", "input", UNDECIDED, "the host has no one place for the helper"),
    Code("migrate-base", "input", UNDECIDED, "without the helper it is another host"),
    Code("migrate-unsound", "input", UNDECIDED, "the result would not be verified"),
    # CHECKS migrate: what a file or journal does not allow; nothing was written
    Code("migrate-link", "input", ERROR, "a link in place of the file"),
    Code("migrate-mount", "input", ERROR, "something is mounted on the file"),
    Code("migrate-hard-link", "input", ERROR, "the file has other names"),
    Code("migrate-attributes", "input", ERROR, "attributes that keep it from being replaced"),
    Code("migrate-busy", "input", ERROR, "another migration is at work in the folder"),
    Code("migrate-changed", "input", ERROR, "the file is not what was planned for"),
    Code("migrate-unfinished", "input", ERROR, "a migration was not finished"),
    Code("journal-unknown", "input", ERROR, "there is no journal that can be undone"),
    Code("journal-damaged", "input", ERROR, "a journal is not as it was written"),
    Code("journal-unauthentic", "input", ERROR, "the bytes to restore do not authenticate"),
    # not findings: there was nothing to judge with
    Code("malformed", "input", ERROR, "a document breaks its format"),
    Code("wrong-call", "input", ERROR, "an argument is not understood"),
    Code("past-time", "input", ERROR, "a past effective time needs --insecure-past-time"),
    Code("cannot-read", "input", ERROR, "a file cannot be read"),
    Code("not-a-file", "input", ERROR, "not a regular file"),
    Code("too-large", "input", ERROR, "larger than the limit"),
    Code("changed-while-read", "input", ERROR, "a file changed while it was read"),
    Code("cannot-write", "input", ERROR, "a file cannot be written"),
    Code("no-shipped-data", "input", ERROR, "pinproof was not installed with its data"),
    Code("git-missing", "input", ERROR, "git is not installed"),
    Code("git-failed", "input", ERROR, "git did not answer as git does"),
    Code("git-no-repository", "input", ERROR, "not a git repository"),
    Code("git-elsewhere", "input", ERROR, "the repository's objects lie elsewhere"),
    Code("git-no-path", "input", ERROR, "the commit has no such path"),
    Code("internal", "input", ERROR, "a fault of pinproof"),
)
