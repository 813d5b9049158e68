#!/usr/bin/python3
"""Plants a fault in a source file, or checks that a test detects it.

    mutate.py NAME SOURCE.C OUT.C    write the source with the fault NAME to OUT.C
    mutate.py --found PROGRAM        fail unless PROGRAM fails
"""

import subprocess
import sys
from pathlib import Path

# Name -> what stands in the source, and what a fault puts there.
FAULTS = {
    "counts_children_twice": ("t->ledger[k] += p->gained[k] - due;", "t->ledger[k] += p->gained[k];"),
    "forgets_who_vanished": ("receiver->lost[k] += counted;", "(void) counted;"),
    "forgets_what_arrives": ("t->ledger[k] += p->gained[k] - due;", ""),
    "forgets_whom_the_tracker_reaped": ("gained[TRK_TREE_CPU] += usage->user_ns + usage->system_ns;", ""),
}


def main(arguments):
    if arguments[0] == "--found":
        done = subprocess.run(arguments[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        found = done.returncode > 0  # the number of cases that failed
        print(f"{'ok' if found else 'not ok'} 1 - the fault of {Path(arguments[1]).name} is found")
        return not found
    name, source, out = arguments
    sound, fault = FAULTS[name]
    text = Path(source).read_text(encoding="utf-8")
    if sound not in text:
        sys.exit(f"mutate.py: {name}: {source} has no line {sound}")
    Path(out).write_text(text.replace(sound, fault), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
