"""Runs a command when told to, and writes what the kernel says it used: truth.py FOLDER HOLD CMD…

Waits for a line in FOLDER/go; FOLDER/truth gets the CPU seconds in all, and those before the line. HOLD:
seconds to stay after the command, for who looks from outside.
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
