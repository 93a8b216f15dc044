"""A runner in a container that was made before its pod was known, by an agent of any user.

What it keeps true: it waits at a socket of its agent for one line (agent/docker/runners/told.ts), and has nothing of a user's before that. The end
of the agent is its own."""

import json
import os
import socket
import time

from .runner import preload


def told_at(path):
    """Waits to be the runner of a pod, takes its environment, and gives its configuration."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        preload()
        connection.sendall(b"ready\n")
        line = line_of(connection)
        if line is None:
            os._exit(0)
        told = json.loads(line)
        os.environ.update(told["env"])
        time.tzset()
        connection.sendall(b"taken\n")
    return told["config"]


def line_of(connection):
    """None: the agent has ended, or let go of this."""
    pieces = []
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionError:
            return None
        if not piece:
            return None
        pieces.append(piece)
        if piece.endswith(b"\n"):
            return b"".join(pieces)
