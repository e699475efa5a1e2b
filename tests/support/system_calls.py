"""The system calls of Linux as ptrace(2) tells of them: what they act on, how one is refused.

PTRACE_GET_SYSCALL_INFO is the same on every machine; before Linux 5.3 the registers are asked.
Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux;
layouts: struct user_regs_struct and user_pt_regs, struct ptrace_syscall_info.
"""

import ctypes
import os
import platform
import struct
import sys
from typing import Any, Final, NamedTuple

#: Name, number on x86_64 and on aarch64, and what it acts on: `0` is the descriptor in argument 0,
#: `.1` the path in argument 1, `0/1` the path in argument 1 from the folder in argument 0. A star
#: marks calls that change what is stored, or make it last.
_TABLE: Final = """
read 0 63 0                 write 1 64 0 *              open 2 - .0
close 3 57 0                stat 4 - .0                 fstat 5 80 0
lstat 6 - .0                poll 7 -                    lseek 8 62 0
mmap 9 222 4                mprotect 10 226             munmap 11 215
brk 12 214                  rt_sigaction 13 134         rt_sigprocmask 14 135
rt_sigreturn 15 139         ioctl 16 29 0               pread64 17 67 0
pwrite64 18 68 0 *          readv 19 65 0               writev 20 66 0 *
access 21 - .0              pipe 22 -                   select 23 -
mremap 25 216               msync 26 227 *              madvise 28 233
dup 32 23 0                 dup2 33 - 0                 nanosleep 35 101
alarm 37 -                  getpid 39 172               sendfile 40 71 0 1 *
socket 41 198               connect 42 203 0            clone 56 220
fork 57 -                   vfork 58 -                  execve 59 221 .0
exit 60 93                  wait4 61 260                kill 62 129
uname 63 160                fcntl 72 25 0               flock 73 32 0
fsync 74 82 0 *             fdatasync 75 83 0 *         truncate 76 45 .0 *
ftruncate 77 46 0 *         getdents 78 - 0             getcwd 79 17
chdir 80 49 .0              fchdir 81 50 0              rename 82 - .0 .1 *
mkdir 83 - .0 *             rmdir 84 - .0 *             creat 85 - .0 *
link 86 - .0 .1 *           unlink 87 - .0 *            symlink 88 - .1 *
readlink 89 - .0            chmod 90 - .0 *             fchmod 91 52 0 *
chown 92 - .0 *             fchown 93 55 0 *            lchown 94 - .0 *
umask 95 166                getrlimit 97 163            getuid 102 174
getgid 104 176              geteuid 107 175             getegid 108 177
getppid 110 173             utime 132 - .0 *            mknod 133 - .0 *
statfs 137 43 .0            fstatfs 138 44 0            prctl 157 167
sync 162 81 *               gettid 186 178              setxattr 188 5 .0 *
lsetxattr 189 6 .0 *        fsetxattr 190 7 0 *         getxattr 191 8 .0
lgetxattr 192 9 .0          fgetxattr 193 10 0          listxattr 194 11 .0
llistxattr 195 12 .0        flistxattr 196 13 0         removexattr 197 14 .0 *
lremovexattr 198 15 .0 *    fremovexattr 199 16 0 *     futex 202 98
getdents64 217 61 0         fadvise64 221 223 0         clock_gettime 228 113
clock_nanosleep 230 115     exit_group 231 94           tgkill 234 131
utimes 235 - .0 *           waitid 247 95               openat 257 56 0/1
mkdirat 258 34 0/1 *        mknodat 259 33 0/1 *        fchownat 260 54 0/1 *
futimesat 261 - 0/1 *       newfstatat 262 79 0/1       unlinkat 263 35 0/1 *
renameat 264 38 0/1 2/3 *   linkat 265 37 0/1 2/3 *     symlinkat 266 36 1/2 *
readlinkat 267 78 0/1       fchmodat 268 53 0/1 *       faccessat 269 48 0/1
splice 275 76 0 2 *         sync_file_range 277 84 0 *  utimensat 280 88 0/1 *
fallocate 285 47 0 *        dup3 292 24 0               pipe2 293 59
preadv 295 69 0             pwritev 296 70 0 *          prlimit64 302 261
syncfs 306 267 0 *          renameat2 316 276 0/1 2/3 * getrandom 318 278
memfd_create 319 279        execveat 322 281 0/1        copy_file_range 326 285 0 2 *
preadv2 327 286 0           pwritev2 328 287 0 *        statx 332 291 0/1
clone3 435 435              close_range 436 436         openat2 437 437 0/1 *
faccessat2 439 439 0/1      fchmodat2 452 452 0/1 *
"""


class Kind(NamedTuple):
    """A row of the table."""

    name: str
    acts_on: tuple[str, ...] = ()
    changes: bool = False


