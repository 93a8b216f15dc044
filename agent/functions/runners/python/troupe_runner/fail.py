"""What becomes of a call whose function threw, or gave what cannot be sent, before anything was answered."""

import sys

from .errors import Gone, name_of, told


def fail(call, error):
    """Logs it, and answers it where its time is not over."""
    message, traceback = told(error)
    call.lines.flush()
    if call.late:
        if not is_cancelled(error):
            call.lines.complain("after its time was over: " + (traceback or message))
        raise Gone
    call.lines.complain(traceback or message)
    call.send_error(500, "ERR_FUNCTION", message, traceback, name_of(error))


def is_cancelled(error):
    """A coroutine that is cancelled at the deadline throws this, and it is no news."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
