"""Serves one Python function by HTTP/1.1, as docs/functions.md has it under "The runner".

What it keeps true:
- A call gets one answer: whoever takes the call's lock first, the thread of the call or the watchdog at the deadline, gives it.
- Whatever waits for a client ends at the call's deadline: the watchdog cuts the connection under the thread that waits.
- Whatever is kept is bounded: connections (and so threads, one each), heads, bodies, answers, tracebacks, lines of the log.
- What is no HTTP of which length there is one meaning ends its connection: nothing after it is taken for another request.

Nothing of the function is loaded before serve(), so that a process may import runner.py, call its preload(), and fork one runner after another. Of
the standard library http.server is left out on purpose: importing it takes longer than everything here together, and it forgives too much. What
not every function needs (asyncio, inspect, traceback, urllib) is imported by the first that does.
"""
