"""One connection: reads request after request and has each answered, in a thread of its own."""

import contextvars
import socket
import threading
import time

from .call import SMALL_BYTES, Call
from .errors import Gone, Refused, message_of
from .http_body import read_body, read_exactly
from .http_head import read_head
from .log import Lines, complain
from .perform import perform
from .request import Request, params_of
from .sockets import cut

# How long a client that was refused may go on sending before it hears of a reset instead of the answer.
LINGER_SECONDS = 1


class Connection:
    def __init__(self, runner, connection):
        self.runner = runner
        self.connection = connection
        self.file = connection.makefile("rb")

    def start(self):
        threading.Thread(target=self.run, name="connection", daemon=True).start()

    def run(self):
        try:
            if self.connection.family != socket.AF_UNIX:
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            while self.serve_one():
                pass
        except (Gone, OSError):
            pass
        except BaseException as error:
            complain("error in the runner: " + message_of(error))
        self.close()

    def close(self):
        cut(self.connection)
        self.runner.closed(self.connection)
        self.file.close()
        self.connection.close()

    def serve_one(self):
        """Whether another request may follow."""
        if not self.file.peek(1):
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
        try:
            head = read_head(self.file, call)
            self.admit(call, head)
            call.enter("body")
            request = Request(call.id, head, read_body(self.file, call, head))
            params = params_of(request)
        except Refused as refused:
            self.refuse(call, refused)
        else:
            call.lines = Lines(call.id)
            # Nothing that a function keeps in its context is seen by the next call of this connection.
            contextvars.copy_context().run(perform, call, request, params)
        finally:
            self.runner.release(call)

    def admit(self, call, head):
        try:
            self.runner.admit(call)
        except Refused as refused:
            # A small body is read, so that a client that is told to come again need not connect again.
            is_small = head.length is not None and head.length <= SMALL_BYTES
            if refused.code == "ERR_BUSY" and is_small and not head.expects and not call.closes:
                read_exactly(self.file, head.length)
                refused.closes = False
            raise

    def refuse(self, call, refused):
        if refused.closes:
            call.closes = True
        call.send_error(refused.status, refused.code, str(refused))
        if refused.closes:
            self.linger(call)

    def linger(self, call):
        """A connection that is closed while something unread has come is reset, and the client may never see the answer."""
        call.end()
        until = time.monotonic() + LINGER_SECONDS
        try:
            self.connection.shutdown(socket.SHUT_WR)
            while (left := until - time.monotonic()) > 0:
                self.connection.settimeout(left)
                if not self.connection.recv(65_536):
                    return
        except OSError:
            pass
