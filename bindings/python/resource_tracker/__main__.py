"""python -m resource_tracker …: runs the program with the same arguments."""

import os
import sys


def _run(path: str) -> int:
    """Replace this process by the program. Windows cannot do this: there, wait for the program and let it
    handle Ctrl-C."""
    from ._platform import ON_WINDOWS

    if not ON_WINDOWS:
        os.execv(path, ["resource-tracker", *sys.argv[1:]])
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = subprocess.call([path, *sys.argv[1:]])
    return code if code < 1 << 31 else code - (1 << 32)  # sys.exit() takes 32 bits with a sign


def main() -> int:
    """Run the program; only `metaflow` is done in Python."""
    if sys.argv[1:2] == ["metaflow"]:
        from .metaflow_cli import main as metaflow_main

        return metaflow_main(sys.argv[2:])
    from . import _engine

    path = _engine.program()
    if not path:
        from ._platform import system

        print("resource-tracker: the program is not in this package" +
              (" (another platform's?)" if system() == "linux" else
               ", which tracks from Python: from resource_tracker import ResourceTracker"), file=sys.stderr)
        return 127
    try:
        return _run(path)
    except OSError as error:
        print(f"resource-tracker: {path}: {error.strerror}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
