"""From a request to its answer: calls the function, and answers what it returned or threw."""

from .answer import whole_answer
from .errors import Gone
from .fail import fail
from .log import current_lines
from .request import Answer
from .stream import Stream, items_of


def perform(call, request, params):
    current_lines.set(call.lines)
    try:
        value = ask(call, request, params)
        answer = value if isinstance(value, Answer) else Answer(value)
        items = items_of(call, answer.body)
        whole = whole_answer(answer, call.runner.answer_bytes) if items is None else None
    except Gone:
        call.lines.flush()
        raise
    except BaseException as error:
        fail(call, error)
        return
    if whole is None:
        Stream(call, items, answer).send()
    else:
        call.lines.flush()
        call.send_whole(*whole)


def ask(call, request, params):
    """Calls the function."""
    call.enter("function")
    value = call.runner.function(params, request)
    if not hasattr(value, "__await__"):
        return value
    task = call.runner.event_loop().begin(value)
    call.enter("loop", task)
    value = task.result()
    call.enter("function")
    return value
