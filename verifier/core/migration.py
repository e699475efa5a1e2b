"""What a migration would do to host files, and what it did (CHECKS migrate)."""

from verifier.core.digest import Pin
from verifier.core.outcome import Failed, Report
from verifier.core.value import frozen
from verifier.core.verdict import Exit, Verdict, exit_of, exit_of_answer


@frozen
class Plan:
    """One file, as it is and as it would be. Both bytes were judged by the same check.

    `source` and `target` are versions of `lineage`, or `base:NAME` for a host without it; `now`
    and `then` say in words what stands in the file before and after.
    """

    name: str
    lineage: str
    source: str
    target: str
    before: bytes
    after: bytes
    now: str
    then: str
    changes: str
    bytecode: tuple[str, ...] = ()
    """Compiled files of the old bytes, below the file's folder, that would be removed."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after

    def difference(self) -> tuple[str, ...]:
        """Return a unified diff, a line each without its line end."""
        from difflib import unified_diff  # noqa: PLC0415  (only who asks for it pays)

        old, new = (data.decode(errors="replace").split("\n") for data in (self.before, self.after))
        names = [f"{self.name} ({what})" for what in (self.source, self.target)]
        return tuple(unified_diff(old, new, names[0], names[1], lineterm=""))


@frozen
class Planned:
    """All files of one call: a judged result each, and a plan for each that is sound."""

    report: Report
    plans: tuple[Plan | None, ...]

    @property
    def sound(self) -> bool:
        """Whether every file can be migrated, or need not be."""
        return self.report.verdict is Verdict.VERIFIED and None not in self.plans

    @property
    def exit(self) -> Exit:
        """0 if every file has a sound plan; else what stands against the gravest one."""
        return self.report.exit


@frozen
class Replaced:
    """One file that was written, from one pinned content to another."""

    name: str
    lineage: str
    source: str
    target: str
    before: Pin
    after: Pin
    bytecode: tuple[str, ...] = ()
    """Compiled files of the old content that were removed, below the file's folder."""
    notes: tuple[str, ...] = ()
    """What could not be carried over, in words."""


@frozen
class Migrated:
    """What a call wrote: `word` is `written`, `undone`, `finished` or `restored`.

    `journal` names what `--undo` takes; it is empty where the files hold their old bytes.
    `planned` is what was asked for, if that was a plan.
    """

    word: str
    files: tuple[Replaced, ...]
    journal: str = ""
    planned: Planned | None = None

    @property
    def exit(self) -> Exit:
        """0 if files were written; whatever goes wrong is an exception, and nothing was."""
        return exit_of_answer(known=bool(self.files))


@frozen
class Recovered:
    """What was left unfinished: how each was ended, and what could not be."""

    ended: tuple[Migrated, ...]
    failed: tuple[Failed, ...] = ()

    @property
    def exit(self) -> Exit:
        """0 if nothing is left unfinished."""
        done = exit_of_answer(known=True)
        return exit_of([done, *(one.exit for one in self.failed)])
