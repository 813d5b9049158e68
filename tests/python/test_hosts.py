"""Tests the package inside programs with a special interpreter set-up: a server that forks its workers, and a
notebook's kernel."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from test_life import gone, samplers

APP = '''
import json
import os

from resource_tracker import ResourceTracker

tracker = ResourceTracker(interval=0.05)   # in the master, when the app is loaded before the forks
own = None


def post_fork(server, worker):
    global own
    own = ResourceTracker(interval=0.05)


def app(environ, start_response):
    own.wait_for_samples(2, timeout=120)
    answer = {"pid": os.getpid(), "pids": sorted(set(own.process_metrics["pid"])),
              "master": tracker.pid, "master_runs": tracker.running}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
'''


@pytest.fixture
def server(tmp_path):
    """A gunicorn with two workers on the loopback: its process, and its address."""
    pytest.importorskip("gunicorn")
    (tmp_path / "job.py").write_text(APP)
    (tmp_path / "gunicorn.conf.py").write_text(
        "from job import post_fork\nbind = '127.0.0.1:0'\nworkers = 2\npreload_app = True\n"
        "control_socket_disable = True\n")
    process = subprocess.Popen([sys.executable, "-m", "gunicorn", "job:app"], cwd=tmp_path,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                               stdin=subprocess.DEVNULL)
    log = ""
    for line in process.stderr:
        log += line
        if line.count("Booting worker") and log.count("Booting worker") == 2:
            break
    address = re.search(r"Listening at: (http://127\.0\.0\.1:\d+)", log)
    assert address, log
    yield process, address[1]
    process.kill()
    process.communicate()


def ask(address):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            address, timeout=120) as answer:
        return json.load(answer)


def ask_until(address, is_enough):
    answers = {}
    end = time.monotonic() + 60
    while not is_enough(answers) and time.monotonic() < end:
        answer = ask(address)
        answers[answer["pid"]] = answer
    return answers


def test_a_server_that_forks_its_workers(server):
    process, address = server
    answers = ask_until(address, lambda found: len(found) == 2)
    assert len(answers) == 2
    for pid, answer in answers.items():
        assert answer["pids"] == [pid]              # each worker tracks itself
        assert answer["master"] == process.pid      # and knows that the other one is its parent's
        assert not answer["master_runs"]
        assert len(samplers(pid)) == 1
    assert len(samplers(process.pid)) == 1
    # A worker that is killed takes its sampler with it, and the server forks another.
    killed = next(iter(answers))
    os.kill(killed, signal.SIGKILL)
    assert gone(killed)
    more = ask_until(address, lambda found: set(found) - set(answers))
    (new,) = set(more) - set(answers)
    assert more[new]["pids"] == [new]
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    for pid in (process.pid, new, *answers):
        assert gone(pid)


CELLS = ["%load_ext resource_tracker",
         "%%track_resources --interval 0.05 --label fit\nimport time\nx = bytearray(60 << 20)\n"
         "time.sleep(0.3)",
         "%track_resources on",
         "len(x)",
         "from resource_tracker import ResourceTracker\ntracker = ResourceTracker(interval=0.05)\n"
         "tracker.wait_for_samples(3, timeout=120)\ntracker.stop()\ntracker",
         "tracker.process_metrics",
         "import os; os.getpid()"]


def test_a_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    # The kernel is this interpreter, whatever kernels are installed.
    kernel = tmp_path / "share/jupyter/kernels/own"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "own", "language": "python"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    path = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(tmp_path / "share/jupyter")
    try:
        client.NotebookClient(notebook, timeout=120, kernel_name="own",
                              resources={"metadata": {"path": str(tmp_path)}}).execute()
    finally:
        os.environ.pop("JUPYTER_PATH")
        if path is not None:
            os.environ["JUPYTER_PATH"] = path
    texts = ["".join(o.get("text", "") + str(o.get("data", "")) for o in cell.outputs)
             for cell in notebook.cells]
    assert "fit" in texts[1] and "peak_mib" in texts[1]
    assert "62914560" in texts[3] and re.search(r"\d MiB|peak", texts[3])  # its line after it
    assert "<table" in texts[4] and "<table" in texts[5]
    (pid,) = [output["data"]["text/plain"] for output in notebook.cells[6].outputs
              if output["output_type"] == "execute_result"]
    assert gone(int(pid))
