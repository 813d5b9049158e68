"""`python -m resource_tracker run -- CMD` on systems on which the program does not track: psutil samples the command.

The command has the streams, the environment and the exit code that it has without this module. At its end the run is
written as a recording, which all verbs of the program read. Without the C library it is kept as a snapshot, which
`resource-tracker import` converts on another machine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, NoReturn, Optional, Tuple

from . import _engine
from ._alerts import _usual_dir
from ._platform import is_psutil_available
from .tracker import ResourceTracker

BEFORE_JOB, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127  # exit codes of the program
SCOPE_MAX = 200  # characters; the recording keeps 255 bytes

USAGE = """usage: python -m resource_tracker run [OPTIONS] [--] CMD [ARG...]

Runs the command and tracks it with psutil.

  -n, --job NAME         name of the job (default: program and script)
  -i, --interval SECONDS time between samples (1)
      --recording DIR    directory of the recordings
      --no-recording     keep no recording
      --report FILE      write a page about the run at its end
  -q, --quiet            print no summary
  -h, --help             print this
"""

FLAGS = {"-q": "quiet", "--quiet": "quiet", "--no-recording": "no_recording", "-h": "help", "--help": "help"}
VALUES = {"-n": "job", "--job": "job", "--job-name": "job", "-i": "interval", "--interval": "interval",
          "--recording": "recording", "--report": "report"}


class Refused(Exception):
    """The command is not run. The text is the reason."""


def _say(text: str) -> None:
    print(f"resource-tracker: {text}", file=sys.stderr, flush=True)


def options_of(words: List[str]) -> Tuple[Dict[str, Any], List[str]]:
    """(options by the names in FLAGS and VALUES, command)

    Raises:
        Refused: an option is not known, or its value is missing or wrong
    """
    options: Dict[str, Any] = {}
    words = list(words)
    while words and words[0].startswith("-"):
        word, equals, value = words.pop(0).partition("=")
        if word == "--":
            break
        if word in FLAGS and not equals:
            options[FLAGS[word]] = True
            continue
        if word not in VALUES:
            raise Refused(f"run: {word}: not available on this system. Try: python -m resource_tracker run --help")
        if not equals and not words:
            raise Refused(f"run: {word}: a value is missing")
        options[VALUES[word]] = value if equals else words.pop(0)
    return options, words


def interval_of(text: str) -> float:
    """Seconds of a duration such as 2, 0.5s or 200ms.

    Raises:
        Refused: it is none, or out of range
    """
    for unit, factor in (("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("", 1.0)):
        if text.endswith(unit):
            try:
                seconds = float(text[:len(text) - len(unit)]) * factor
            except ValueError:
                continue
            if _engine.MIN_INTERVAL_S <= seconds <= _engine.MAX_INTERVAL_S:
                return seconds
    raise Refused(f"run: --interval {text}: not a duration from 10ms to 1h")


def job_of(command: List[str]) -> str:
    """Program and script: "python train.py"."""
    names = [os.path.basename(word.replace("\\", "/") if os.name == "nt" else word) for word in command[:2]]
    if len(names) == 2 and not command[1].startswith("-") and "." in names[1]:
        return " ".join(names)
    return names[0]


def _start(command: List[str]) -> "subprocess.Popen[bytes]":
    """Start the command, with the streams of this process.

    Raises:
        OSError: it cannot be started
    """
    # A handler, unlike SIG_IGN, is not inherited. A key of the terminal reaches the command as well, so this process
    # waits for it; other signals are passed on.
    started: List["subprocess.Popen[bytes]"] = []
    early: List[int] = []  # signals that came before Popen() had returned

    def wait_on(number: int, frame: Any) -> None:
        if number in keys:
            return
        if started:
            started[0].send_signal(number)
        else:
            early.append(number)

    keys = [getattr(signal, name) for name in ("SIGINT", "SIGQUIT", "SIGBREAK") if hasattr(signal, name)]
    passed = [] if os.name == "nt" else [signal.SIGTERM, signal.SIGHUP]
    for number in keys + passed:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, wait_on)
    started.append(subprocess.Popen(command))
    for number in early:
        started[0].send_signal(number)
    return started[0]


def _tracker_of(child: "subprocess.Popen[bytes]", job: str, interval: float, started: float) -> ResourceTracker:
    """A running tracker of the command. If the command has ended, only the machine is sampled, so that the recording
    has the duration and the exit code.

    Args:
        started: time.monotonic() when the command was started
    """
    began = time.time() - (time.monotonic() - started)
    for processes in (True, False):
        tracker = ResourceTracker(pid=child.pid if processes else None, interval=interval, job=job, lines=False,
                                  autostart=False, track_processes=processes)
        tracker._more = {"started": started if processes else None}
        try:
            tracker.start()
            break
        except OSError:
            if not processes:
                raise
    tracker.pid, tracker.start_time = child.pid, began
    return tracker


def _waited_s() -> Tuple[float, float]:
    """(user, system) CPU time of all children that this process has waited for, and of those that they have."""
    times = os.times()
    return times.children_user, times.children_system


def _times_of(child: "subprocess.Popen[bytes]", before: Tuple[float, float]) -> Tuple[float, float]:
    """(user, system) CPU time of an ended child, and on POSIX systems of the children that it has waited for.

    Args:
        before: _waited_s() before it was waited for
    """
    if os.name != "nt":
        user, system = (now - then for now, then in zip(_waited_s(), before))
        return user, system
    import ctypes

    # Creation, exit, kernel and user time, in units of 100 ns.
    times = [ctypes.c_uint64() for _ in range(4)]
    call: Any = ctypes.WinDLL("kernel32").GetProcessTimes  # type: ignore[attr-defined]
    call.argtypes = [ctypes.c_void_p] * 5
    known = call(int(child._handle), *map(ctypes.byref, times))  # type: ignore[attr-defined]
    return (times[3].value / 1e7, times[2].value / 1e7) if known else (0.0, 0.0)


def _keep(tracker: ResourceTracker, folder: str) -> str:
    """Write the run into the folder of the user's runs. Returns the path of the recording, or of a snapshot if the C
    library is not in this package.

    Raises:
        OSError, RuntimeError: it cannot be written
    """
    from tempfile import TemporaryDirectory

    if _engine._core is None:
        from time import strftime

        from ._trust import make_folder

        snapshots = os.path.join(folder, "snapshots")
        make_folder(snapshots)
        path = os.path.join(snapshots, f"{strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json")
        tracker.dump(path)
        return path
    from ._advice import recording_of

    with TemporaryDirectory(prefix="resource-tracker-") as scratch:
        made = recording_of(tracker, scratch)
        if not made:
            raise RuntimeError("no sample was taken")
        # The name of an imported run follows from its content.
        _engine._core.import_file(os.path.join(scratch, "job"), "snapshot", folder)
        return os.path.join(folder, "runs", os.path.basename(made))


def _conclude(path: str) -> None:
    """Print the summary of a recording to stderr, as `resource-tracker show` prints it."""
    if _engine._core is None:
        _say(f"kept in {path}: resource-tracker import reads it")
        return
    program = _engine.program()
    if program:
        sys.stderr.flush()
        subprocess.call([program, "show", path], stdin=subprocess.DEVNULL, stdout=sys.stderr)


def _end(tracker: ResourceTracker, options: Dict[str, Any]) -> None:
    """Keep and describe the run. Errors are reported in one line, and do not change the exit code."""
    try:
        if options.get("report"):
            tracker.report().save(options["report"])
        if not options.get("no_recording"):
            path = _keep(tracker, options.get("recording") or _usual_dir())
            if not options.get("quiet"):
                _conclude(path)
    except (OSError, RuntimeError, ValueError) as error:
        _say(f"the run is not kept: {error}")


def _die_of(number: int) -> NoReturn:
    """End as the command did, so that the caller receives the same status."""
    if number != getattr(signal, "SIGKILL", 0):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)


def main(words: List[str]) -> int:
    """Run a command and track it.

    Returns:
        the exit code of the command; 125 if the command was not run because of an option, 126 if it cannot be
        executed, 127 if it does not exist
    """
    try:
        options, command = options_of(words)
        if options.get("help"):
            print(USAGE, end="")
            return 0
        if not command:
            raise Refused("run: no command. Try: python -m resource_tracker run -- CMD")
        if not is_psutil_available():
            raise Refused("run: psutil is not installed. Try: pip install psutil")
        interval = interval_of(options.get("interval", "1"))
    except Refused as refused:
        _say(str(refused))
        return BEFORE_JOB
    before, started = _waited_s(), time.monotonic()
    try:
        child = _start(command)
    except OSError as error:
        _say(f"{command[0]}: {error.strerror}")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    tracker: Optional[ResourceTracker] = None
    try:
        tracker = _tracker_of(child, options.get("job") or job_of(command), interval, started)
        if not options.get("job"):
            tracker._kept["scope"] = os.getcwd()[-SCOPE_MAX:]
    except Exception as error:  # the command runs on
        _say(f"the command is not tracked: {type(error).__name__}: {error}")
    code = child.wait()
    if tracker is not None:
        times = _times_of(child, before)
        tracker.stop(code, "failed" if code else "finished")
        raise_to = getattr(tracker._tracker, "raise_to", None)
        if raise_to:
            raise_to(*times)
        _end(tracker, options)
        tracker.cleanup()
    if code < 0:
        _die_of(-code)
    return code if code < 1 << 31 else code - (1 << 32)  # sys.exit() takes a signed 32-bit value
