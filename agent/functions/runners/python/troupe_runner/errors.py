"""What ends a call before its end, and how what a function threw is told."""

import os

MESSAGE_CHARACTERS = 4096
NAME_CHARACTERS = 256
TRACEBACK_BYTES = 16_384

OWN_FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Refused(Exception):
    """An answer that is an error. Where the request was not read to its end, nothing can follow it."""

    def __init__(self, status, code, message, closes=True):
        super().__init__(message)
        self.status = status
        self.code = code
        self.closes = closes


class BadRequest(Refused):
    def __init__(self, message, closes=True):
        super().__init__(400, "ERR_BAD_REQUEST", message, closes)


class Gone(Exception):
    """The client went, or its time is over: there is nobody to answer."""


class Unsendable(Exception):
    """What a function gave is nothing that can be sent; the message says why."""


def told(error):
    """Its message, and its traceback where that says something of the function."""
    if isinstance(error, Unsendable):
        return str(error), None
    return message_of(error), traceback_of(error)


def name_of(error):
    """The class of what a function threw; None: it threw nothing."""
    return None if isinstance(error, Unsendable) else kind_of(error)[:NAME_CHARACTERS]


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
    """Without the frames of the runner, and no longer than TRACEBACK_BYTES."""
    import traceback

    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__)
        drop_own_frames(report, traceback.StackSummary)
        text = "".join(report.format()).encode("utf-8", "backslashreplace")
    except BaseException:
        text = message_of(error).encode("utf-8", "backslashreplace") + b"\n"
    if len(text) > TRACEBACK_BYTES:
        middle = b"\n...\n"
        first = TRACEBACK_BYTES // 4
        text = text[:first] + middle + text[len(text) - TRACEBACK_BYTES + first + len(middle) :]
    return text.decode("utf-8", "ignore")


def drop_own_frames(report, summary):
    """Also of its causes, and of the errors of a group. None of them comes twice."""
    waiting = [report]
    while waiting:
        part = waiting.pop()
        part.stack = summary.from_list(frame for frame in part.stack if not frame.filename.startswith(OWN_FILES))
        waiting += filter(None, [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())])
