#!/usr/bin/env bash
# Tracks a small real job and shows the results. Takes a few seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
tracker=${BUILD:-build}/resource-tracker
export RESOURCE_TRACKER_DIR=${RESOURCE_TRACKER_DIR:-${BUILD:-build}/demo-state}

if [ ! -x "$tracker" ]; then
	echo "demo: $tracker is not there. Try: make" >&2
	exit 1
fi
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT

# The job prints what it does, so that the figures of the tracker can be compared with it.
cat >"$job/job.py" <<'PYTHON'
"""A job with three marked parts: one busy CPU, a child process that allocates memory, writing a file."""
import os
import pathlib
import subprocess
import sys
import time

def mark(name):
    subprocess.run([os.environ["TRACKER"], "mark", name], check=True)

def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(10000))

print("job: computing on one CPU for 6 s", flush=True)
mark("compute")
busy(6)

print("job: a child process takes 200 MiB for 4 s", flush=True)
mark("hold")
child = "import time; block = b'x' * (200 << 20); time.sleep(4)"
subprocess.run([sys.executable, "-c", child], check=True)

print("job: writing 64 MiB to disk", flush=True)
mark("write")
with open(pathlib.Path(__file__).with_name("out.bin"), "wb") as out:
    for _ in range(64):
        out.write(os.urandom(1 << 20))
    out.flush()
    os.fsync(out.fileno())
print("job: done", flush=True)
PYTHON

show() {
	printf '\n$ %s\n' "$*"
}

echo "The tracker runs a job that computes, starts a child process and writes a file. Lines of the"
echo "job start with \"job:\". The block at the end is the summary of the tracker."
show resource-tracker run --no-discovery -n demo --summary auto -- python3 job.py
TRACKER=$(realpath "$tracker") "$tracker" run --no-discovery -n demo --summary auto -- \
	/usr/bin/python3 "$job/job.py"

printf '\nThe run was recorded. What to request next time, and where it would be cheapest:\n'
show resource-tracker recommend demo
"$tracker" recommend demo

printf '\nThe report, one page that opens in any browser:\n'
page=${BUILD:-build}/demo-report.html
show resource-tracker report -o "$page"
"$tracker" report -o "$page"

printf '\nThe samples as a table (the first lines, cut to fit):\n'
show resource-tracker export @ --columns 0.5
"$tracker" export @ --columns 0.5 | sed -n '1,5{s/^\(.\{98\}\).*/\1…/;p}'

printf '\nThe report is %s; the recording lies below %s. Track a job of your own:\n' "$page" "$RESOURCE_TRACKER_DIR"
printf '  %s run -- COMMAND ARGUMENTS...\n' "$tracker"
