#!/usr/bin/env python3
"""Serves one Python function by HTTP/1.1, as docs/functions.md has it under "The runner".

What it keeps true:
- A call gets one answer: whoever takes the call's lock first, the thread of the call or the watchdog at the deadline, gives it.
- Whatever waits for a client ends at the call's deadline: the watchdog cuts the connection under the thread that waits.
- Whatever is kept is bounded: connections (and so threads, one each), heads, bodies, answers, tracebacks, lines of the log.
- What is no HTTP of which length there is one meaning ends its connection: nothing after it is taken for another request.

Nothing of the function is loaded before serve(), so that a process may import this file, call preload(), and fork one runner after another. Of the
standard library http.server is left out on purpose: importing it takes longer than everything else here together, and it forgives too much.
"""

import contextvars
import io
import json
import os
import re
import selectors
import signal
import socket
import socketserver
import sys
import threading
import time
from http import HTTPStatus
from urllib.parse import parse_qsl

HEAD_BYTES = 65_536
HEADERS = 100
CHUNK_LINE_BYTES = 1024
SMALL_BYTES = 65_536
LINE_BYTES = 65_536
TRACEBACK_BYTES = 16_384
MESSAGE_CHARACTERS = 4096
IDLE_CONNECTIONS = 64
# How long a coroutine may take to notice that it is cancelled, and a generator that it is closed, after the deadline.
ENDING_SECONDS = 1
# How long a client that was refused may go on sending before it hears of a reset instead of the answer.
LINGER_SECONDS = 1

RUNNER_FILE = os.path.abspath(__file__)
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# One header line: a name, a colon at once, and a value without control characters.
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])")
CALL_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
FORM_TYPE = "application/x-www-form-urlencoded"
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OF_THE_CONNECTION = frozenset(
    "connection content-length keep-alive proxy-connection te trailer transfer-encoding upgrade x-request-id".split()
)


def preload():
    """Imports what is otherwise imported by the first call that needs it."""
    import asyncio  # noqa: F401
    import inspect  # noqa: F401
    import queue  # noqa: F401
    import traceback  # noqa: F401


def main():
    try:
        config = json.loads(sys.argv[1])
    except (IndexError, ValueError) as error:
        sys.exit("error: the only argument is the runner's configuration as JSON: %s" % error)
    serve(config)


def serve(config):
    """Loads the function and serves it until it is told to end. Does not return."""
    if config.get("readyFd") is not None:
        os.set_inheritable(config["readyFd"], False)
    capture_output()
    code = 1
    try:
        function = load(config["dir"])
        runner = Runner(config, function)
    except Unloadable as error:
        complain(str(error))
    except OSError as error:
        complain("error: cannot listen at %s: %s" % (json.dumps(config["listen"]), error))
    else:
        code = runner.run(config.get("readyFd"))
        if code == 0:
            end_politely()
    outside.lines.flush()
    os._exit(code)  # Threads of the function are not waited for: they may never end.


def end_politely():
    import atexit

    try:
        atexit._run_exitfuncs()
    except BaseException as error:
        complain(traceback_of(error))


# ---- The log: whole lines, each with the id of its call.


class Lines:
    """What one call, or one thread outside of calls, writes. Only whole lines go out."""

    def __init__(self, prefix=b""):
        self.prefix = prefix
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


