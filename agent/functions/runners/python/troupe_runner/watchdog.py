"""One thread that calls what is due."""

import threading
import time


class Watchdog:
    """What it calls must not wait for anything."""

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
