"""The log: whole lines, each with the id of its call."""

import contextvars
import io
import os
import selectors
import sys
import threading

LINE_BYTES = 65_536


class Lines:
    """What one call, or one thread outside of calls, writes. Only whole lines go out."""

    def __init__(self, id=None):
        self.prefix = b"" if id is None else b"[%s] " % id.encode()
        self.rests = {1: b"", 2: b""}
        # A finalizer may print while this thread holds it.
        self.lock = threading.RLock()

    def write(self, fd, data):
        with self.lock:
            lines = (self.rests[fd] + data).split(b"\n")
            rest = lines.pop()
            while len(rest) > LINE_BYTES:
                lines.append(rest[:LINE_BYTES])
                rest = rest[LINE_BYTES:]
            self.rests[fd] = rest
            if lines:
                write_out(fd, b"".join(self.prefix + line + b"\n" for line in lines))

    def complain(self, text):
        self.write(2, text.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n")

    def flush(self):
        for fd, rest in self.rests.items():
            if rest:
                self.write(fd, b"\n")


class Outside(threading.local):
    def __init__(self):
        self.lines = Lines()

    def __del__(self):
        self.lines.flush()


output_locks = {1: threading.RLock(), 2: threading.RLock()}
current_lines = contextvars.ContextVar("lines of the call", default=None)
outside = Outside()


def write_out(fd, data):
    view = memoryview(data)
    with output_locks[fd]:
        while view:
            try:
                view = view[os.write(fd, view) :]
            except BlockingIOError:
                with selectors.DefaultSelector() as selector:
                    selector.register(fd, selectors.EVENT_WRITE)
                    selector.select()
            except OSError:
                return  # Nobody reads the log any more.


def complain(text):
    """What is of no call."""
    Lines().complain(text)


class LogBytes(io.RawIOBase):
    """Takes the place of the file under sys.stdout or sys.stderr."""

    def __init__(self, fd):
        super().__init__()
        self.fd = fd

    def writable(self):
        return True

    def fileno(self):
        return self.fd

    def write(self, data):
        data = bytes(data)
        (current_lines.get() or outside.lines).write(self.fd, data)
        return len(data)


def capture_output():
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = io.TextIOWrapper(LogBytes(fd), "utf-8", "backslashreplace", write_through=True)
        stream.mode = "w"
        setattr(sys, name, stream)
    follow_threads()


def follow_threads():
    """A thread that a call starts writes for that call; workers of a pool write for the call that gave them their work."""
    start = threading.Thread.start

    def start_for_call(self):
        lines = current_lines.get()
        if lines is not None and not is_pool_worker(self):
            run = self.run

            def run_for_call():
                del self.run
                current_lines.set(lines)
                run()

            self.run = run_for_call
        start(self)

    threading.Thread.start = start_for_call


def is_pool_worker(thread):
    target = getattr(thread, "_target", None)
    return getattr(target, "__module__", None) == "concurrent.futures.thread"


def follow_pools():
    """Where pools of threads are loaded."""
    module = sys.modules.get("concurrent.futures.thread")
    if module is None or hasattr(module.ThreadPoolExecutor.submit, "of_the_runner"):
        return
    pool = module.ThreadPoolExecutor
    submit = pool.submit

    def submit_for_call(self, work, /, *args, **named):
        lines = current_lines.get()
        if lines is None:
            return submit(self, work, *args, **named)

        def work_for_call(*args, **named):
            token = current_lines.set(lines)
            try:
                return work(*args, **named)
            finally:
                current_lines.reset(token)

        return submit(self, work_for_call, *args, **named)

    submit_for_call.of_the_runner = True
    pool.submit = submit_for_call
