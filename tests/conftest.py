"""How pytest's processes share the tests (pytest-xdist).

The tests of a file stay in one process, since they share servers and control groups. The files below
take long and their tests share nothing: each of their tests is handed out alone. Two files build in the
same folder, one after the other. Files that take long start first, the longest before the others, so that no
process works alone at the end.
"""

from xdist.scheduler import LoadFileScheduling

INDEPENDENT = ("test_totals.py", "test_history.py", "test_agreement.py", "test_gpu.py",
               "test_gpu_drivers.py", "test_run.py")
TOGETHER = ("test_portable.py", "test_release.py")
LONG = ("test_portable.py", "test_release.py", "test_lines.py", "test_faults.py", "test_lines_native.py",
        "test_metaflow.py", "test_alert_sinks.py", "test_one_answer.py", "test_postgres.py", "test_memory.py",
        "test_lines_input.py", "test_metaflow_s3.py", "test_pages.py", "test_recommend_servers.py", "test_alerts.py",
        "test_life.py", "test_types.py")


class Scheduling(LoadFileScheduling):
    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        if file.endswith(TOGETHER):
            return "together"
        return nodeid if file.endswith(INDEPENDENT) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    def turn(item):
        name = item.path.name
        return LONG.index(name) if name in LONG else len(LONG) + (name in INDEPENDENT)

    items.sort(key=turn)
