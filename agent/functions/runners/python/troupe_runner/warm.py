"""A runner that was started before its pod was known, by an agent that is root.

What it keeps true:
- It waits for one line, its assignment (agent/functions/warm/assignment.ts), and has nothing of a user's before that. The end of the agent is its own.
- What may fail is tried before the attempt is written down, as far as possible: until then the agent can start the pod in the other way.
- After that it is the process of one pod for good: in its groups and its network, its user without any way back, with nothing open of the agent's.
"""

import ctypes
import errno
import json
import os
import resource
import sys
import time

from .runner import preload

# As agent/process/start/shim.ts has them.
STATE, LIFELINE, PROC, CONTROL = 3, 4, 5, 7

# Source: linux/sched.h, linux/mount.h, linux/prctl.h.
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MNT_DETACH = 2
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38

# Where the agent does not say how its environment names the language, the interpreter has chosen this for itself and what it starts.
CHOSEN = "LC_CTYPE"

REFUSED = 126


def assigned():
    """Waits to be the runner of a pod, becomes it, and gives its configuration."""
    libc = ctypes.CDLL(None, use_errno=True)
    preload()
    line = wait()
    if line is None:
        os._exit(0)
    try:
        assignment = json.loads(line)
        told, groups = prepare(libc, assignment)
    except Exception as error:
        write(STATE, "refused %s\n" % one_line(error))
        os._exit(REFUSED)
    try:
        tell(assignment, told)
        become(libc, assignment, groups)
    except Exception as error:
        write(2, "error: a runner that was started in advance cannot become that of its pod: %s\n" % one_line(error))
        os._exit(REFUSED)
    return assignment["config"]


def wait():
    """The line; None: the agent has ended."""
    os.write(CONTROL, b"ready\n")
    pieces = []
    while True:
        piece = os.read(CONTROL, 65536)
        if not piece:
            return None
        pieces.append(piece)
        if piece.endswith(b"\n"):
            return b"".join(pieces)


def prepare(libc, assignment):
    """What it will be in is opened, and its place among the files and networks of the node is taken."""
    groups = [os.open(joined_by(file), os.O_WRONLY | os.O_CLOEXEC) for file in assignment["cgroups"]]
    if assignment["umask"] is not None:
        os.umask(assignment["umask"])
    for source, target in assignment["files"]:
        bind(libc, source, target)
    for folder in assignment["hidden"]:
        hide(libc, folder)
    if assignment["network"] is not None:
        # As the agent sees it: what was mounted since this has begun need not be seen from here.
        network = os.open(assignment["network"], os.O_RDONLY | os.O_CLOEXEC, dir_fd=PROC)
        call(libc.setns, network, CLONE_NEWNET)
    process = os.open("self/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=PROC)
    return os.read(process, 4096).decode("utf-8", "replace").strip(), groups


def joined_by(file):
    """In groups of version 1 a thread joins by itself, for which the kernel waits for nobody. Here it is all of the process."""
    threads = os.path.join(os.path.dirname(file), "tasks")
    return threads if len(os.listdir("/proc/self/task")) == 1 and os.path.exists(threads) else file


def bind(libc, source, target):
    for flags in (MS_BIND, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV):
        call(libc.mount, os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(flags), None)


def hide(libc, folder):
    try:
        call(libc.umount2, os.fsencode(folder), MNT_DETACH)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOENT):  # It was never seen from here.
            raise


def tell(assignment, process):
    """The attempt has begun, as the shim of another one writes it down."""
    for line in (
        "running %d %s %s" % (assignment["startedAtMs"], assignment["bootId"], process.split(" ", 1)[0]),
        "process %s" % process,
    ):
        write(STATE, line + "\n")
        write(LIFELINE, "\n")


def become(libc, assignment, groups):
    for group in groups:
        os.write(group, b"0")
    close_all()
    user = assignment["user"]
    os.setgroups(assignment["groups"])
    os.setresgid(user["gid"], user["gid"], user["gid"])
    os.setresuid(user["uid"], user["uid"], user["uid"])
    if not assignment["mayGain"]:
        control(libc, PR_SET_NO_NEW_PRIVS, 1)
    # As a program that was begun by this user: its files in /proc are its own, and nothing of anyone else's was ever in its memory.
    control(libc, PR_SET_DUMPABLE, 1)
    limit(resource.RLIMIT_DATA, assignment["dataBytes"])
    limit(resource.RLIMIT_NPROC, assignment["userProcesses"])
    take_environment(assignment["env"])
    os.chdir(assignment["directory"])
    # Others cannot read the file: what begins a further interpreter is not to look for it.
    vars(sys.modules["__main__"]).pop("__file__", None)


def close_all():
    """All but stdin, stdout and stderr."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                pass  # That of the list itself.


def limit(kind, value):
    """It fails where there is a lower one already."""
    if value is None:
        return
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        pass


def take_environment(pairs):
    chosen = os.environ.get(CHOSEN)
    os.environ.clear()
    if chosen is not None:
        os.environ[CHOSEN] = chosen
    for name, value in pairs:
        os.environ[name] = value
    time.tzset()


def control(libc, option, value):
    call(libc.prctl, option, *(ctypes.c_ulong(each) for each in (value, 0, 0, 0)))


def call(function, *arguments):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (function.__name__, os.strerror(number)))


def write(fd, text):
    os.write(fd, text.encode("utf-8", "replace"))


def one_line(error):
    return " ".join(str(error).split()) or type(error).__name__
