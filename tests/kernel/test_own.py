"""The control group of the job's own of `run --cgroup below`: only as a child of the tracker's group."""


def group_of(guest, name):
    return next(line for line in guest.text(f"{name}.txt").splitlines() if line.startswith("0::"))


def test_the_job_of_a_tracker_in_the_root_group_has_its_own(guest):
    assert group_of(guest, "root").startswith("0::/resource-tracker-")
    peak = guest.summary("root")["totals"]["peak_memory_mib"]
    assert 150 <= peak["value"] <= 160
    assert guest.total("root", "peak_group_memory_mib") >= peak["value"] - 1


def test_no_controller_is_switched(guest):
    assert guest.text("before.cgroup.subtree_control") == guest.text("after.cgroup.subtree_control")


def test_none_is_made_beside_the_trackers_group_unless_it_is_asked_for(guest):
    assert group_of(guest, "plain") == "0::/own/plain"
    assert group_of(guest, "beside").startswith("0::/own/resource-tracker-")


def test_a_run_inside_a_run_is_counted_by_both(guest):
    inner = group_of(guest, "outer")
    assert inner.count("resource-tracker-") == 1
    assert guest.total("outer", "peak_memory_mib") >= 100


def test_a_job_that_leaves_its_group_is_measured_by_its_processes(guest):
    peak = guest.summary("leaves")["totals"]["peak_memory_mib"]
    assert 119 <= peak["value"] <= 130 and "own group" not in peak["source"]


def test_the_group_of_a_killed_tracker_is_removed_later(guest):
    assert guest.text("next.txt").count("/resource-tracker-") == 2  # it is in use
    assert "resource-tracker-" not in guest.text("left.txt")