class _Layout(NamedTuple):
    """Registers, 64 bits each: how many; which hold number and arguments, then the result."""

    size: int
    number: int
    arguments: tuple[int, ...]
    result: int


_LAYOUTS: Final = {
    "x86_64": _Layout(27, 15, (14, 13, 12, 7, 9, 8), 10),
    "aarch64": _Layout(34, 8, (0, 1, 2, 3, 4, 5), 0),
}
_MACHINE: Final = platform.machine()
_LAYOUT: Final = _LAYOUTS.get(_MACHINE, _LAYOUTS["x86_64"])

#: linux/ptrace.h
TRACEME, CONT, SYSCALL, SETOPTIONS = 0, 7, 24, 0x4200
TRACESYSGOOD, TRACEEXEC, EXITKILL = 1, 1 << 4, 1 << 20
_GETREGSET, _SETREGSET, _GET_SYSCALL_INFO = 0x4204, 0x4205, 0x420E
#: linux/elf.h
_NT_PRSTATUS, _NT_ARM_SYSTEM_CALL = 1, 0x404

#: An operation (1 entry, 2 exit), addresses; then number and arguments, or the result.
_ENTRY, _EXIT = struct.Struct("=B23x7Q"), struct.Struct("=B23xq")


def _kinds() -> dict[int, Kind]:
    rows: list[list[str]] = []
    for word in _TABLE.split():
        if word[0].isalpha():
            rows.append([])
        rows[-1].append(word)
    column = 2 if _MACHINE == "aarch64" else 1
    return {
        int(row[column]): Kind(row[0], tuple(w for w in row[3:] if w != "*"), "*" in row)
        for row in rows
        if row[column] != "-"
    }


_KINDS: Final = _kinds()


def kind(number: int) -> Kind:
    """Return what is known of the call with this number here."""
    return _KINDS.get(number) or Kind(f"syscall_{number}")


def unknown_machine() -> str | None:
    """Return why calls cannot be told here, None if they can."""
    if sys.platform == "linux" and _MACHINE in _LAYOUTS and sys.maxsize > 1 << 32:
        return None
    return f"no table of system calls for {sys.platform} on {_MACHINE}"


class _IoVec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_LIBC: Final = ctypes.CDLL(None, use_errno=True)
if sys.platform == "linux":
    _LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    _LIBC.ptrace.restype = ctypes.c_long


def ptrace(request: int, pid: int, address: int, data: int) -> None:
    """Ask the kernel, which refuses with an OSError."""
    if _LIBC.ptrace(request, pid, address, data) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def entered(pid: int) -> tuple[int, tuple[int, ...]]:
    """Return number and arguments of the call that a process is about to make."""
    if told := _info(pid):
        operation, number, *arguments = _ENTRY.unpack(told)
        assert operation == 1, "not at the entry of a call"
        return number, tuple(arguments)
    registers = _registers(pid)
    return registers[_LAYOUT.number], tuple(registers[at] for at in _LAYOUT.arguments)


def returned(pid: int) -> int:
    """Return the result of the call that a process comes back from."""
    if told := _info(pid):
        operation, result = _EXIT.unpack_from(told)
        assert operation == 2, "not at the exit of a call"
        return int(result)
    return ctypes.c_int64(_registers(pid)[_LAYOUT.result]).value


def skip(pid: int) -> None:
    """At its entry: let the call not be executed."""
    if _MACHINE == "aarch64":
        _regset(_SETREGSET, pid, _NT_ARM_SYSTEM_CALL, ctypes.c_int(-1))
    else:
        _change(pid, _LAYOUT.number, -1)


def answer(pid: int, result: int) -> None:
    """At its exit: let the call return this instead."""
    _change(pid, _LAYOUT.result, result)


def _info(pid: int) -> bytes | None:
    """Ask for the call that a process stopped at; None where the kernel does not know how."""
    told = ctypes.create_string_buffer(_ENTRY.size)
    try:
        ptrace(_GET_SYSCALL_INFO, pid, _ENTRY.size, ctypes.addressof(told))
    except ProcessLookupError:
        raise
    except OSError:
        return None
    return told.raw


def _registers(pid: int) -> "ctypes.Array[ctypes.c_uint64]":
    values = (ctypes.c_uint64 * _LAYOUT.size)()
    _regset(_GETREGSET, pid, _NT_PRSTATUS, values)
    return values


def _change(pid: int, register: int, value: int) -> None:
    values = _registers(pid)
    values[register] = value
    _regset(_SETREGSET, pid, _NT_PRSTATUS, values)


def _regset(request: int, pid: int, which: int, values: Any) -> None:
    vector = _IoVec(ctypes.addressof(values), ctypes.sizeof(values))
    ptrace(request, pid, which, ctypes.addressof(vector))
