"""Filter the system calls of student code, with a program for ``bwrap --seccomp``.

The kernel runs the filter, a small program of the Berkeley packet filter, at each system call.
Refused is what no notebook needs and what breaks out of sandboxes have used: tracing, mounting,
namespaces, keys, io_uring, and the like.  Sockets are refused whole: the network namespace is
empty, and so there is nobody to talk to.

Also refused is what reaches other notebooks through the files that all of them share, read-only as
these are: a lease on the interpreter makes everyone else who opens it wait for up to 45 seconds,
and inotify, dnotify and locks tell one notebook what another is doing.  And so is memory that no
bound on a process counts: files in memory, System V's shared memory and queues, pages lent to
pipes.

Locks on files are granted and not taken.  Programs that lock a file of their own (SQLite) run as if
they were alone with it, which they are, but for processes that the same notebook starts.
"""

from __future__ import annotations

import platform
import struct

EPERM, ENOSYS = 1, 38
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
GRANTED = ERRNO | 0  # the call is not made, and its caller is told that it went well
# Where the machine's word, the call's number and the lower halves of its arguments lie in what the
# filter is shown.
NUMBER, MACHINE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NEW_NAMESPACES = 0x7E020080  # CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET and TIME
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Name of a system call: its number on x86_64 and its number on aarch64, in the order of MACHINES;
# None where that machine has no such call.  Where the kernel's headers are installed,
# tests/classroom/test_sandbox.py compares these numbers, and those of CLONE, CLONE3, FCNTL and
# FLOCK, with them.
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "migrate_pages": (256, 238),
    "set_mempolicy": (238, 237),
    "socket": (41, 198),
    "memfd_secret": (447, 447),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fadvise64": (221, 223),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "vmsplice": (278, 75),
    "io_setup": (206, 0),
}
CLONE, CLONE3, FCNTL, FLOCK = (56, 220), (435, 435), (72, 25), (73, 32)
# What fcntl may be asked: to copy a descriptor, its flags, and the size of a pipe.  A list of what
# is allowed, since kernels get new commands that do what old ones did (leases came again as
# delegations).
FCNTL_ALLOWED = {
    "F_DUPFD": 0,
    "F_GETFD": 1,
    "F_SETFD": 2,
    "F_GETFL": 3,
    "F_SETFL": 4,
    "F_DUPFD_CLOEXEC": 1030,
    "F_GETPIPE_SZ": 1032,
}
FCNTL_GRANTED = {"F_SETLK": 6, "F_SETLKW": 7, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}
# Calls from here on are newer than this list; told that there is none, libraries fall back to older
# ones.
UNKNOWN = 452


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def program(machine: str | None = None) -> bytes | None:
    """Return the filter for a machine (by default this one), or None for an unknown machine.

    >>> len(program("x86_64")) % 8
    0
    >>> program("riscv64") is None
    True
    """
    machine = machine or platform.machine()
    if machine not in MACHINES:
        return None
    column = list(MACHINES).index(machine)
    own = (numbers[column] for numbers in REFUSED.values())
    refused = [number for number in own if number is not None]
    steps = [
        _step(LOAD, MACHINE),
        _step(EQUAL, MACHINES[machine], 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
    ]
    if machine == "x86_64":  # calls of the x32 kind have a bit set and other meanings
        steps += [_step(AT_LEAST, 0x40000000, 0, 1), _step(RETURN, ERRNO | ENOSYS)]
    steps += [_step(AT_LEAST, UNKNOWN, 0, 1), _step(RETURN, ERRNO | ENOSYS)]
    for number in refused:
        steps += [_step(EQUAL, number, 0, 1), _step(RETURN, ERRNO | EPERM)]
    steps += [_step(EQUAL, FLOCK[column], 0, 1), _step(RETURN, GRANTED)]
    asked = [_step(LOAD, SECOND_ARGUMENT)]
    for commands, answer in ((FCNTL_ALLOWED, ALLOW), (FCNTL_GRANTED, GRANTED)):
        for command in commands.values():
            asked += [_step(EQUAL, command, 0, 1), _step(RETURN, answer)]
    asked += [_step(RETURN, ERRNO | EPERM)]
    steps += [_step(EQUAL, FCNTL[column], 0, len(asked)), *asked]
    # clone3 keeps its flags where a filter cannot look; told that there is none, every library
    # falls back to clone.
    steps += [
        _step(EQUAL, CLONE3[column], 0, 1),
        _step(RETURN, ERRNO | ENOSYS),
        _step(EQUAL, CLONE[column], 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(ANY_BIT, NEW_NAMESPACES, 0, 1),
        _step(RETURN, ERRNO | EPERM),
        _step(RETURN, ALLOW),
    ]
    return b"".join(steps)
