"""Distributes the tests over the processes of pytest-xdist.

The tests of a file run in one process, because they share servers and control groups. The files listed below take long
and their tests share nothing, so each of their tests is distributed separately. Two files build in the same folder, so
they run one after the other. Files that take long start first, the longest before the others, so that all processes
finish at about the same time.
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


def pytest_configure(config):
    config.addinivalue_line("markers", "prove: takes more time than a change deserves, so that only `make prove` runs it")


def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    def turn(item):
        name = item.path.name
        return LONG.index(name) if name in LONG else len(LONG) + (name in INDEPENDENT)

    items.sort(key=turn)
