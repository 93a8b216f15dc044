"""Answers as bytes of HTTP."""

import time
from http import HTTPStatus

from .json_text import encode_json

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Of these nothing was begun: another instance may have the call.
REFUSALS = ("ERR_BUSY", "ERR_STOPPING")
REASONS = {int(status): status.phrase for status in HTTPStatus}


def head_bytes(status, headers, id, connection):
    """`headers` name nothing twice that is added here."""
    lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, ""))]
    lines += ["%s: %s" % header for header in headers]
    if not any(name == "date" for name, _ in headers):
        lines.append("date: " + date())
    lines.append("x-request-id: " + id)
    if connection is not None:
        lines.append("connection: " + connection)
    lines.append("\r\n")
    return "\r\n".join(lines).encode("latin-1")


def date():
    """In English whatever language the function has set."""
    at = time.gmtime()
    day, month = DAYS[at.tm_wday], MONTHS[at.tm_mon - 1]
    return "%s, %02d %s %04d %02d:%02d:%02d GMT" % (day, at.tm_mday, month, at.tm_year, at.tm_hour, at.tm_min, at.tm_sec)


def error_body(code, message, traceback=None, name=None):
    error = {"code": code, "message": message}
    if name is not None:
        error["name"] = name
    if traceback is not None:
        error["traceback"] = traceback
    return encode_json({"error": error})


def error_headers(code):
    refused = [("x-troupe-refused", code)] if code in REFUSALS else []
    return [("content-type", "application/json"), *refused]


def error_bytes(status, code, message, id, without_body=False):
    """A whole answer, the last of its connection."""
    body = error_body(code, message)
    head = head_bytes(status, [*error_headers(code), ("content-length", len(body))], id, "close")
    return head if without_body else head + body
