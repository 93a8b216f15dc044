"""The body of a request, with a length and without."""

import re

from .errors import BadRequest, Gone, Refused
from .http_head import HEADERS, read_line

CHUNK_LINE_BYTES = 1024
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\x00-\x08\x0a-\x1f\x7f]*)?")


def read_body(file, call, head):
    limit = call.runner.body_bytes
    if head.length is not None and head.length > limit:
        raise Refused(413, "ERR_TOO_LARGE", "the body has %d bytes, and may have %d" % (head.length, limit))
    if head.expects and head.length != 0:
        call.send_continue()
    return read_chunks(file, limit) if head.length is None else read_exactly(file, head.length)


def read_exactly(file, count):
    data = file.read(count)
    if len(data) < count:
        raise Gone
    return data


def read_chunks(file, limit):
    chunks, total = [], 0
    while True:
        size = CHUNK_SIZE.fullmatch(read_chunk_line(file))
        if size is None:
            raise BadRequest("a chunk of the body has no size")
        size = int(size.group(1), 16)
        total += size
        if total > limit:
            raise Refused(413, "ERR_TOO_LARGE", "the body has more than %d bytes" % limit)
        if size == 0:
            skip_trailers(file)
            return b"".join(chunks)
        chunks.append(read_exactly(file, size))
        if read_exactly(file, 2) != b"\r\n":
            raise BadRequest("a chunk of the body is longer than its size")
        if len(chunks) == 1024:
            # A chunk of one byte costs forty: what is kept has to stay near what was sent.
            chunks = [b"".join(chunks)]


def skip_trailers(file):
    for _ in range(HEADERS):
        if not read_chunk_line(file):
            return
    raise BadRequest("the body has more than %d trailers" % HEADERS)


def read_chunk_line(file):
    return read_line(file, CHUNK_LINE_BYTES, "a line between chunks")
