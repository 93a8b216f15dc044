"""Loads the function from its folder."""

import os
import sys

from .errors import kind_of, message_of, traceback_of
from .log import follow_pools

VARIABLE_ARGUMENTS = 0x04
COROUTINE = 0x80
ASYNC_GENERATOR = 0x200


class Unloadable(Exception):
    pass


class Function:
    def __init__(self, main, takes_request):
        self.main = main
        self.takes_request = takes_request
        code = getattr(main, "__code__", None)
        self.is_async = code is not None and code.co_flags & (COROUTINE | ASYNC_GENERATOR) != 0

    def __call__(self, params, request):
        return self.main(params, request) if self.takes_request else self.main(params)


def load(folder):
    folder = os.path.abspath(folder)
    path = os.path.join(folder, "func.py")
    sys.path[:0] = [folder, os.path.join(folder, "site-packages")]
    sys.argv = [path]
    try:
        os.chdir(folder)
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise Unloadable("error: cannot read %s: %s" % (path, error.strerror)) from None
    module = type(sys)("func")
    module.__file__ = path
    sys.modules["func"] = module
    try:
        # Never from a cache: code that was changed twice within a second would be taken for what it was.
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        raise Unloadable("%s\nerror: %s cannot be loaded: %s" % (traceback_of(error).rstrip(), path, message_of(error))) from None
    if not hasattr(module, "main"):
        raise Unloadable("error: %s has no function main(params)" % path)
    if not callable(module.main):
        raise Unloadable("error: main of %s is no function but %s" % (path, kind_of(module.main)))
    count = parameters_of(module.main)
    if count is None:
        raise Unloadable("error: main of %s has to take one argument, params, or two, params and request" % path)
    follow_pools()
    return Function(module.main, count == 2)


def parameters_of(main):
    """Whether it is called with one argument or two; None: it can be called with neither."""
    code = getattr(main, "__code__", None)
    # As most functions are; what is decorated or a class takes a look that costs an import.
    if code is not None and type(main) is type(load) and not hasattr(main, "__wrapped__") and not code.co_kwonlyargcount:
        required = code.co_argcount - len(main.__defaults__ or ())
        most = float("inf") if code.co_flags & VARIABLE_ARGUMENTS else code.co_argcount
        return next((count for count in (2, 1) if required <= count <= most), None)
    import inspect

    try:
        signature = inspect.signature(main)
    except (TypeError, ValueError):
        return 1
    for count in (2, 1):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return None
