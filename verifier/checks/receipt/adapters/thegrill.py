"""The run folder of TheGrill (grill-perf): one acquisition, chained by digests (receipts.md §1.2).

    plan.json ← wave-NNNNNN/reservation.json ← wave-NNNNNN/wave.json ← wave-NNNNNN/response-LLLL.bin

Nothing in the folder lists its files; they are enumerated from the plan, and every other one is
refused. What was taken away together with the summary that counts it cannot be noticed here: only
the evidence fingerprint, published elsewhere, tells. Not read: plans that declare lanes of their
own or observers of resources (parts of plan versions 4 and 5).
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from verifier.checks.receipt.adapters import foreign
from verifier.checks.receipt.adapters.foreign import Imported, Refusals
from verifier.checks.receipt.adapters.thegrill_receipt import FORM, predicate
from verifier.checks.receipt.adapters.thegrill_run import Run, Wave
from verifier.checks.receipt.document.normal_forms import NoFormError, normalised
from verifier.core.digest import Pin
from verifier.core.limits import MIB

#: Upper bounds of the program's own reader, by the name of a file; of others 4 MiB.
_LIMITS: Final = {"plan.json": 8 * MIB, "reservation.json": 40 * MIB, "policy.json": MIB // 16}
_OTHERS: Final = 4 * MIB
_LATEST: Final = 5
#: From this version on a plan names what its times are.
_CONTRACT: Final = (3, "generated-text-arrival-v2")
#: From this version on reservations and waves have version 2.
_SECOND: Final = 4
_METRICS: Final = ("metrics.json", "metrics-before.bin", "metrics-after.bin")
_HTTP_OK: Final = 200
_SESSIONS: Final = 2048
#: The rate is printed from a float: so many parts of it may be off.
_FLOAT: Final = 10**12

Read = Callable[[str], bytes]


def thegrill(
    pins: Mapping[str, Pin], problems: Mapping[str, str], read: Read, *, what: str
) -> Imported:
    """Read a run folder. `pins` are of all its files, `problems` what is no file, by name.

    Raises `WrongCallError` with a code for what is missing, too much, no file, truncated, or
    contradicts what was recorded before it, and `MalformedError`.
    """
    return _Folder(pins, problems, read, what).imported()


class _Folder:
    """One run folder while it is read."""

    def __init__(
        self, pins: Mapping[str, Pin], problems: Mapping[str, str], read: Read, what: str
    ) -> None:
        self._pins, self._read, self._what = pins, read, what
        self._refusals = Refusals(what)
        self._known = set[str]()
        for name, words in sorted(problems.items()):
            self._refusals.note("import-not-a-file", f"{name}, {words}")
        self._refusals.done()

    def imported(self) -> Imported:
        run = self._plan()
        for spec in run.specs:
            self._wave(run, spec)
        history = self._history(run)
        failure = ""
        if self._has("acquisition-failure.json"):
            if run.version != _LATEST:
                self._wrong("acquisition-failure.json: not declared by this version of plan")
            failure = self._pins["acquisition-failure.json"].sha256
        for name in sorted(self._pins.keys() - self._known):
            self._refusals.note("import-extra", name)
        self._refusals.done()
        first = f"grill-perf-evidence-v1\0{run.plan_sha256}{run.source_sha256}"
        states = "".join(wave.state for wave in run.waves)
        whole = sha256((first + states + failure + history).encode()).hexdigest()
        return Imported(
            fingerprint=whole, predicate=predicate(run, whole, self._pins), unsaid=UNSAID
        )

    def _has(self, name: str) -> bool:
        """Whether the folder has the file; then it belongs there."""
        self._known.add(name)
        return name in self._pins

    def _json(self, name: str) -> dict[str, Any]:
        """Read one JSON file that has to be there; what was noted is told if it is not."""
        if not self._has(name):
            self._refusals.note("import-missing", name)
            self._refusals.done()
        limit = _LIMITS.get(name.rpartition("/")[2], _OTHERS)
        if (self._pins[name].length or 0) > limit:
            self._refusals.note("import-unsupported", f"{name}, larger than {limit:,} bytes")
            self._refusals.done()
        return foreign.read_object(self._read(name), what=f"{self._what}/{name}", limit=limit)

    def _wrong(self, text: str) -> None:
        self._refusals.note("import-contradicts", text)

    def _plan(self) -> Run:
        value = self._json("plan.json")
        plan = foreign.table(value, what=f"{self._what}/plan.json")
        version = plan.integer("version", least=1)
        plan.text("kind", choices=["performance-run-v1"])
        workload = plan.table("workload")
        limit = workload.table("limits").integer("response_bytes")
        specs = plan.tables("waves")
        for spec in specs:
            spec.integer("index")
            spec.text("cell")
            spec.text("phase", choices=["warmup", "measured"])
            spec.integer("concurrency", least=1)
            spec.integer("trial")
        run = Run(
            plan=value,
            version=version,
            plan_sha256=self._pins["plan.json"].sha256,
            source_sha256=plan.sha256("source_sha256"),
            collector_sha256=plan.sha256("collector_sha256"),
            started=plan.integer("started_unix_ms"),
            limit=limit,
            specs=tuple(value["waves"]) if plan.sound else (),
        )
        policy = plan.sha256("policy_sha256") if self._given(value, "policy_sha256") else None
        plan.text("tool_version")
        plan.text("model")
        plan.sha256("workload_sha256")
        foreign.sound(plan)
        self._supported(run)
        for name, expected in (("workload.json", run.source_sha256), ("policy.json", policy)):
            if expected is None:
                continue
            if not self._has(name):
                self._refusals.note("import-missing", name)
            elif self._pins[name].sha256 != expected:
                self._wrong(f"{name}: its digest is not the one in plan.json")
        self._refusals.done()
        if self._json("workload.json") != value["workload"]:
            self._wrong("workload.json: not the workload in plan.json")
        self._normal_form(value["workload_sha256"])
        if [spec["index"] for spec in run.specs] != list(range(len(run.specs))):
            self._wrong("plan.json: its waves are not numbered from 0")
        return run

    def _normal_form(self, recorded: str) -> None:
        """Compare the workload's normal form, where its fields are known here (B10)."""
        try:
            found = normalised(self._read("workload.json"), FORM)
        except NoFormError:
            return
        if found != recorded:
            self._wrong("plan.json: its workload_sha256 is not that of workload.json")

    @staticmethod
    def _given(value: dict[str, Any], key: str) -> bool:
        return value.get(key) is not None

    def _supported(self, run: Run) -> None:
        since, contract = _CONTRACT
        if run.version > _LATEST:
            self._refusals.note("import-unsupported", f"plan version {run.version}")
        elif (run.plan.get("metric_contract") == contract) != (run.version >= since):
            self._wrong(f"plan.json: its metric contract is not that of version {run.version}")
        if any(self._given(spec, "lanes") for spec in run.specs):
            self._refusals.note(
                "import-unsupported", "plan.json: lanes with schedules of their own"
            )
        if self._given(run.plan["workload"], "resources"):
            self._refusals.note("import-unsupported", "plan.json: observers of resources")
        self._refusals.done()

    def _wave(self, run: Run, spec: dict[str, Any]) -> None:
        folder = f"wave-{spec['index']:06}"
        if not any(name.startswith(f"{folder}/") for name in self._pins):
            run.waves.append(Wave(spec=spec, state="not_started\0"))
            return
        second = 2 if run.version >= _SECOND else 1
        value = self._json(f"{folder}/reservation.json")
        reserved = foreign.table(value, what=f"{self._what}/{folder}/reservation.json")
        version, plan = reserved.integer("version"), reserved.sha256("plan_sha256")
        bodies = reserved.texts("requests", repeated=True)
        requests = reserved.texts("request_sha256", repeated=True)
        foreign.sound(reserved)
        if (version, plan, value.get("wave"), len(bodies)) != (
            second,
            run.plan_sha256,
            spec,
            spec["concurrency"],
        ):
            self._wrong(f"{folder}/reservation.json: not of this plan and wave")
        if [sha256(body.encode()).hexdigest() for body in bodies] != list(requests):
            self._wrong(f"{folder}/reservation.json: a request has another digest")
        pin = self._pins[f"{folder}/reservation.json"].sha256
        if not self._has(f"{folder}/wave.json"):
            self._known |= {f"{folder}/response-{n:04}.bin" for n in range(spec["concurrency"])}
            run.waves.append(Wave(spec=spec, state=f"{pin}reserved_unsettled\0"))
            return
        self._known |= {f"{folder}/{name}" for name in _METRICS}
        value = self._json(f"{folder}/wave.json")
        whole = foreign.table(value, what=f"{self._what}/{folder}/wave.json")
        found = whole.integer("version"), whole.sha256("plan_sha256")
        chained = whole.sha256("reservation_sha256")
        wave = Wave(
            spec=spec,
            state=f"{pin}published\0{self._pins[f'{folder}/wave.json'].sha256}",
            eligible=whole.flag("eligible"),
            requests=requests,
            attempts=Wave.read_attempts(whole),
        )
        elapsed, spread = whole.integer("elapsed_us"), whole.integer("dispatch_spread_us")
        foreign.sound(whole)
        if (*found, chained, value.get("spec")) != (second, run.plan_sha256, pin, spec):
            self._wrong(f"{folder}/wave.json: not of this plan and reservation")
        if len(wave.attempts) != spec["concurrency"]:
            self._wrong(f"{folder}/wave.json: {len(wave.attempts)} attempts, not as planned")
        for number in range(len(wave.attempts)):
            self._attempt(run, wave, number, folder)
        self._derived(wave, value, elapsed, spread, folder)
        run.waves.append(wave)

    def _attempt(self, run: Run, wave: Wave, number: int, folder: str) -> None:
        attempt, name = wave.attempts[number], f"{folder}/response-{number:04}.bin"
        if not self._has(name):
            self._refusals.note("import-missing", name)
            return
        pin, length = self._pins[name], attempt.response.length or 0
        if pin.length != length:
            told = f"{name}, {pin.length:,} bytes of {length:,}"
            self._refusals.note("import-truncated", told)
        elif pin != attempt.response:
            self._wrong(f"{name}: its digest is not the one in wave.json")
        if length > run.limit:
            self._wrong(f"{name}: longer than the workload allows")
        if attempt.lane != number:
            self._wrong(f"{folder}/wave.json: attempt {number} is of lane {attempt.lane}")
        fine = attempt.dispatched and attempt.http == _HTTP_OK
        if attempt.status == "complete" and not fine:
            self._wrong(f"{folder}/wave.json: attempt {number} is complete without an answer")

    def _derived(
        self, wave: Wave, value: dict[str, Any], elapsed: int, spread: int, folder: str
    ) -> None:
        """Compare what a wave says of itself with what follows from its attempts."""
        starts = [attempt.start for attempt in wave.attempts]
        if elapsed != wave.elapsed or spread != max(starts) - min(starts):
            self._wrong(f"{folder}/wave.json: elapsed time or spread does not follow from attempts")
        rate, expected = value.get("achieved_completion_tokens_per_second"), wave.rate
        near = rate is None and expected is None
        if isinstance(rate, int | Decimal) and expected is not None:
            near = abs(Decimal(rate) - expected) <= expected / _FLOAT
        if (
            wave.tokens != value.get("completion_tokens")
            or not near
            or wave.eligible != (expected is not None)
        ):
            self._wrong(f"{folder}/wave.json: tokens or rate do not follow from attempts")

    def _history(self, run: Run) -> str:
        """Read the sessions; return their part of the fingerprint."""
        if run.version == 1:
            self._has("run.json")
            return sha256(b"legacy-session-absent").hexdigest()
        running, at = sha256(), 0
        names = sorted({name.split("/")[0] for name in self._pins if name.startswith("session-")})
        if not names:
            self._refusals.note("import-missing", "session-000000/session.json")
        if len(names) > _SESSIONS:
            self._refusals.note("import-unsupported", f"{len(names):,} sessions")
        self._refusals.done()
        for index, folder in enumerate(names):
            if folder != f"session-{index:06}":
                self._refusals.note("import-missing", f"session-{index:06}/session.json")
                self._refusals.done()
            running.update(self._session(run, folder, index, at).encode())
            at = run.settled
        if any(wave.state != "not_started\0" for wave in run.waves[at:]) and run.status != "open":
            self._wrong("run.json: there are waves after those that the sessions count")
        return running.hexdigest()

    def _session(self, run: Run, folder: str, index: int, at: int) -> str:
        session = foreign.table(self._json(f"{folder}/session.json"), what=f"{folder}/session.json")
        found = session.integer("index"), session.integer("first_wave")
        chained = session.sha256("plan_sha256"), session.sha256("collector_sha256")
        foreign.sound(session)
        if (*found, *chained) != (index, at, run.plan_sha256, run.collector_sha256):
            self._wrong(f"{folder}/session.json: not the next one of this plan")
        if index and run.status != "paused":
            self._wrong(f"{folder}/session.json: the one before it was not paused")
        text = self._pins[f"{folder}/session.json"].sha256
        if not self._has(f"{folder}/run.json"):
            run.status = "open"
            return f"{text}unsettled\0"
        self._outcome(run, folder, index, at)
        text += f"settled\0{self._pins[f'{folder}/run.json'].sha256}"
        if index:
            return text
        if not self._has("run.json"):
            return f"{text}root-missing\0"
        if self._pins["run.json"] != self._pins[f"{folder}/run.json"]:
            self._wrong("run.json: not the outcome of the first session")
        return f"{text}root-present\0"

    def _outcome(self, run: Run, folder: str, index: int, at: int) -> None:
        """Compare a session's counts with the states of its waves."""
        end = foreign.table(self._json(f"{folder}/run.json"), what=f"{folder}/run.json")
        run.status = end.text("status")
        published = end.integer("published_waves")
        names = ("measured_waves", "eligible_measured_waves", "ineligible_warmup_waves")
        counts = [end.integer(name) for name in names]
        place = end.integer("session"), end.integer("first_wave"), end.integer("planned_waves")
        foreign.sound(end)
        waves = run.waves[at : at + published]
        measured = [wave for wave in waves if wave.measured]
        expected = [
            len(measured),
            sum(wave.eligible for wave in measured),
            sum(not wave.eligible for wave in waves if not wave.measured),
        ]
        if place != (index, at, len(run.specs)) or counts != expected:
            self._wrong(f"{folder}/run.json: its counts are not those of the waves")
        if len(waves) != published or not all(wave.published for wave in waves):
            self._wrong(f"{folder}/run.json: it counts waves that were not published")
        run.settled = at + published


UNSAID: Final = (
    "which commit and image were measured: subject source and image, runtime, claimHead",
    "arms beside this one, their order and fresh starts: design",
    "counters of the server for each request, and whether it was idle",
    "figures, gates and claims",
    "when it was planned, and whether anything is redacted: plannedAt, sanitisation",
)
