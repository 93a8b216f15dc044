"""One call: where it stands, and who answers it."""

import os
import threading

from .errors import Gone
from .http_answer import error_body, error_bytes, error_headers, head_bytes
from .sockets import cut, send_at_once

SMALL_BYTES = 65_536
# How long a coroutine may take to notice that it is cancelled, and a generator that it is closed, after the deadline.
ENDING_SECONDS = 1


class Call:
    """From the first byte of a request's head to the end of its answer.

    `stage` is where its thread is: "head", "body", "send": waiting for the client; "function": in the function, where nothing can interrupt it;
    "loop": waiting for a coroutine.
    """

    def __init__(self, runner, connection):
        self.runner = runner
        self.connection = connection
        self.id = os.urandom(12).hex()
        self.lines = None  # Of the log, from where the function is called.
        # What the request's head says.
        self.without_body = False
        self.closes = True
        self.persistent = False  # HTTP/1.0, and asks for its connection to be kept.
        self.chunked = True
        # Where it is.
        self.lock = threading.Lock()
        self.stage = "head"
        self.task = None
        self.answering = False
        self.late = False
        self.over = False

    def enter(self, stage, task=None):
        with self.lock:
            if self.late:
                raise Gone
            self.stage = stage
            self.task = task
            if stage == "send":
                self.answering = True

    def hand_over(self, stage, task=None):
        """As enter(), and also where its time is over: for what is cleared up then."""
        with self.lock:
            self.stage = stage
            self.task = task

    def end(self):
        with self.lock:
            self.over = True

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
                about = ": its body did not come" if self.stage == "body" else ""
                message = "the call took longer than %d ms%s" % (self.runner.timeout_ms, about)
                send_at_once(self.connection, error_bytes(504, "ERR_TIMEOUT", message, self.id, self.without_body))
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

    def send(self, data):
        try:
            self.connection.sendall(data)
        except OSError:
            raise Gone from None

    def send_continue(self):
        with self.lock:
            if self.late:
                raise Gone
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def send_whole(self, status, headers, body):
        self.enter("send")
        self.runner.release(self)
        if status not in (204, 304):
            headers = [*headers, ("content-length", len(body))]
        head = self.head_of(status, headers)
        if self.without_body:
            self.send(head)
        elif len(body) <= SMALL_BYTES:
            self.send(head + body)
        else:
            self.send(head)
            self.send(body)

    def send_error(self, status, code, message, traceback=None, name=None):
        self.send_whole(status, error_headers(code), error_body(code, message, traceback, name))

    def head_of(self, status, headers):
        if self.runner.phase != "serving":
            self.closes = True
        return head_bytes(status, headers, self.id, "close" if self.closes else "keep-alive" if self.persistent else None)
