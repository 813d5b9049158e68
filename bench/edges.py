"""How long a command takes to start and to end: edges.py LABEL=PREFIX… -- JOB.

JOB prints the monotonic clock in ns when its main starts and when it leaves. PREFIX is a command line in
JSON. Prints medians of start, end and all in ms, a line a label. Interleaved.
"""
import json
import statistics
import subprocess
import sys
import time

cut = sys.argv.index("--")
prefixes = {label: json.loads(text) for label, text in
            (word.split("=", 1) for word in sys.argv[1:cut])}
job = sys.argv[cut + 1:]
COUNTS = {"sibling": 3}  # few repetitions, because each takes whole seconds
took = {label: [] for label in prefixes}
for turn in range(30):
    for label, prefix in prefixes.items():
        if turn >= COUNTS.get(label, 30):
            continue
        start = time.monotonic_ns()
        text = subprocess.run([*prefix, *job], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
        end = time.monotonic_ns()
        came, left = map(int, text.split()[-2:])
        took[label].append((came - start, end - left, end - start))
for label, rows in took.items():
    print(label, *(statistics.median(column) / 1e6 for column in zip(*rows)))
