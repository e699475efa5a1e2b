"""Start processes and account for each of them: one request a line on standard input.

A request is a file for what the process prints, then its arguments, separated by NUL; none has
a line feed in it. The answer is one line: clock before and after in ns, exit code, processor time
in s, peak memory in bytes. A first line tells this process's own peak.

Apart from everything else because it has to stay small: until it executes its program, a child
counts the memory of its parent as its own, so no peak below ours can be told.
"""

import os
import sys
import time

WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

with open("/proc/self/status", encoding="ascii") as status_lines:  # noqa: PTH123  (keep it small)
    # not ru_maxrss, which counts our own parent
    peak = next(int(line.split()[1]) for line in status_lines if line.startswith("VmHWM:"))
print(peak * 1024, flush=True)
for line in sys.stdin.buffer:
    printed, *argv = line[:-1].split(b"\0")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, printed, WRITE, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    began = time.perf_counter_ns()
    child = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    ended = time.perf_counter_ns()
    code = os.waitstatus_to_exitcode(status)
    print(began, ended, code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, flush=True)
