"""The runner: loads the function, accepts connections in the main thread, and knows which calls and connections there are."""

import json
import os
import selectors
import signal
import socket
import threading
import time

from .connection import Connection
from .errors import Refused, traceback_of
from .http_answer import error_bytes
from .load import Unloadable, load
from .log import capture_output, complain, outside
from .sockets import cut, kept_place, listener_of, send_at_once
from .watchdog import Watchdog

IDLE_CONNECTIONS = 64


def preload():
    """Imports what is otherwise imported by the first call that needs it."""
    import inspect  # noqa: F401
    import traceback  # noqa: F401
    import urllib.parse  # noqa: F401

    from . import event_loop  # noqa: F401


def serve(config):
    """Loads the function and serves it until it is told to end. Does not return."""
    if config.get("readyFd") is not None:
        os.set_inheritable(config["readyFd"], False)
    if config.get("endsWithInput"):
        end_with_input()
    capture_output()
    code = 1
    try:
        place = kept_place(config["listen"])
        function = load(config["dir"])
        runner = Runner({**config, "listen": place}, function)
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


def end_with_input():
    """The end of stdin is the end of whoever has started this: it and all its group are killed. The function gets another stdin."""
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def wait():
        while os.read(lifeline, 4096):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def end_politely():
    import atexit

    try:
        atexit._run_exitfuncs()
    except BaseException as error:
        complain(traceback_of(error))


class Runner:
    def __init__(self, config, function):
        self.function = function
        self.timeout_ms = config["timeoutMs"]
        self.body_bytes = config["bodyBytes"]
        self.answer_bytes = config["answerBytes"]
        self.concurrency = config["concurrency"]
        self.most_connections = self.concurrency + IDLE_CONNECTIONS
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
        self.path = config["listen"].get("path")
        self.listener = listener_of(config["listen"])
        self.watchdog = Watchdog()
        if function.is_async:  # Its first call shall not pay for the import.
            self.event_loop()
        self.is_told_to_end = False
        for told in (signal.SIGTERM, signal.SIGINT):  # A terminal sends the second.
            signal.signal(told, self.tell_to_end)
        # The handler alone would not do: a signal just before select() has it called after that, which would wait for something else.
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)

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

    # ---- In the main thread.

    def tell_to_end(self, *_):
        """It takes no lock: a signal comes wherever the main thread is."""
        self.is_told_to_end = True
        self.wake()  # Who was woken by the signal itself may have looked before this.

    def wake(self):
        try:
            os.write(self.waker, b"w")
        except BlockingIOError:
            pass  # It will wake anyway: the pipe is full.

    def hear(self):
        os.read(self.woken, 4096)
        with self.lock:
            if self.is_told_to_end and self.phase == "serving":
                self.phase = "stopping"

    def accept(self):
        """Whether there may be another one."""
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return False
        except OSError:
            time.sleep(0.05)  # No descriptor is left, most likely.
            return False
        connection.setblocking(True)
        with self.lock:
            is_one_too_many = len(self.connections) >= self.most_connections
            if not is_one_too_many:
                self.connections[connection] = False
        if is_one_too_many:
            message = "there are %d connections, as many as it takes" % self.most_connections
            send_at_once(connection, error_bytes(429, "ERR_BUSY", message, os.urandom(12).hex()))
            cut(connection)
            connection.close()
            return True
        served = Connection(self, connection)
        try:
            served.start()
        except RuntimeError:  # There can be no more threads.
            served.close()
        return True

    def stop(self):
        # Who has connected already is told that it is too late, instead of being cut.
        for _ in range(self.most_connections):
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
            cut(connection, socket.SHUT_RD)  # What it has sent already is still read, and refused.

    def is_empty(self):
        with self.lock:
            return not set(self.connections) - self.stuck

    def complain_of_stuck(self):
        while self.stuck_calls:
            id = self.stuck_calls.pop()
            complain("[%s] error: ERR_TIMEOUT: the function did not end within %d ms and cannot be interrupted" % (id, self.timeout_ms))

    # ---- Called by the threads of connections, and by the watchdog.

    def begins(self, connection):
        with self.lock:
            self.connections[connection] = True

    def ends(self, connection):
        """Whether it may be kept."""
        with self.lock:
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
                raise Refused(503, "ERR_STOPPING", "this runner ends")
            if len(self.under_way) >= self.concurrency:
                raise Refused(429, "ERR_BUSY", "%d calls are under way, as many as it takes" % self.concurrency)
            self.under_way.add(call)

    def release(self, call):
        """Before the end of an answer is sent: who has it may call again."""
        with self.lock:
            self.under_way.discard(call)

    def is_stuck(self, call):
        """Nothing is written here, since whoever reads the log may be slow."""
        with self.lock:
            self.phase = "stuck"
            self.stuck.add(call.connection)
            self.stuck_calls.append(call.id)
        self.wake()

    def event_loop(self):
        with self.loop_lock:
            if self.the_loop is None:
                from .event_loop import EventLoop

                self.the_loop = EventLoop()
            return self.the_loop
