#!/usr/bin/env python3
"""Kill, stop, continue and starve the tracker at random moments; the job's result must stay its own.

    storm.py PROGRAM [--seconds 300] [--seed 1]

Each round starts one `run`, does one thing to it, and then checks: the job wrote its whole output,
its exit code was passed on unless the tracker itself was killed, and the recording can be read with
rows in order. Prints how often each thing was done; exits 1 at the first broken promise.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

JOB = "i=0; while [ $i -lt 4 ]; do echo $i; i=$((i+1)); sleep 0.05; done; echo end > DONE; exit 7"
WHOLE = "0\n1\n2\n3\n"


def limit(which, value):
    """Lower one soft limit of the tracker once it runs, so that the job keeps its own."""
    def act(tracker, _state):
        try:
            hard = resource.prlimit(tracker.pid, which)[1]
            resource.prlimit(tracker.pid, which, (value, hard))
        except ProcessLookupError:
            pass
    return act


def send(*signals):
    def act(tracker, _state):
        for signo in signals:
            tracker.send_signal(signo)
            time.sleep(0.05)
    return act


def remove_state(_tracker, state):
    for path in state.rglob("*.rtrk"):
        path.unlink(missing_ok=True)


ACTIONS = {
    "nothing": lambda tracker, state: None,
    "kill the tracker": send(signal.SIGKILL),
    "stop and continue the tracker": send(signal.SIGSTOP, signal.SIGCONT),
    "many continues": send(*[signal.SIGCONT] * 3),
    "no descriptors": limit(resource.RLIMIT_NOFILE, 3),
    "few descriptors": limit(resource.RLIMIT_NOFILE, 12),
    "no memory": limit(resource.RLIMIT_AS, 1 << 20),
    "no more file": limit(resource.RLIMIT_FSIZE, 3000),
    "recording removed": remove_state,
}


def readable(program, path, env):
    """Rows of the recording in order; a file cut before its first record may be refused."""
    shown = subprocess.run([program, "show", "--json", path], env=env, capture_output=True,
                           timeout=30, check=False)
    if path.stat().st_size > 4000 and shown.returncode != 0:
        return f"show: {shown.returncode} {shown.stderr}"
    if shown.returncode == 0:
        json.loads(shown.stdout)
    rows = subprocess.run([program, "export", "--format", "jsonl", path], env=env,
                          capture_output=True, timeout=30, check=False)
    if rows.returncode == 0:
        stamps = [json.loads(line)["timestamp"] for line in rows.stdout.splitlines()]
        if stamps != sorted(stamps):
            return f"rows out of order: {stamps}"
    elif shown.returncode == 0:
        return f"export: {rows.returncode} {rows.stderr}"
    return None


def one_round(program, name, delay, folder):
    state = folder / "state"
    env = {**os.environ, "RESOURCE_TRACKER_DIR": str(state), "HOME": str(folder)}
    with open(folder / "out", "w", encoding="ascii") as out:
        tracker = subprocess.Popen(
            [program, "run", "-i", "20ms", "--", "sh", "-c", JOB], cwd=folder, env=env,
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    begun = (folder / "out").stat().st_size > 0
    ACTIONS[name](tracker, state)
    code = tracker.wait(timeout=30)
    killed = code == -signal.SIGKILL
    if killed and name != "kill the tracker":
        return "killed by nobody"
    end = time.monotonic() + 30
    while begun and not (folder / "DONE").exists() and time.monotonic() < end:
        time.sleep(0.01)  # the job goes on without its tracker
    if begun or not killed:
        if (folder / "out").read_text(encoding="ascii") != WHOLE:
            return "the job's output was cut"
        if not killed and code != 7:
            return f"exit code {code}"
    for path in state.rglob("*.rtrk"):
        trouble = readable(program, path, env)
        if trouble:
            return trouble
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    rng = random.Random(args.seed)
    done, broken = collections.Counter(), 0
    end = time.monotonic() + args.seconds
    while time.monotonic() < end or len(done) < len(ACTIONS):
        rest = [name for name in ACTIONS if not done[name]]
        name = rng.choice(rest or list(ACTIONS))
        delay = rng.uniform(0.02, 0.22)
        done[name] += 1
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            trouble = one_round(program, name, delay, pathlib.Path(folder))
        if trouble:
            broken += 1
            print(f"storm: {name} after {delay:.3f} s: {trouble}")
    for name, n in sorted(done.items()):
        print(f"{n:6} {name}")
    print(f"storm: {sum(done.values())} rounds, seed {args.seed}, {broken} broken promises")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