def complain(text):
    Lines().write(2, text.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n")


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


# ---- The function.


class Unloadable(Exception):
    pass


class Function:
    def __init__(self, main, takes_request):
        self.main = main
        self.takes_request = takes_request

    def __call__(self, params, request):
        return self.main(params, request) if self.takes_request else self.main(params)


def load(folder):
    folder = os.path.abspath(folder)
    path = os.path.join(folder, "func.py")
    if sys.path and sys.path[0] == os.path.dirname(RUNNER_FILE):
        del sys.path[0]
    sys.path[:0] = [folder, os.path.join(folder, "site-packages")]
    sys.argv = [path]
    try:
        os.chdir(folder)
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise Unloadable("error: cannot read %s: %s" % (path, error.strerror)) from None
    module = type(sys)("func")
    module.__file__ = path
    sys.modules["func"] = module
    try:
        # Never from a cache: code that was changed twice within a second would be taken for what it was.
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        raise Unloadable("%s\nerror: %s cannot be loaded: %s" % (traceback_of(error).rstrip(), path, message_of(error))) from None
    if not hasattr(module, "main"):
        raise Unloadable("error: %s has no function main(params)" % path)
    if not callable(module.main):
        raise Unloadable("error: main of %s is no function but %s" % (path, kind_of(module.main)))
    count = parameters_of(module.main)
    if count is None:
        raise Unloadable("error: main of %s has to take one argument, params, or two, params and request" % path)
    follow_pools()
    return Function(module.main, count > 1)


def parameters_of(main):
    """Whether it is called with one argument or two; None: it can be called with neither."""
    code = getattr(main, "__code__", None)
    # As most functions are; what is decorated or a class takes a look that costs an import.
    if code is not None and type(main) is type(load) and not hasattr(main, "__wrapped__") and not code.co_kwonlyargcount:
        required = code.co_argcount - len(main.__defaults__ or ())
        most = float("inf") if code.co_flags & 0x04 else code.co_argcount
        return 2 if required <= 2 <= most else 1 if required <= 1 <= most else None
    import inspect

    try:
        signature = inspect.signature(main)
    except (TypeError, ValueError):
        return 1
    for count in (2, 1):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return None


class Answer:
    __slots__ = ("body", "status", "headers")

    def __init__(self, body, status, headers):
        self.body = body
        self.status = status
        self.headers = headers


class Request:
    """What a function gets as its second argument."""

    __slots__ = ("id", "method", "path", "query", "headers", "body")

    def __init__(self, id, method, path, query, headers, body):
        self.id = id
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body

    def answer(self, body=None, status=200, headers=None):
        """An answer that is no JSON, or has a status or headers of its own."""
        if type(status) is not int and not isinstance(status, HTTPStatus) or not 200 <= status <= 599:
            raise ValueError("a status is a number from 200 to 599, not %r" % (status,))
        if status in (204, 205, 304) and body is not None:
            raise ValueError("an answer with status %d has no body" % status)
        return Answer(body, int(status), checked_headers(headers or {}))


def checked_headers(headers):
    checked = []
    for name, values in dict(headers).items():
        if not isinstance(name, str) or not name.isascii() or not TOKEN.fullmatch(name.encode()):
            raise ValueError("%r is no name of a header" % (name,))
        if name.lower() in OF_THE_CONNECTION:
            raise ValueError("the header %s is not a function's to set" % name.lower())
        for value in values if isinstance(values, (list, tuple)) else (values,):
            if type(value) is int:
                value = str(value)
            if not isinstance(value, str) or not HEADER_VALUE.fullmatch(value):
                raise ValueError("%r is no value of the header %s" % (value, name.lower()))
            checked.append((name.lower(), value))
    return checked


# ---- JSON, and errors as JSON.


def refuse_constant(name):
    raise ValueError("%s is no JSON" % name)


decode_json = json.JSONDecoder(parse_constant=refuse_constant).decode
encode_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode_json(value):
    text = encode_text(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # Halves of surrogate pairs: they can be escaped, and not be encoded.
        return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half.group()), text).encode()


def kind_of(value):
    return type(value).__name__


def message_of(error):
    try:
        text = str(error)
    except BaseException:
        text = "(its text cannot be had)"
    name = kind_of(error)
    return (name + ": " + text if text else name)[:MESSAGE_CHARACTERS]


def traceback_of(error):
    """Without the frames of this file, and no longer than TRACEBACK_BYTES."""
    import traceback

    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__)
        waiting, seen = [report], set()
        while waiting:
            part = waiting.pop()
            if part is None or id(part) in seen:
                continue
            seen.add(id(part))
            part.stack = traceback.StackSummary.from_list(frame for frame in part.stack if frame.filename not in (RUNNER_FILE, __file__))
            waiting += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
        text = "".join(report.format()).encode("utf-8", "backslashreplace")
    except BaseException:
        text = message_of(error).encode("utf-8", "backslashreplace") + b"\n"
    if len(text) > TRACEBACK_BYTES:
        first, last = text[: TRACEBACK_BYTES // 4], text[len(text) - TRACEBACK_BYTES // 4 * 3 + 8 :]
        text = first + b"\n...\n" + last
    return text.decode("utf-8", "ignore")


class Refused(Exception):
    """An answer that is an error. Where the request was not read to its end, nothing can follow it."""

    def __init__(self, status, code, message, closes=True):
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.closes = closes


class Gone(Exception):
    """The client went, or its time is over: there is nobody to answer."""


class Unsendable(Exception):
    """What a function gave is nothing that can be sent; the message says why."""


def error_body(code, message, traceback=None):
    error = {"code": code, "message": message}
    if traceback is not None:
        error["traceback"] = traceback
    return encode_json({"error": error})


# ---- Answers as bytes.

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
REASONS = {int(status): status.phrase for status in HTTPStatus}
dated = (0, "")


def date():
    global dated
    now = int(time.time())
    if dated[0] != now:
        at = time.gmtime(now)
        clock = (DAYS[at.tm_wday], at.tm_mday, MONTHS[at.tm_mon - 1], at.tm_year, at.tm_hour, at.tm_min, at.tm_sec)
        dated = (now, "%s, %02d %s %04d %02d:%02d:%02d GMT" % clock)
    return dated[1]


def head_bytes(status, headers, id, connection):
    """`headers` name nothing twice that is added here."""
    lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, ""))]
    lines += ["%s: %s" % header for header in headers]
    if not any(name == "date" for name, _ in headers):
        lines.append("date: " + date())
    lines.append("x-request-id: " + id)
    if connection:
        lines.append("connection: " + connection)
    lines.append("\r\n")
    return "\r\n".join(lines).encode("latin-1")


