"""The head of a request: which one it is, and where its body and its connection end."""

import re

from .errors import BadRequest, Gone

HEAD_BYTES = 65_536
HEADERS = 100

CALL_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])")
# A name, a colon at once, and a value without control characters.
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
# Two of them could have two meanings.
SINGLE = ("content-length", "transfer-encoding", "host", "expect", "x-request-id", "content-type")


class Head:
    """`length` is None where the body comes in chunks. `expects`: the client waits to be told that its body is wanted."""

    __slots__ = ("method", "path", "headers", "length", "expects")


def read_line(file, most, about):
    """Without its end."""
    line = file.readline(most + 2)
    if line.endswith(b"\r\n"):
        return line[:-2]
    if line.endswith(b"\n"):
        raise BadRequest("%s does not end with CR LF" % about)
    if len(line) < most + 2:
        raise Gone
    raise BadRequest("%s is longer than %d bytes" % (about, most))


def read_head(file, call):
    """What it says of the call is set there, as soon as it is known: an error is answered by it too."""
    line = read_line(file, HEAD_BYTES, "the request line")
    if not line:  # One empty line before a request is forgiven, as HTTP wants it.
        line = read_line(file, HEAD_BYTES, "the request line")
    match = REQUEST_LINE.fullmatch(line)
    if match is None or match.group(1) == b"CONNECT":
        raise BadRequest("the request line is none of HTTP/1.1")
    head = Head()
    head.method = match.group(1).decode()
    head.path = match.group(2).decode("latin-1")
    is_new = match.group(3) == b"1"
    call.without_body = head.method == "HEAD"
    fields = read_fields(file, HEAD_BYTES - len(line) - 2)
    head.headers = headers = joined(fields)
    if CALL_ID.fullmatch(headers.get("x-request-id", "")):
        call.id = headers["x-request-id"]
    names = [name for name, _ in fields]
    for name in SINGLE:
        if names.count(name) > 1:
            raise BadRequest("the header %s comes twice" % name)
    if is_new and "host" not in headers:
        raise BadRequest("the header host is missing")
    options = [option.strip().lower() for option in headers.get("connection", "").split(",")]
    call.chunked = is_new
    call.persistent = not is_new and "keep-alive" in options
    call.closes = "close" in options or not is_new and not call.persistent
    head.length = length_of(headers, is_new)
    head.expects = is_new and headers.get("expect", "").lower() == "100-continue"
    return head


def read_fields(file, left):
    fields = []
    while True:
        if left <= 0 or len(fields) > HEADERS:
            raise BadRequest("the head has more than %d bytes, or %d headers" % (HEAD_BYTES, HEADERS))
        line = read_line(file, left, "a header")
        if not line:
            return fields
        left -= len(line) + 2
        field = HEADER.fullmatch(line)
        if field is None:
            raise BadRequest("a header is none")
        fields.append((field.group(1).decode().lower(), field.group(2).decode("latin-1")))


def joined(fields):
    headers = {}
    for name, value in fields:
        if name in headers:
            headers[name] += ("; " if name == "cookie" else ", ") + value
        else:
            headers[name] = value
    return headers


def length_of(headers, is_new):
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is not None:
        if length is not None or not is_new or coding.lower() != "chunked":
            raise BadRequest("the length of the body is not clear")
        return None
    if length is None:
        return 0
    if not re.fullmatch("[0-9]{1,18}", length):
        raise BadRequest("the content-length is no number")
    return int(length)
