"""`python -m resource_tracker …` runs the program resource-tracker with the same arguments. Where the program does
not track, this package tracks the command of `run` (_run.py)."""

import os
import sys


def _run(path: str) -> int:
    """Replace this process by the program. Windows cannot do that: there this process starts the program,
    leaves Ctrl-C to it, waits for its end and returns its exit code."""
    from ._platform import ON_WINDOWS

    if not ON_WINDOWS:
        os.execv(path, ["resource-tracker", *sys.argv[1:]])
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = subprocess.call([path, *sys.argv[1:]])
    return code if code < 1 << 31 else code - (1 << 32)  # sys.exit() takes a signed 32-bit value


def main() -> int:
    """Run the verb of the command line. The verb `metaflow` is implemented in Python, and so is `run` on systems other
    than Linux; all others by the program.

    Returns:
        the exit code; 127 if the package has no program, 126 if the program cannot be started
    """
    if sys.argv[1:2] == ["metaflow"]:
        from .metaflow_cli import main as metaflow_main

        return metaflow_main(sys.argv[2:])
    from . import _engine
    from ._platform import samples_with_psutil

    if sys.argv[1:2] == ["run"] and samples_with_psutil():
        from ._run import main as run_main

        return run_main(sys.argv[2:])
    path = _engine.program()
    if not path:
        print("resource-tracker: the program is not in this package" +
              (", which tracks commands only: python -m resource_tracker run -- CMD" if samples_with_psutil() else
               " (was the package built for another platform?)"), file=sys.stderr)
        return 127
    try:
        return _run(path)
    except OSError as error:
        print(f"resource-tracker: {path}: {error.strerror}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
