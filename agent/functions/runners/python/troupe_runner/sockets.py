"""What is done to sockets."""

import os
import socket


def kept_place(listen):
    """A relative path is one of where this runs now, wherever the function goes; by the descriptor of its folder, since the path of a socket has
    to be short. It is given to the socket when that listens."""
    path = listen.get("path")
    if path is None:
        return listen
    if os.path.isabs(path):
        return {"path": path, "first": path + ".new"}
    folder = os.open(os.path.dirname(path) or ".", os.O_PATH | os.O_DIRECTORY)
    place = "/proc/self/fd/%d/%s" % (folder, os.path.basename(path))
    return {"path": place, "first": place + ".new"}


def listener_of(listen):
    if "path" in listen:
        listener, address = socket.socket(socket.AF_UNIX), listen.get("first", listen["path"])
    else:
        listener = socket.socket(socket.AF_INET6 if ":" in listen["host"] else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        address = (listen["host"], listen["port"])
    listener.bind(address)
    listener.listen(512)
    listener.setblocking(False)
    if "first" in listen:
        os.rename(listen["first"], listen["path"])
    return listener


def send_at_once(connection, data):
    """What fits into its buffer."""
    try:
        connection.send(data, socket.MSG_DONTWAIT)
    except OSError:
        pass


def cut(connection, how=socket.SHUT_RDWR):
    """Whoever waits for it is woken, in other threads too. A process that the function forked may have it as well: it ends all the same."""
    try:
        connection.shutdown(how)
    except OSError:
        pass


def reset_at_close(connection):
    """An answer without a length that ends early must not look as if that were its end."""
    if connection.family == socket.AF_UNIX:
        return
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    except OSError:
        pass


def has_gone(connection):
    """Whether the client has closed its side. What it has sent meanwhile stays to be read."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
