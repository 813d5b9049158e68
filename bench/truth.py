"""Runs a command and writes the CPU time that the kernel counted: truth.py FOLDER HOLD CMD…

It waits for a line in FOLDER/go before it starts the command. It writes to FOLDER/truth the CPU seconds in total, and
those before the line. HOLD: seconds to wait after the command, so that attached trackers can take a last sample.
"""
import os
import resource
import subprocess
import sys
import time


def used():
    return sum(u.ru_utime + u.ru_stime for u in map(
        resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)))


folder, hold = sys.argv[1], float(sys.argv[2])
with open(os.path.join(folder, "pid.new"), "w", encoding="ascii") as file:
    file.write(str(os.getpid()))
os.rename(os.path.join(folder, "pid.new"), os.path.join(folder, "pid"))
with open(os.path.join(folder, "go"), encoding="ascii") as file:
    file.readline()
before = used()
subprocess.run(sys.argv[3:], check=True, stdout=subprocess.DEVNULL)
with open(os.path.join(folder, "truth"), "w", encoding="ascii") as file:
    file.write(f"{used()} {before}")
time.sleep(hold)
