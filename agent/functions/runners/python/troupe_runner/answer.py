"""What a function returned as bytes: at once, and item by item."""

from .errors import Unsendable, kind_of
from .json_text import encode_json


def whole_answer(answer, most_bytes):
    """Its status, headers and body."""
    body, content_type = answer.body, "application/json"
    if answer.status is not None and body is None:
        return answer.status, answer.headers, b""
    if answer.status is not None and isinstance(body, str):
        content_type, data = "text/plain; charset=utf-8", body.encode()
    elif answer.status is not None and is_bytes(body):
        content_type, data = "application/octet-stream", bytes(body)
    else:
        data = json_or_error(body)
    if len(data) > most_bytes:
        message = "the answer has %d bytes, and may have %d: an iterator is sent bit by bit, however long it is"
        raise Unsendable(message % (len(data), most_bytes))
    return answer.status or 200, with_type(answer.headers, content_type), data


def with_type(headers, content_type):
    return headers if any(name == "content-type" for name, _ in headers) else [("content-type", content_type), *headers]


def encode_line(item):
    return json_or_error(item) + b"\n"


def encode_part(item):
    if isinstance(item, str):
        return item.encode()
    if is_bytes(item):
        return bytes(item)
    raise Unsendable("an iterator that is answered gives texts or bytes, not %s" % kind_of(item))


def is_bytes(value):
    return isinstance(value, (bytes, bytearray, memoryview))


def json_or_error(value):
    try:
        return encode_json(value)
    except RecursionError:
        raise Unsendable("what the function returned is no JSON: it is nested too deep") from None
    except (TypeError, ValueError) as error:
        raise Unsendable("what the function returned is no JSON: %s" % error) from None
