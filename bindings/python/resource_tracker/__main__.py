"""python -m resource_tracker …: the program, with the same arguments."""

import os
import sys


def main() -> int:
    """Become the program; `metaflow` alone is done in Python."""
    if sys.argv[1:2] == ["metaflow"]:
        from .metaflow_cli import main as metaflow_main

        return metaflow_main(sys.argv[2:])
    from . import _engine

    path = _engine.program()
    if not path:
        from ._platform import system

        print("resource-tracker: " + ("the program is not in this package (another platform's?)"
                                      if system() == "linux" else
                                      "the program is for Linux only so far; here the package tracks "
                                      "from Python: from resource_tracker import ResourceTracker"),
              file=sys.stderr)
        return 127
    try:
        os.execv(path, ["resource-tracker", *sys.argv[1:]])
    except OSError as error:
        print(f"resource-tracker: {path}: {error.strerror}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
