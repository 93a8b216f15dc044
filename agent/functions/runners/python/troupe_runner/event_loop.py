"""Asynchronous functions: the event loop that they share, in a thread of its own, and threads of calls that wait for it."""

import asyncio
import queue
import threading

from .errors import traceback_of
from .log import complain, follow_pools
from .sockets import has_gone


class EventLoop:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        follow_pools()
        threading.Thread(target=self.run, name="event loop", daemon=True).start()

    def run(self):
        asyncio.set_event_loop(self.loop)
        while True:
            try:
                self.loop.run_forever()
            except BaseException as error:  # A task that called sys.exit().
                complain(traceback_of(error))

    def begin(self, awaitable):
        async def awaited():
            return await awaitable

        return LoopTask(self.loop, awaited)

    def items(self, iterable, connection):
        return LoopItems(self.loop, iterable, connection)


class LoopTask:
    """A coroutine of a call in the loop, for which the thread of the call waits."""

    def __init__(self, loop, make):
        self.loop = loop
        self.make = make
        self.value = None
        self.error = None
        self.task = None
        self.ended = threading.Event()
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
        if task.cancelled() and self.error is None:  # Before it began.
            self.error = asyncio.CancelledError()
        self.ended.set()

    def cancel(self):
        self.loop.call_soon_threadsafe(lambda: self.task.cancel())

    def result(self):
        self.ended.wait()
        if self.error is not None:
            raise self.error
        return self.value


class LoopItems(LoopTask):
    """An asynchronous iterator: one task takes item after item, each when it is asked for, so that what belongs to a task stays in it."""

    stage = "loop"

    def __init__(self, loop, iterable, connection):
        self.iterable = iterable
        self.connection = connection
        self.items = queue.SimpleQueue()  # Holds one item at most, and the end.
        self.turn = None
        self.gone = False
        self.over = False
        super().__init__(loop, self.pump)

    def start(self):
        self.turn = asyncio.Event()
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

    def end(self, task):
        super().end(task)
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
        if self.error is not None and not isinstance(self.error, asyncio.CancelledError):
            raise self.error
