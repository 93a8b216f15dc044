"""JSON as it is sent: nothing that only Python reads, and nothing that cannot be encoded."""

import json
import re


def refuse_constant(name):
    raise ValueError("%s is no JSON" % name)


decode_json = json.JSONDecoder(parse_constant=refuse_constant).decode
encode_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode_json(value):
    text = encode_text(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # Halves of surrogate pairs: they can be escaped, and not be encoded.
        return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half.group()), text).encode()
