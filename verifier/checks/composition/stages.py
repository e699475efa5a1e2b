"""Stages, taken again from the base: every preimage, every patch, every postimage, every tree.

For each stage, in the order of the entry:
1. *Patch*: its bytes have the pin; it is read strictly (`patch`).
2. *Files*: what the patch changes is what the stage lists, with the same operations.
3. *Preimages*: each file is the pinned one before. If not, `order_trouble` says what went wrong
   with the order of stages; nothing of that file is applied.
4. *Applying*: exactly (`apply`), to bytes that are at hand.
5. *Postimages*: each file is the pinned one afterwards, with the pinned mode.
6. *Tree*: the git tree of everything, computed by us, is the one that is pinned.
7. *Again*: the same patch on its own postimage is refused, so that applying it twice is no-op.

Where a file cannot be computed, it is taken to be what the entry pins, and the finding says so:
the stages behind it are checked all the same. Files of an overlay come from the target, those of
a component from whatever source that was read holds their digest; regions are put in again
(`region_stage`).
"""

from collections.abc import Mapping
from dataclasses import replace

from verifier.catalog.entries.composition import Change, Composition, Operation, Stage, StageKind
from verifier.checks.composition.apply import Applied, applies, apply
from verifier.checks.composition.exchanged import WRONG_ORDER, exchanged
from verifier.checks.composition.order_trouble import wrong_preimage
from verifier.checks.composition.patch import FilePatch, Patch, read_patch
from verifier.checks.composition.region_stage import Helpers, taken
from verifier.checks.composition.stage_finding import shown, stage_finding
from verifier.checks.composition.state import Found, State
from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.sources.tree import FILE_MODE


