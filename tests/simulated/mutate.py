#!/usr/bin/python3
"""Plants a fault in a source of the tree, or sees that a test finds it.

    mutate.py NAME SOURCE.C OUT.C    write the source with the fault
    mutate.py --found PROGRAM        fails unless the program fails
"""

import subprocess
import sys
from pathlib import Path

# Name -> what stands in the source, and what a fault puts there.
FAULTS = {
    "counts_children_twice": ("t->ledger[k] += p->gained[k] - due;", "t->ledger[k] += p->gained[k];"),
    "forgets_who_vanished": ("heir->lost[k] += counted;", "(void) counted;"),
    "asks_no_job_object": ("t->at_least[TRK_TREE_CPU] = cpu_ns;", "(void) cpu_ns;"),
    "reads_no_end": ("trk__nt_kept_read(p->stat_fd, &end) < 0", "trk__nt_kept_read(p->stat_fd, &end) <= 0"),
    "trusts_a_dead_job_object": ("return seen_ns >= PROOF_NS &&", "return seen_ns == PROOF_NS &&"),
    "forgets_what_arrives": ("t->ledger[k] += p->gained[k] - due;", ""),
    "writes_nothing_off": ("p->debt[k] = missing < most ? missing : most;", "p->debt[k] = most ? missing : 0;"),
    "counts_what_was_before": ("bool baseline = p->fresh && p->start_ticks < t->start_ticks;", "bool baseline = false;"),
    "forgets_whom_the_tracker_reaped": ("gained[TRK_TREE_CPU] += usage->user_ns + usage->system_ns;", ""),
    "takes_ticks_for_ns": ("return trk__mac_ticks_ns(ticks, hz);", "return ticks;"),
    "skips_zombies": ("if (p->reaped || trk__mac_brief(p->pid, &b) < 0)",
                      "if (p->reaped || trk__mac_brief(p->pid, &b) < 0 || b.has_ended)"),
    "hears_of_no_fork": ("if (events[i].fflags & NOTE_FORK)", "if (events[i].fflags & NOTE_FORK & NOTE_EXIT)"),
    "looks_at_no_orphan": ("if (any_ended)", "if (any_ended && !n)"),
    "takes_a_used_pid": ("u.start_ns != p->start_ticks", "u.start_ns < p->start_ticks"),
    "counts_the_children_of_one": ("memset(inherited, 0, sizeof(inherited));", "(void) 0;"),
    "takes_a_used_pid_on_windows": ("if (!n || n->created != p->start_ticks)\n\t\treturn !is_gone", "if (!n)\n\t\treturn !is_gone"),
    "adopts_what_is_older": ("parent->start_ticks <= n->created", "parent->start_ticks > 0"),
    "keeps_handles": ("trk__nt_let_go(p->stat_fd);", "(void) 0;"),
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