def with_type(headers, content_type):
    return headers if any(name == "content-type" for name, _ in headers) else [("content-type", content_type), *headers]


def error_bytes(status, code, message, id, without_body=False):
    body = error_body(code, message)
    head = head_bytes(status, [("content-type", "application/json"), ("content-length", len(body))], id, "close")
    return head if without_body else head + body


# ---- Time.


class Watchdog:
    """One thread that calls what is due. What it calls must not wait for anything."""

    def __init__(self):
        self.due = {}  # At most two for each connection: looking at all of them is cheap, and nothing that is over stays.
        self.wakes_at = float("inf")
        self.changed = threading.Condition(threading.Lock())
        threading.Thread(target=self.watch, name="deadlines", daemon=True).start()

    def arm(self, key, seconds, act):
        at = time.monotonic() + seconds
        with self.changed:
            self.due[key] = (at, act)
            if at < self.wakes_at:
                self.changed.notify()

    def disarm(self, key):
        with self.changed:
            self.due.pop(key, None)

    def watch(self):
        while True:
            for act in self.next():
                try:
                    act()
                except BaseException:
                    pass  # It has to live: the other calls end by it.

    def next(self):
        with self.changed:
            now = time.monotonic()
            keys = [key for key, (at, _) in self.due.items() if at <= now]
            if not keys:
                self.wakes_at = min((at for at, _ in self.due.values()), default=float("inf"))
                self.changed.wait(None if self.wakes_at == float("inf") else min(self.wakes_at - now, threading.TIMEOUT_MAX))
                self.wakes_at = 0
            return [self.due.pop(key)[1] for key in keys]


# ---- Asynchronous functions.


class Loop:
    """One event loop in a thread of its own, from the first call that needs it."""

    def __init__(self):
        import asyncio

        self.asyncio = asyncio
        self.loop = asyncio.new_event_loop()
        follow_pools()
        threading.Thread(target=self.run, name="event loop", daemon=True).start()

    def run(self):
        self.asyncio.set_event_loop(self.loop)
        while True:
            try:
                self.loop.run_forever()
            except BaseException as error:  # A task that called sys.exit().
                complain(traceback_of(error))


class LoopTask:
    """A coroutine of a call in the loop, for which the thread of the call waits."""

    def __init__(self, loop, make):
        self.loop = loop.loop
        self.asyncio = loop.asyncio
        self.value = None
        self.error = None
        self.task = None
        self.ended = threading.Event()
        self.make = make
        # In the context of the call: call_soon_threadsafe copies it, and so does the task.
        self.loop.call_soon_threadsafe(self.start)

    def start(self):
        self.task = self.loop.create_task(self.guard())
        self.task.add_done_callback(self.end)

    async def guard(self):
        try:
            self.value = await self.make()
        except BaseException as error:
            self.error = error

    def end(self, task):
        if task.cancelled() and self.error is None:
            self.error = self.asyncio.CancelledError()
        self.on_end()
        self.ended.set()

    def on_end(self):
        pass

    def cancel(self):
        self.loop.call_soon_threadsafe(lambda: self.task.cancel())

    def result(self):
        self.ended.wait()
        if self.error is not None:
            raise self.error
        return self.value


class Items:
    """A synchronous iterator."""

    stage = "function"
    gone = False

    def __init__(self, iterator):
        self.iterator = iterator

    def next(self):
        return next(self.iterator)

    def close(self):
        close = getattr(self.iterator, "close", None)
        if close is not None:
            close()


class LoopItems(LoopTask):
    """An asynchronous iterator: one task takes item after item, each when it is asked for, so that what belongs to a task stays in it."""

    stage = "loop"

    def __init__(self, loop, iterable, connection):
        import queue

        self.iterable = iterable
        self.connection = connection
        self.items = queue.SimpleQueue()  # Holds one item at most, and the end.
        self.turn = None
        self.gone = False
        self.over = False
        super().__init__(loop, self.pump)

    def start(self):
        self.turn = self.asyncio.Event()
        super().start()

    async def pump(self):
        iterator = self.iterable.__aiter__()
        self.loop.add_reader(self.connection.fileno(), self.look)
        try:
            await self.turn.wait()
            async for item in iterator:
                self.turn.clear()
                self.items.put((item,))
                await self.turn.wait()
        finally:
            self.loop.remove_reader(self.connection.fileno())
            close = getattr(iterator, "aclose", None)
            if close is not None:
                await close()

    def look(self):
        """The client sent something while the next item is awaited, or has gone."""
        self.loop.remove_reader(self.connection.fileno())
        if has_gone(self.connection):
            self.gone = True
            self.task.cancel()

    def on_end(self):
        self.items.put(None)

    def next(self):
        self.loop.call_soon_threadsafe(lambda: self.turn.set())
        item = self.items.get()
        if item is not None:
            return item[0]
        self.over = True
        if self.error is not None:
            raise self.error
        raise StopIteration

    def close(self):
        if self.over:
            return
        self.cancel()
        while self.items.get() is not None:
            self.cancel()  # It has caught the first one and goes on.
        self.over = True
        if self.error is not None and not isinstance(self.error, self.asyncio.CancelledError):
            raise self.error