class Chain:
    """One walk over the stages of an entry. `state` is the tree after those taken so far."""

    def __init__(
        self,
        entry: Composition,
        state: State,
        *,
        target: Mapping[bytes, Found] | None,
        patches: Mapping[str, bytes],
        helpers: Helpers,
    ) -> None:
        """Take the stages of `entry` on `state`; `patches` holds their bytes by stage name."""
        self.entry, self.state = entry, state
        self._target, self._patches, self._helpers = target, patches, helpers
        self.findings: list[Finding] = []
        self.recomputed = 0
        #: Patches of which every part was applied.
        self.applied = 0
        self.lengths_pinned = True

    def take(self, stage: Stage) -> None:
        """Take one stage; findings say what does not hold of it, and carry its number."""
        said = len(self.findings)
        self._take(stage)
        number = self.entry.stages.index(stage) + 1
        self.findings[said:] = [replace(each, step=number) for each in self.findings[said:]]

    def _take(self, stage: Stage) -> None:
        if self.state.lost is not None:
            self._say("stage-unreached", stage, None, got=f"after stage {self.state.lost}")
            return
        if stage.kind is StageKind.PATCH:
            self._take_patch(stage)
        elif stage.files is None:
            self._take_whole(stage)
        else:
            for change in stage.files:
                self._take_listed(stage, change)
        self._compare_tree(stage)

    # ── patches ────────────────────────────────────────────────────────────────────────────────

    def _take_patch(self, stage: Stage) -> None:
        patch = self._read(stage)
        rows = {change.path.encode(): change for change in stage.files or ()}
        if patch is None:
            self._assume(stage)
            return
        self.state.expect(file.path for file in patch.files)
        touched = {*rows, *(file.path for file in patch.files)}
        before = {path: self.state.data(path) for path in touched}
        said = len(self.findings)
        done = self.recomputed + len(patch.files)
        for file in patch.files:
            row = rows.pop(file.path, None)
            if row is None and stage.files is not None:
                self._say(
                    "stage-unlisted",
                    stage,
                    file.path,
                    expected="the files that the stage lists, and no other",
                    got=f"line {file.at:,} of its patch changes it",
                )
            self._take_file(stage, file, row)
        self.applied += self.recomputed == done
        for path, change in rows.items():
            self._say(
                "stage-untouched",
                stage,
                path,
                expected=f"the patch to {change.operation} it",
                got="not in the patch",
            )
            self._put_pinned(stage, change)
        codes = {each.code for each in self.findings[said:] if each.row.outcome == "rejected"}
        if codes and codes.isdisjoint(WRONG_ORDER):

            def read(path: bytes) -> bytes | None:
                return before[path] if path in before else self.state.data(path)

            why = exchanged(self.entry, stage, read, self._patches)
            self.findings += [] if why is None else [why]

    def _read(self, stage: Stage) -> Patch | None:
        data = self._patches.get(stage.name)
        if data is None or stage.patch is None:
            pin = stage.patch.pin.sha256 if stage.patch else ""
            self._say("patch-unavailable", stage, None, expected=f"a file {pin}", got="none")
            return None
        if not stage.patch.pin.matches(data):
            self._say(
                "patch-not-pinned",
                stage,
                None,
                expected=str(stage.patch.pin),
                got=str(Pin.of(data)),
            )
            return None
        self._note_length(stage.patch.pin)
        patch = read_patch(data, name=_patch_name(stage))
        if isinstance(patch, Finding):
            self.findings.append(patch)
            return None
        return patch

    def _take_file(self, stage: Stage, file: FilePatch, row: Change | None) -> None:
        if row is not None and row.operation != file.operation:
            self._say(
                "stage-operation",
                stage,
                file.path,
                expected=f"to {row.operation} it, as the stage says",
                got=f"its patch would {file.operation} it",
            )
        if row is not None and not self._is_preimage(stage, row):
            self._put_pinned(stage, row)
            return
        before = self.state.files.get(file.path)
        data = self.state.data(file.path)
        if before is not None and data is None:
            self._say(
                "stage-bytes-missing",
                stage,
                file.path,
                expected=f"the bytes of {before.pin}",
                got="no source that was read holds them",
            )
            self._put_pinned(stage, row)
            return
        if (wrong := self._wrong_place(stage, file, before)) is not None:
            self.findings.append(wrong)
            self._put_pinned(stage, row)
            return
        done = apply(file, data, patch=_patch_name(stage))
        if not isinstance(done, Applied):
            self.findings += done
            self._put_pinned(stage, row)
            return
        self._applied(stage, file, row, done)

    def _wrong_place(self, stage: Stage, file: FilePatch, before: Found | None) -> Finding | None:
        """Say why a file cannot be patched whatever its bytes: its type, mode or place."""
        way = self.state.in_the_way(file.path)
        if way is not None:
            return stage_finding(
                "stage-in-the-way",
                stage,
                file.path,
                expected="no file where a folder has to be, and no folder where a file has to be",
                got=shown(way),
            )
        if before is not None and not before.is_file:
            return stage_finding(
                "stage-mode", stage, file.path, expected="a regular file", got=_mode(before.mode)
            )
        if before is not None and not _agree(before.mode, file.old_mode):
            return stage_finding(
                "stage-mode",
                stage,
                file.path,
                expected=f"{_mode(file.old_mode)}, as its patch says",
                got=_mode(before.mode),
            )
        return None

    def _applied(self, stage: Stage, file: FilePatch, row: Change | None, done: Applied) -> None:
        self.recomputed += 1
        before = self.state.files.get(file.path)
        if done.data is None:
            self.state.remove(file.path)
        else:
            mode = file.mode if file.mode is not None else before.mode if before else FILE_MODE
            self.state.put_bytes(file.path, done.data, mode)
            if file.operation == "replace" and applies(file, done.data):
                self._say(
                    "stage-reapplies",
                    stage,
                    file.path,
                    expected="its patch to be refused on what it made",
                    got="it applies a second time",
                )
        if row is not None:
            self._is_postimage(stage, row)

    # ── other stages ───────────────────────────────────────────────────────────────────────────

    def _take_whole(self, stage: Stage) -> None:
        """Take a stage whose files are not listed."""
        if stage.kind is StageKind.OVERLAY and self._target is not None:
            scope = self.entry.scope
            for path in list(self.state.files):
                if path not in self._target and scope.holds(_text(path)):
                    self.state.remove(path)
            for path, file in self._target.items():
                if scope.holds(_text(path)) and self.state.files.get(path) != file:
                    self.state.put(path, file)
        elif stage.kind is not StageKind.COMPONENT:
            self.state.lost = stage.name
            self._say("stage-unknown-files", stage, None, got="neither files nor their source")

    def _take_listed(self, stage: Stage, change: Change) -> None:
        """Take a file of an overlay, a component or regions: its bytes come from a source."""
        path = change.path.encode()
        is_preimage = self._is_preimage(stage, change)
        if change.operation is Operation.DELETE or not is_preimage:
            self._put_pinned(stage, change)
            return
        if stage.kind is StageKind.OVERLAY:
            there = self._target.get(path) if self._target is not None else None
        elif stage.kind is StageKind.REGIONS:
            self._take_regions(stage, change)
            return
        else:
            data = self._by_digest(change)
            before = self.state.files.get(path)
            kept = before.mode if before else FILE_MODE
            mode = change.mode if change.mode is not None else kept
            there = None if data is None else self.state.known(data, mode)
        if there is None:
            self._say(
                "stage-bytes-missing",
                stage,
                path,
                expected=str(change.post),
                got="no source that was read holds it",
            )
            self._put_pinned(stage, change)
            return
        self.recomputed += 1
        self.state.put(path, there)
        self._is_postimage(stage, change)

    def _take_regions(self, stage: Stage, change: Change) -> None:
        """Put a helper version into the preimage."""
        path = change.path.encode()
        before, data = self.state.files.get(path), self.state.data(path)
        if before is None or data is None:
            made: bytes | Finding = stage_finding(
                "stage-bytes-missing",
                stage,
                path,
                expected=f"the bytes of {change.pre}",
                got="no source that was read holds them",
            )
        else:
            made = taken(stage, change, data, self._by_digest(change), self._helpers)
        if isinstance(made, Finding):
            self.findings.append(made)
            self._put_pinned(stage, change)
            return
        self.recomputed += 1
        self.state.put_bytes(path, made, before.mode if before else FILE_MODE)
        self._is_postimage(stage, change)

    def _by_digest(self, change: Change) -> bytes | None:
        if change.post is None:
            return None
        data = self.state.fetch(change.post.sha256)
        return data if data is not None and change.post.matches(data) else None

    # ── pins ───────────────────────────────────────────────────────────────────────────────────

    def _is_preimage(self, stage: Stage, change: Change) -> bool:
        """Whether a file is what the stage starts from; a finding says why not."""
        before = self.state.files.get(change.path.encode())
        if change.operation is Operation.ADD:
            if before is None:
                return True
        elif before is not None and (change.pre is None or before.matches(change.pre)):
            self._note_length(change.pre)
            return True
        self.findings.append(wrong_preimage(self.entry, stage, change, before))
        return False

    def _is_postimage(self, stage: Stage, change: Change) -> None:
        after = self.state.files.get(change.path.encode())
        got = "no file" if after is None else str(after.pin)
        if (after is None) != (change.post is None) or (
            after is not None and change.post is not None and not after.matches(change.post)
        ):
            self._say(
                "stage-postimage",
                stage,
                change.path.encode(),
                expected=str(change.post) if change.post else "no file",
                got=got,
            )
            self._put_pinned(stage, change)
            return
        self._note_length(change.post)
        if after is not None and not _agree(after.mode, change.mode):
            self._say(
                "stage-mode",
                stage,
                change.path.encode(),
                expected=_mode(change.mode),
                got=_mode(after.mode),
            )

    def _note_length(self, pin: Pin | None) -> None:
        self.lengths_pinned &= pin is None or pin.length is not None

    def _assume(self, stage: Stage) -> None:
        """Go on with what the entry says of a stage that could not be taken."""
        if stage.files is None:
            self.state.lost = stage.name
        for change in stage.files or ():
            self._put_pinned(stage, change)

    def _put_pinned(self, stage: Stage, change: Change | None) -> None:
        """Take a file to be what the entry pins; if that is not known, all behind is lost."""
        if change is None:
            self.state.lost = stage.name
            return
        path = change.path.encode()
        before = self.state.files.get(path)
        if change.post is None:
            if before is not None:
                self.state.remove(path)
            return
        mode = change.mode if change.mode is not None else before.mode if before else FILE_MODE
        pin = change.post
        self.state.put(path, Found(pin.sha256, pin.length, mode))

    def _compare_tree(self, stage: Stage) -> None:
        if stage.tree is None:
            return
        tree = self.state.tree()
        if tree is None:
            self._say(
                "stage-tree-unknown", stage, None, expected=f"tree {stage.tree}", got="unknown"
            )
        elif tree != stage.tree:
            self._say("stage-tree", stage, None, expected=f"tree {stage.tree}", got=f"tree {tree}")

    def _say(
        self,
        code: str,
        stage: Stage,
        path: bytes | None,
        *,
        expected: str | None = None,
        got: str,
    ) -> None:
        self.findings.append(stage_finding(code, stage, path, expected=expected, got=got))


def _patch_name(stage: Stage) -> str:
    return f"the patch of stage {stage.name}"


def _agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _mode(mode: int | None) -> str:
    return "an unknown mode" if mode is None else f"mode {mode:o}"


def _text(path: bytes) -> str:
    return path.decode(errors="surrogateescape")
