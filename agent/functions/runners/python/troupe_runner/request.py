"""What a function gets: params, the request, and the answers that it may make by it."""

import re

from .errors import BadRequest
from .json_text import decode_json

FORM_TYPE = "application/x-www-form-urlencoded"
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OF_THE_CONNECTION = frozenset(
    "connection content-length keep-alive proxy-connection te trailer transfer-encoding upgrade x-request-id x-troupe-refused".split()
)


class Request:
    """What a function gets as its second argument."""

    __slots__ = ("id", "method", "path", "query", "headers", "body")

    def __init__(self, id, head, body):
        self.id = id
        self.method = head.method
        self.path = head.path
        self.query = fields_of(head.path.partition("?")[2])
        self.headers = head.headers
        self.body = body

    def answer(self, body=None, status=200, headers=None):
        """An answer that is no JSON, or has a status or headers of its own."""
        if not isinstance(status, int) or not 200 <= status <= 599:
            raise ValueError("a status is a number from 200 to 599, not %r" % (status,))
        if status in (204, 205, 304) and body is not None:
            raise ValueError("an answer with status %d has no body" % status)
        return Answer(body, int(status), checked_headers(headers or {}))


class Answer:
    """Without a status it is JSON."""

    __slots__ = ("body", "status", "headers")

    def __init__(self, body, status=None, headers=()):
        self.body = body
        self.status = status
        self.headers = headers


def checked_headers(headers):
    checked = []
    for name, values in dict(headers).items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name):
            raise ValueError("%r is no name of a header" % (name,))
        name = name.lower()
        if name in OF_THE_CONNECTION:
            raise ValueError("the header %s is not a function's to set" % name)
        for value in values if isinstance(values, (list, tuple)) else (values,):
            if type(value) is int:
                value = str(value)
            if not isinstance(value, str) or not HEADER_VALUE.fullmatch(value):
                raise ValueError("%r is no value of the header %s" % (value, name))
            checked.append((name, value))
    return checked


def params_of(request):
    body = request.body
    if not body:
        return dict(request.query)
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == FORM_TYPE and body[:1] not in (b"{", b"["):  # `curl -d` says that its JSON is a form.
        return fields_of(body.decode("utf-8", "replace"))
    if content_type not in ("", "application/json", FORM_TYPE) and not content_type.endswith("+json"):
        return {}
    try:
        return decode_json(body.decode())
    except RecursionError:
        raise BadRequest("the body is no JSON: it is nested too deep", closes=False) from None
    except ValueError as error:
        raise BadRequest("the body is no JSON: %s" % error, closes=False) from None


def fields_of(text):
    """Texts by name, and a list of texts where a name comes several times."""
    fields = {}
    if not text:
        return fields
    from urllib.parse import parse_qsl

    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields
