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
    "forgets_who_vanished": ("heir->lost[k] += counted;", "(void) counted;"),
    "asks_no_job_object": ("t->at_least[TRK_TREE_CPU] = cpu_ns + of(t)->outside_ns;", "(void) cpu_ns;"),
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
    # peaks of memory
    "forgets_the_peak_of_the_dead": ("if (bytes <= t->state.peak_bytes)\n\t\treturn;", ""),
    "takes_the_lower_rise": ("p->hwm_excess_bytes > highest->hwm_excess_bytes", "p->hwm_excess_bytes < highest->hwm_excess_bytes"),
    "adds_the_rise_of_all": ("uint64_t excess = highest ? highest->hwm_excess_bytes : 0;",
                             "uint64_t excess = ({ uint64_t sum = 0; for (size_t i = 0; i < t->count; i++) "
                             "sum += t->process[i].hwm_excess_bytes; sum; });"),
    "takes_the_peak_of_the_first": ("trk__peaks_largest(t, p->hwm_bytes);", "trk__peaks_largest(t, t->process[0].hwm_bytes);"),
    "takes_a_peak_from_before": ("if (p->start_ticks >= t->start_ticks || p->hwm_bytes > p->base_hwm_bytes)", "if (p->hwm_bytes)"),
    "uses_the_peak_of_a_life_twice": ("if (before == 0) {", "if (before == 0 || before == u->peak_bytes) {"),
    "asks_no_zombie_for_its_peak": ("take_peak(t, p, u);\n\tp->statm_faults", "if (!p->zombie)\n\t\ttake_peak(t, p, u);\n\tp->statm_faults"),
    "sums_shared_pages": ("s->pss_bytes += p->pss_bytes;", "s->pss_bytes += p->rss_bytes;"),
    "sums_the_peaks_of_lives": ("s->pss_bytes += p->pss_bytes;", "s->pss_bytes += p->hwm_bytes;"),
    "gives_one_the_peak_of_another": ("p->hwm_bytes = p->pss_bytes;", "p->hwm_bytes = t->largest_bytes + p->pss_bytes;"),
    # which processes are members
    "takes_strangers_in": ("return parent && !parent->vanished && parent->start_ticks <= n->created;",
                           "return !parent || (!parent->vanished && parent->start_ticks <= n->created);"),
    "leaves_out_who_is_outside": ("cpu_ns + of(t)->outside_ns;", "cpu_ns;"),
    "charges_a_member_twice": ("if (p->by_parent && p->looked && !p->outside)", "if (p->looked && !p->outside)"),
    "calls_the_dead_outside": ("if (p->by_parent && p->looked && !p->outside)", "if (p->by_parent && !p->outside)"),
    "forgets_who_left": ("p->ppid = 0;\n\tp->reaped = false;",
                         "of(t)->outside_ns -= p->outside ? p->own[TRK_TREE_CPU] : 0;\n\tp->ppid = 0;\n\tp->reaped = false;"),
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
