#!/usr/bin/env python3
"""The program: python3 -I main.py CONFIGURATION; with --warm (troupe_runner/warm.py) or --wait SOCKET (wait.py) instead it waits to be told."""

import json
import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
from troupe_runner.runner import serve  # noqa: E402

# What the function imports is not looked for here.
while folder in sys.path:
    sys.path.remove(folder)


def main():
    if sys.argv[1:] == ["--warm"]:
        from troupe_runner.warm import assigned

        return serve(assigned())
    if sys.argv[1:2] == ["--wait"]:
        from troupe_runner.wait import told_at

        return serve(told_at(sys.argv[2]))
    try:
        config = json.loads(sys.argv[1])
    except (IndexError, ValueError) as error:
        sys.exit("error: the only argument is the runner's configuration as JSON: %s" % error)
    serve(config)


if __name__ == "__main__":
    main()
