#!/usr/bin/python3
"""Fuzzes every parser in turn, each for a given amount of CPU time.

    tools/fuzz.py [--seconds N] [--lanes N] [--only NAME[,NAME...]] [--table | --keep]

Builds $BUILD/fuzz (clang, libFuzzer, sanitizers). The CPU time of each parser is recorded in $BUILD/fuzz/ledger.json,
and inputs that reach new code in $BUILD/fuzz/found/NAME, so that a later call continues where this one stopped.
--table prints the ledger in the form of docs/security.md. --keep adds found inputs that reach code which no seed
reaches to the corpora, as tests/fuzz/corpus/NAME/kept-HASH. The exit status is 1 after a finding; its input and log
are in $BUILD/fuzz/findings/.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ = (ROOT / os.environ.get("BUILD", "build")).resolve() / "fuzz"
SEEDS = ROOT / "tests/fuzz/corpus"
SLICE_S = 100
KEPT = "kept-"
INTERRUPTED = 72  # exit status of a fuzzer that was interrupted, which is not a finding


def names():
    text = (ROOT / "tests/fuzz/meson.build").read_text()
    return re.findall(r"^  '(\w+)',$", text, re.M)


class Ledger:
    """The number of inputs, CPU seconds and findings of each parser, stored in a JSON file."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.rows = json.loads(path.read_text()) if path.exists() else {}

    def seconds(self, name):
        return self.rows.get(name, {}).get("seconds", 0)

    def add(self, name, inputs, seconds, finding):
        with self.lock:
            row = self.rows.setdefault(name, {"inputs": 0, "seconds": 0, "findings": 0})
            row["inputs"] += inputs
            row["seconds"] += seconds
            row["findings"] += finding
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.rows, indent=1, sort_keys=True) + "\n")
            new.rename(self.path)


def fuzz_slice(name, seconds):
    """Fuzz one parser for about `seconds`. Returns (number of inputs, CPU seconds, whether there was a finding)."""
    found, findings = FUZZ / "found" / name, FUZZ / "findings"
    found.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    child = subprocess.Popen(
        [FUZZ / "tests/fuzz" / f"fuzz_{name}", f"-max_total_time={seconds:.0f}", "-print_final_stats=1",
         "-rss_limit_mb=4096", "-timeout=30", f"-artifact_prefix={findings}/{name}-", found, SEEDS / name],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace")
    log = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    inputs = re.search(r"stat::number_of_executed_units:\s+(\d+)", log)
    failed = child.returncode not in (0, INTERRUPTED)
    if failed:
        (findings / f"{name}.log").write_text(log[-20000:])
    return int(inputs[1]) if inputs else 0, usage.ru_utime + usage.ru_stime, failed


def lane(ledger, queue, goal, failed):
    while queue and not failed:
        name = queue.pop(0)
        while ledger.seconds(name) < goal:
            inputs, seconds, finding = fuzz_slice(name, min(SLICE_S, goal - ledger.seconds(name) + 1))
            ledger.add(name, inputs, seconds, finding)
            if finding:
                failed.append(name)
                print(f"fuzz: {name}: a finding, see {FUZZ / 'findings'}", flush=True)
                break
        else:
            print(f"fuzz: {name}: {ledger.rows[name]['inputs']} inputs in {ledger.seconds(name):.0f} s", flush=True)


def table(ledger):
    print("| parser | inputs | CPU seconds | seeds | inputs kept |\n|---|---|---|---|---|")
    for name in names():
        row = ledger.rows.get(name, {"inputs": 0, "seconds": 0})
        inputs = f"{row['inputs']:,}".replace(",", " ")
        kept = [path.name.startswith(KEPT) for path in (SEEDS / name).iterdir()]
        print(f"| {name} | {inputs} | {row['seconds']:.0f} | {kept.count(False)} | {kept.count(True)} |")


def keep(name):
    """Add found inputs to the corpus: a minimal set that reaches all edges of the code which the found inputs reach and
    the corpus does not. Returns their number."""
    found, corpus = FUZZ / "found" / name, SEEDS / name
    if not found.exists():
        return 0
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder)
        shutil.copytree(corpus, merged, dirs_exist_ok=True)
        subprocess.run([FUZZ / "tests/fuzz" / f"fuzz_{name}", "-set_cover_merge=1", "-use_counters=0",
                        "-rss_limit_mb=4096", merged, found], check=True, capture_output=True)
        new = [path for path in merged.iterdir() if not (corpus / path.name).exists()]
        for path in new:
            shutil.copyfile(path, corpus / f"{KEPT}{path.name[:12]}")
        return len(new)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--lanes", type=int, default=os.cpu_count())
    options.add_argument("--only", default="")
    options.add_argument("--table", action="store_true")
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    ledger = Ledger(FUZZ / "ledger.json")
    if chosen.table:
        return table(ledger)
    known, queue = names(), [name for name in chosen.only.split(",") if name] or names()
    if wrong := set(queue) - set(known):
        sys.exit(f"fuzz: no parser {', '.join(sorted(wrong))}; there are {', '.join(known)}")
    subprocess.run([ROOT / "tools/configure.sh", "fuzz"], check=True)
    subprocess.run(["ninja", "--quiet", "-C", FUZZ], check=True)
    if chosen.keep:
        for name in queue:
            print(f"fuzz: {name}: {keep(name)} inputs kept", flush=True)
        return 0
    queue.sort(key=lambda name: goal_left(ledger, name, chosen.seconds))
    failed = []
    lanes = [threading.Thread(target=lane, args=(ledger, queue, chosen.seconds, failed)) for _ in range(chosen.lanes)]
    for each in lanes:
        each.start()
    for each in lanes:
        each.join()
    return 1 if failed else 0


def goal_left(ledger, name, goal):
    """CPU seconds that a parser still needs. Parsers with the least go first, so that an interrupted call has finished
    as many as possible."""
    return max(0, goal - ledger.seconds(name))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