def has_gone(connection):
    """Whether the client has closed its side. What it has sent meanwhile stays to be read."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


# ---- One call.


class Call:
    """From the first byte of a request's head to the end of its answer.

    `stage` is where its thread is: "head", "body", "send": waiting for the client; "function": in the function, where nothing can interrupt it;
    "loop": waiting for a coroutine.
    """

    def __init__(self, runner, connection):
        self.runner = runner
        self.connection = connection
        self.id = os.urandom(12).hex()
        self.lock = threading.Lock()
        self.stage = "head"
        self.answering = False
        self.late = False
        self.over = False
        self.task = None
        self.lines = None
        self.without_body = False
        self.closes = True
        self.persistent = False  # HTTP/1.0, and asks for its connection to be kept.
        self.chunked = True

    def enter(self, stage, task=None):
        with self.lock:
            if self.late:
                raise Gone
            self.stage = stage
            self.task = task

    def begin_answer(self):
        with self.lock:
            if self.late:
                raise Gone
            self.stage = "send"
            self.answering = True

    def send(self, data):
        try:
            self.connection.sendall(data)
        except OSError:
            raise Gone from None

    def at_deadline(self):
        """Called by the watchdog."""
        with self.lock:
            if self.over:
                return
            self.late = True
            if self.stage == "body":
                self.runner.release(self)  # Nothing was begun, and who is told so may call again at once.
            if not self.answering and self.stage != "head":
                self.answering = True
                self.answer_late()
            cut(self.connection)
            if self.stage == "function":
                self.runner.is_stuck(self)
                return
            if self.stage == "loop":
                self.task.cancel()
        self.runner.watchdog.arm((self, "ending"), ENDING_SECONDS, self.at_end)

    def at_end(self):
        with self.lock:
            if not self.over:
                self.runner.is_stuck(self)

    def answer_late(self):
        about = "its body did not come" if self.stage == "body" else "it did not end"
        message = "%s within %d ms" % (about, self.runner.timeout_ms)
        try:
            self.connection.send(error_bytes(504, "ERR_TIMEOUT", message, self.id, self.without_body), socket.MSG_DONTWAIT)
        except OSError:
            pass

    def end(self):
        with self.lock:
            self.over = True

    def log(self, text):
        (self.lines or Lines(b"[%s] " % self.id.encode())).write(2, text.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n")


def cut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def reset(connection):
    """An answer without a length that ends early must not look as if that were its end."""
    try:
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    except OSError:
        pass


# ---- One connection.


class Connection(socketserver.StreamRequestHandler):
    """Reads request after request and has each answered, in one thread."""

    wbufsize = 0

    def setup(self):
        self.disable_nagle_algorithm = self.request.family != socket.AF_UNIX
        super().setup()
        self.runner = self.server.runner

    def handle(self):
        try:
            while self.handle_one():
                pass
        except (Gone, OSError):
            pass

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass

    def handle_one(self):
        """Whether another request may follow."""
        if not self.rfile.peek(1):
            return False
        call = Call(self.runner, self.connection)
        self.runner.begins(self.connection)
        self.runner.watchdog.arm(call, self.runner.timeout_ms / 1000, call.at_deadline)
        try:
            self.answer(call)
        except Gone:
            call.closes = True
        finally:
            call.end()
            self.runner.watchdog.disarm(call)
            self.runner.watchdog.disarm((call, "ending"))
        return self.runner.ends(self.connection) and not call.closes

    def answer(self, call):
        admitted = False
        try:
            head = read_head(self.rfile, call)
            admitted = self.admit(call, head)
            call.enter("body")
            body = self.read_body(call, head)
            request = request_of(call.id, head, body)
            params = params_of(request)
            call.lines = Lines(b"[%s] " % call.id.encode())
            # Nothing that a function keeps in its context is seen by the next call of this connection.
            contextvars.copy_context().run(perform, self.runner, call, request, params)
        except Refused as refused:
            self.refuse(call, refused, admitted)
            return
        finally:
            if admitted:
                self.runner.release(call)

    def admit(self, call, head):
        refused = self.runner.admit(call)
        if refused is None:
            return True
        # A small body is read, so that a client that is told to come again need not connect again.
        if refused.status == 429 and head.length is not None and head.length <= SMALL_BYTES and not head.expects and not call.closes:
            self.read_exactly(head.length)
            refused.closes = False
        raise refused

    def refuse(self, call, refused, admitted):
        if refused.closes:
            call.closes = True
        if admitted:
            self.runner.release(call)
        call.begin_answer()
        send_whole(self.runner, call, refused.status, [("content-type", "application/json")], error_body(refused.code, refused.message))
        if refused.closes:
            self.linger(call)

    def linger(self, call):
        """A connection that is closed while something unread has come is reset, and the client may never see the answer."""
        call.end()
        until = time.monotonic() + LINGER_SECONDS
        try:
            self.connection.shutdown(socket.SHUT_WR)
            while True:
                left = until - time.monotonic()
                if left <= 0:
                    return
                self.connection.settimeout(left)
                if not self.connection.recv(65_536):
                    return
        except OSError:
            pass

    def read_body(self, call, head):
        limit = self.runner.body_bytes
        if head.length is not None and head.length > limit:
            raise Refused(413, "ERR_TOO_LARGE", "the body has %d bytes, and may have %d" % (head.length, limit))
        if head.expects and (head.chunked or head.length):
            with call.lock:
                if call.late:
                    raise Gone
                call.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.chunked:
            return self.read_chunks(limit)
        return self.read_exactly(head.length) if head.length else b""

    def read_exactly(self, count):
        data = self.rfile.read(count)
        if len(data) < count:
            raise Gone
        return data

    def read_chunks(self, limit):
        chunks, total = [], 0
        while True:
            size = re.fullmatch(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\x00-\x08\x0a-\x1f\x7f]*)?", self.chunk_line())
            if size is None:
                raise Refused(400, "ERR_BAD_REQUEST", "a chunk of the body has no size")
            size = int(size.group(1), 16)
            total += size
            if total > limit:
                raise Refused(413, "ERR_TOO_LARGE", "the body has more than %d bytes" % limit)
            if size == 0:
                break
            chunks.append(self.read_exactly(size))
            if self.read_exactly(2) != b"\r\n":
                raise Refused(400, "ERR_BAD_REQUEST", "a chunk of the body is longer than its size")
            if len(chunks) == 1024:
                # A chunk of one byte costs forty: what is kept has to stay near what was sent.
                chunks = [b"".join(chunks)]
        for _ in range(HEADERS):
            if not self.chunk_line():
                return b"".join(chunks)
        raise Refused(400, "ERR_BAD_REQUEST", "the body has more than %d trailers" % HEADERS)

    def chunk_line(self):
        return read_line(self.rfile, CHUNK_LINE_BYTES, "a line between chunks")


def read_line(file, most, about):
    """Without its end."""
    line = file.readline(most + 2)
    if line.endswith(b"\r\n"):
        return line[:-2]
    if line.endswith(b"\n"):
        raise Refused(400, "ERR_BAD_REQUEST", "%s does not end with CR LF" % about)
    if len(line) < most + 2:
        raise Gone
    raise Refused(400, "ERR_BAD_REQUEST", "%s is longer than %d bytes" % (about, most))


class Head:
    __slots__ = ("method", "path", "headers", "length", "chunked", "expects")


def read_head(file, call):
    left = HEAD_BYTES
    line = read_line(file, left, "the request line")
    if not line:  # One empty line before a request is forgiven, as HTTP wants it.
        line = read_line(file, left, "the request line")
    match = REQUEST_LINE.fullmatch(line)
    if match is None or match.group(1) == b"CONNECT":
        raise Refused(400, "ERR_BAD_REQUEST", "the request line is none of HTTP/1.1")
    head = Head()
    head.method = match.group(1).decode()
    head.path = match.group(2).decode("latin-1")
    call.without_body = head.method == "HEAD"
    fields = []
    while True:
        left -= len(line) + 2
        if left <= 0 or len(fields) > HEADERS:
            raise Refused(400, "ERR_BAD_REQUEST", "the head has more than %d bytes, or %d headers" % (HEAD_BYTES, HEADERS))
        line = read_line(file, left, "a header")
        if not line:
            break
        field = HEADER.fullmatch(line)
        if field is None:
            raise Refused(400, "ERR_BAD_REQUEST", "a header is none")
        fields.append((field.group(1).decode().lower(), field.group(2).decode("latin-1")))
    judge(head, fields, match.group(3) == b"1", call)
    return head


def judge(head, fields, is_new, call):
    """What the headers say of the message and its connection."""
    head.headers = headers = {}
    single = ("content-length", "transfer-encoding", "host", "expect", "x-request-id", "content-type")
    repeated = set()
    for name, value in fields:
        if name not in headers:
            headers[name] = value
        else:
            repeated.add(name)
            headers[name] += ("; " if name == "cookie" else ", ") + value
    if CALL_ID.fullmatch(headers.get("x-request-id", "")):
        call.id = headers["x-request-id"]
    for name in single:
        if name in repeated:
            raise Refused(400, "ERR_BAD_REQUEST", "the header %s comes twice" % name)
    if is_new and "host" not in headers:
        raise Refused(400, "ERR_BAD_REQUEST", "the header host is missing")
    options = [option.strip().lower() for option in headers.get("connection", "").split(",")]
    call.chunked = is_new
    call.persistent = not is_new and "keep-alive" in options
    call.closes = "close" in options or not is_new and not call.persistent
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is not None and (length is not None or not is_new or coding.lower() != "chunked"):
        raise Refused(400, "ERR_BAD_REQUEST", "the length of the body is not clear")
    if length is not None and not re.fullmatch("[0-9]{1,18}", length):
        raise Refused(400, "ERR_BAD_REQUEST", "the content-length is no number")
    head.chunked = coding is not None
    head.length = 0 if length is None and coding is None else int(length) if length is not None else None
    head.expects = is_new and headers.get("expect", "").lower() == "100-continue"


def request_of(id, head, body):
    return Request(id, head.method, head.path, fields_of(head.path.partition("?")[2]), head.headers, body)


def fields_of(text):
    """Texts by name, and a list of texts where a name comes several times."""
    fields = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def params_of(request):
    if not request.body:
        return dict(request.query)
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == FORM_TYPE and request.body[:1] not in (b"{", b"["):  # `curl -d` says that its JSON is a form.
        return fields_of(request.body.decode("utf-8", "replace"))
    if content_type not in ("", "application/json", FORM_TYPE) and not content_type.endswith("+json"):
        return {}
    try:
        return decode_json(request.body.decode())
    except RecursionError:
        raise Refused(400, "ERR_BAD_REQUEST", "the body is no JSON: it is nested too deep", closes=False) from None
    except ValueError as error:
        raise Refused(400, "ERR_BAD_REQUEST", "the body is no JSON: %s" % error, closes=False) from None


# ---- From a request to its answer.


def perform(runner, call, request, params):
    current_lines.set(call.lines)
    items = None
    try:
        answer = plain_answer(ask(runner, call, request, params))
        items = items_of(runner, call, answer.body)
        if items is not None:
            is_json = answer.status is None
            stream(runner, call, items, answer, encode_line if is_json else encode_part)
            return
        status, headers, body = whole_answer(runner, answer)
    except Gone:
        raise
    except BaseException as error:
        if items is None:
            fail(runner, call, error)
            return
        raise
    finally:
        call.lines.flush()
    call.begin_answer()
    runner.release(call)
    send_whole(runner, call, status, headers, body)


def ask(runner, call, request, params):
    """Calls the function."""
    call.enter("function")
    value = runner.function(params, request)
    if not hasattr(value, "__await__"):
        return value

    async def awaited():
        return await value

    task = LoopTask(runner.loop(), awaited)
    call.enter("loop", task)
    value = task.result()
    call.enter("function")
    return value


def plain_answer(value):
    """Every answer as one of the same kind; that without a status is JSON."""
    return value if isinstance(value, Answer) else Answer(value, None, [])


def items_of(runner, call, body):
    """Of what is answered bit by bit."""
    if hasattr(body, "__aiter__"):
        items = LoopItems(runner.loop(), body, call.connection)
        call.task = items
        return items
    if hasattr(body, "__next__") and not isinstance(body, type):
        return Items(body)
    return None


def whole_answer(runner, answer):
    body, headers, content_type = answer.body, answer.headers, "application/json"
    if answer.status is None:
        data = json_or_error(body)
    elif body is None:
        return answer.status, headers, b""
    elif isinstance(body, str):
        content_type, data = "text/plain; charset=utf-8", body.encode()
    elif isinstance(body, (bytes, bytearray, memoryview)):
        content_type, data = "application/octet-stream", bytes(body)
    else:
        data = json_or_error(body)
    if len(data) > runner.answer_bytes:
        message = "the answer has %d bytes, and may have %d: an iterator is sent bit by bit, however long it is"
        raise Unsendable(message % (len(data), runner.answer_bytes))
    return answer.status or 200, with_type(headers, content_type), data


def json_or_error(value):
    try:
        return encode_json(value)
    except RecursionError:
        raise Unsendable("what the function returned is no JSON: it is nested too deep") from None
    except (TypeError, ValueError) as error:
        raise Unsendable("what the function returned is no JSON: %s" % error) from None


def encode_line(item):
    return json_or_error(item) + b"\n"


def encode_part(item):
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, (bytes, bytearray, memoryview)):
        return bytes(item)
    raise Unsendable("an iterator that is answered gives texts or bytes, not %s" % kind_of(item))


def fail(runner, call, error):
    """Logs what the function threw, or why it cannot be sent, and answers it where its time is not over."""
    if isinstance(error, Unsendable):
        message, traceback = str(error), None
    else:
        message, traceback = message_of(error), traceback_of(error)
    finish_log(call)
    if call.late:
        if not is_cancelled(error):
            call.log("after its time was over: " + (traceback or message))
        raise Gone
    call.log(traceback or message)
    call.begin_answer()
    runner.release(call)
    send_whole(runner, call, 500, [("content-type", "application/json")], error_body("ERR_FUNCTION", message, traceback))


def is_cancelled(error):
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def finish_log(call):
    if call.lines is not None:
        call.lines.flush()


def stream(runner, call, items, answer, encode):
    """Sends item by item. Before the first has come an error can still be answered."""
    ended, failure = False, None
    try:
        data = None if call.without_body else next_data(runner, call, items, encode)
        call.begin_answer()
        call.send(stream_head(runner, call, answer) + framed(call, data))
        while data is not None:
            data = next_data(runner, call, items, encode)
            if data is not None:
                call.enter("send")
                if has_gone(call.connection):
                    raise Gone
                call.send(framed(call, data))
        ended = True
    except Gone:
        pass
    except BaseException as error:
        failure = error
    if not ended or call.without_body:
        close_items(call, items)
    if failure is not None and not call.answering:
        fail(runner, call, failure)
        return
    if failure is not None and not items.gone and not (call.late and is_cancelled(failure)):
        call.log("the answer is cut: " + (str(failure) if isinstance(failure, Unsendable) else traceback_of(failure)))
    elif call.late:
        call.log("the answer is cut: ERR_TIMEOUT: it did not end within %d ms" % runner.timeout_ms)
    finish_log(call)
    if not ended:
        if not call.chunked:
            reset(call.connection)
        else:
            cut(call.connection)
        raise Gone
    call.enter("send")
    runner.release(call)
    call.send(b"0\r\n\r\n" if call.chunked and not call.without_body else b"")


def next_data(runner, call, items, encode):
    """The next item as bytes; None: there is none. Empty ones are left out: for HTTP they would be the end."""
    while True:
        call.enter(items.stage, items)
        try:
            item = items.next()
        except StopIteration:
            return None
        call.enter("function")
        data = encode(item)
        if len(data) > runner.answer_bytes:
            raise Unsendable("one item has %d bytes, and may have %d" % (len(data), runner.answer_bytes))
        if data:
            return data


def stream_head(runner, call, answer):
    headers = with_type(answer.headers, "application/x-ndjson" if answer.status is None else "application/octet-stream")
    if call.chunked:
        headers = [*headers, ("transfer-encoding", "chunked")]
    else:
        call.closes = True
    return head_bytes(answer.status or 200, headers, call.id, connection_of(runner, call))


def framed(call, data):
    if data is None:
        return b""
    return b"%x\r\n%b\r\n" % (len(data), data) if call.chunked else data


def close_items(call, items):
    """The function's generator ends where it stands. Its own clearing up counts as the function's time."""
    with call.lock:
        call.stage = items.stage
        call.task = items
    try:
        items.close()
    except BaseException as error:
        call.log("while it was closed: " + traceback_of(error))
    with call.lock:
        call.stage = "send"


def send_whole(runner, call, status, headers, body):
    if status not in (204, 304):
        headers = [*headers, ("content-length", len(body))]
    head = head_bytes(status, headers, call.id, connection_of(runner, call))
    if call.without_body:
        call.send(head)
    elif len(body) <= SMALL_BYTES:
        call.send(head + body)
    else:
        call.send(head)
        call.send(body)


def connection_of(runner, call):
    if runner.phase != "serving":
        call.closes = True
    return "close" if call.closes else "keep-alive" if call.persistent else None


# ---- The runner.


class Server(socketserver.ThreadingMixIn, socketserver.BaseServer):
    """Threads for connections; the runner accepts them."""

    daemon_threads = True
    block_on_close = False

    def shutdown_request(self, request):
        # A process that the function forked may have the connection too: it ends here all the same.
        cut(request)
        self.close_request(request)

    def close_request(self, request):
        self.runner.closed(request)
        request.close()

    def handle_error(self, request, client_address):
        complain("error in the runner: " + message_of(sys.exc_info()[1]))


class Runner:
    """Accepts connections in the main thread, and knows which calls and connections there are."""

    def __init__(self, config, function):
        self.function = function
        self.timeout_ms = config["timeoutMs"]
        self.body_bytes = config["bodyBytes"]
        self.answer_bytes = config["answerBytes"]
        self.concurrency = config["concurrency"]
        self.lock = threading.Lock()
        self.phase = "serving"  # Then "stopping", or "stuck" for good.
        self.connections = {}  # Each with whether it is within a call.
        self.stuck = set()
        self.stuck_calls = []
        self.under_way = set()
        self.loop_lock = threading.Lock()
        self.the_loop = None
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(self.waker, False)
        self.server = Server(None, Connection)
        self.server.runner = self
        self.path = config["listen"].get("path")
        self.listener = listener_of(config["listen"])
        self.watchdog = Watchdog()
        code = getattr(function.main, "__code__", None)
        if code is not None and code.co_flags & (0x80 | 0x200):  # An async function: its first call shall not pay for the import.
            self.loop()
        for told in (signal.SIGTERM, signal.SIGINT):  # A terminal sends the second.
            signal.signal(told, lambda *_: self.wake(b"t"))

    def run(self, ready_fd):
        """Serves until it is told to end or a call is stuck. The exit code."""
        if ready_fd is not None:
            try:
                os.write(ready_fd, b"ready\n")
            except OSError:
                pass
            os.close(ready_fd)
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            selector.register(self.woken, selectors.EVENT_READ)
            while self.phase == "serving":
                if any(key.fd == self.woken for key, _ in selector.select()):
                    self.hear()
                else:
                    self.accept()
            selector.unregister(self.listener)
            self.stop()
            while not self.is_empty():
                self.complain_of_stuck()
                selector.select()
                self.hear()
        self.complain_of_stuck()
        return 1 if self.phase == "stuck" else 0

    def wake(self, what=b"w"):
        """Safe within signal handlers: it takes no lock."""
        try:
            os.write(self.waker, what)
        except BlockingIOError:
            pass  # It is awake already, and the pipe full of reasons.

    def hear(self):
        heard = os.read(self.woken, 4096)
        with self.lock:
            if b"t" in heard and self.phase == "serving":
                self.phase = "stopping"

    def accept(self):
        try:
            connection, address = self.listener.accept()
        except BlockingIOError:
            return False
        except OSError:
            time.sleep(0.05)  # No descriptor is left, most likely.
            return False
        connection.setblocking(True)
        with self.lock:
            is_one_too_many = len(self.connections) >= self.concurrency + IDLE_CONNECTIONS
            if not is_one_too_many:
                self.connections[connection] = False
        try:
            if is_one_too_many:
                message = "there are %d connections, as many as it takes" % (self.concurrency + IDLE_CONNECTIONS)
                connection.send(error_bytes(429, "ERR_BUSY", message, os.urandom(12).hex()), socket.MSG_DONTWAIT)
                cut(connection)
                connection.close()
            else:
                self.server.process_request(connection, address)
        except (OSError, RuntimeError):  # It has gone, or there can be no more threads.
            self.closed(connection)
            connection.close()
        return True

    def stop(self):
        # Who has connected already is told that it is too late, instead of being cut.
        for _ in range(self.concurrency + IDLE_CONNECTIONS):
            if not self.accept():
                break
        self.listener.close()
        if self.path is not None:
            try:
                os.unlink(self.path)
            except OSError:
                pass
        with self.lock:
            idle = [connection for connection, is_active in self.connections.items() if not is_active]
        for connection in idle:
            try:
                connection.shutdown(socket.SHUT_RD)  # What it has sent already is still read, and refused.
            except OSError:
                pass

    def is_empty(self):
        with self.lock:
            return self.phase != "serving" and not set(self.connections) - self.stuck

    def begins(self, connection):
        with self.lock:
            self.connections[connection] = True

    def ends(self, connection):
        """Whether it may be kept."""
        with self.lock:
            if connection in self.connections:
                self.connections[connection] = False
            return self.phase == "serving"

    def closed(self, connection):
        with self.lock:
            self.connections.pop(connection, None)
            self.stuck.discard(connection)
            stops = self.phase != "serving"
        if stops:
            self.wake()

    def admit(self, call):
        with self.lock:
            if self.phase != "serving":
                return Refused(503, "ERR_STOPPING", "this runner ends")
            if len(self.under_way) >= self.concurrency:
                return Refused(429, "ERR_BUSY", "%d calls are under way, as many as it takes" % self.concurrency)
            self.under_way.add(call)
            return None

    def release(self, call):
        """Before the end of an answer is sent: who has it may call again."""
        with self.lock:
            self.under_way.discard(call)

    def is_stuck(self, call):
        """Called by the watchdog: nothing is written here, since whoever reads the log may be slow."""
        with self.lock:
            self.phase = "stuck"
            self.stuck.add(call.connection)
            self.stuck_calls.append(call.id)
        self.wake()

    def complain_of_stuck(self):
        while self.stuck_calls:
            id = self.stuck_calls.pop()
            complain("[%s] error: ERR_TIMEOUT: the function did not end within %d ms and cannot be interrupted" % (id, self.timeout_ms))

    def loop(self):
        with self.loop_lock:
            if self.the_loop is None:
                self.the_loop = Loop()
            return self.the_loop


def listener_of(listen):
    if "path" in listen:
        listener, address = socket.socket(socket.AF_UNIX), listen["path"]
    else:
        listener = socket.socket(socket.AF_INET6 if ":" in listen["host"] else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        address = (listen["host"], listen["port"])
    listener.bind(address)
    listener.listen(512)
    listener.setblocking(False)
    return listener


if __name__ == "__main__":
    main()
