"""Answers that are sent item by item."""

from .answer import encode_line, encode_part, with_type
from .errors import Gone, Unsendable, told, traceback_of
from .fail import fail, is_cancelled
from .sockets import cut, has_gone, reset_at_close


class Items:
    """A synchronous iterator. Asynchronous ones are of the same form."""

    stage = "function"
    gone = False  # Only who waits in the loop sees a client go.

    def __init__(self, iterator):
        self.iterator = iterator

    def next(self):
        return next(self.iterator)

    def close(self):
        close = getattr(self.iterator, "close", None)
        if close is not None:
            close()


def items_of(call, body):
    """Of what is answered item by item; of everything else None."""
    if hasattr(body, "__aiter__"):
        return call.runner.event_loop().items(body, call.connection)
    if hasattr(body, "__next__") and not isinstance(body, type):
        return Items(body)
    return None


class Stream:
    def __init__(self, call, items, answer):
        self.call = call
        self.items = items
        self.answer = answer
        self.encode = encode_line if answer.status is None else encode_part

    def send(self):
        """Before the first item has come an error can still be answered. Whoever asks for the head alone gets it without any."""
        call = self.call
        ended, failure = False, None
        try:
            data = None if call.without_body else self.next_data()
            call.enter("send")
            call.send(self.head() + self.framed(data))
            while data is not None:
                data = self.next_data()
                if data is not None:
                    call.enter("send")
                    if has_gone(call.connection):
                        raise Gone
                    call.send(self.framed(data))
            ended = True
        except Gone:
            pass
        except BaseException as error:
            failure = error
        if not ended or call.without_body:
            self.close()
        if failure is not None and not call.answering:
            fail(call, failure)
            return
        self.log_cut(failure)
        call.lines.flush()
        if not ended:
            if call.chunked:
                cut(call.connection)
            else:
                reset_at_close(call.connection)
            raise Gone
        call.enter("send")
        call.runner.release(call)
        if call.chunked and not call.without_body:
            call.send(b"0\r\n\r\n")

    def next_data(self):
        """The next item as bytes; None: there is none. Empty ones are left out: for HTTP they would be the end."""
        while True:
            self.call.enter(self.items.stage, self.items)
            try:
                item = self.items.next()
            except StopIteration:
                return None
            self.call.enter("function")
            data = self.encode(item)
            most = self.call.runner.answer_bytes
            if len(data) > most:
                raise Unsendable("one item has %d bytes, and may have %d" % (len(data), most))
            if data:
                return data

    def head(self):
        headers = with_type(self.answer.headers, "application/x-ndjson" if self.answer.status is None else "application/octet-stream")
        if self.call.chunked:
            headers = [*headers, ("transfer-encoding", "chunked")]
        else:
            self.call.closes = True
        return self.call.head_of(self.answer.status or 200, headers)

    def framed(self, data):
        if data is None:
            return b""
        return b"%x\r\n%b\r\n" % (len(data), data) if self.call.chunked else data

    def close(self):
        """The function's generator ends where it stands. Its own clearing up counts as the function's time."""
        call = self.call
        call.hand_over(self.items.stage, self.items)
        try:
            self.items.close()
        except BaseException as error:
            call.lines.complain("while it was closed: " + traceback_of(error))
        call.hand_over("send")

    def log_cut(self, failure):
        """Why the answer has no end, where the client is not the reason."""
        call = self.call
        if failure is not None and not self.items.gone and not (call.late and is_cancelled(failure)):
            message, traceback = told(failure)
            call.lines.complain("the answer is cut: " + (traceback or message))
        elif call.late:
            call.lines.complain("the answer is cut: ERR_TIMEOUT: it did not end within %d ms" % call.runner.timeout_ms)
