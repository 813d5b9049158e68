"""Tests @track_resources in real flows with the local datastore."""

import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import textwrap
import time
import zlib

import pytest

pytest.importorskip("metaflow")

HEAD = """
    import os, time
    from metaflow import FlowSpec, step, track_resources, card, resources, retry, Parameter
"""
TAIL = """
    if __name__ == "__main__":
        F()
"""

FOREACH = """
    class F(FlowSpec):
        @track_resources(interval=60)
        @step
        def start(self):
            begin = time.process_time()
            while time.process_time() < begin + 0.3: pass
            held = b"x" * (80 << 20)
            del held
            self.used_s = time.process_time() - begin
            self.x = [1, 2]
            self.next(self.work, foreach="x")
        @resources(cpu=2, memory=1024)
        @track_resources(interval=0.1)
        @step
        def work(self):
            held = b"x" * ((self.input * 150) << 20)
            end = time.process_time() + 0.4
            while time.process_time() < end: pass
            self.next(self.join)
        @step
        def join(self, inputs):
            self.merge_artifacts(inputs)
            self.next(self.end)
        @step
        def end(self):
            pass
"""


# Answers questions about the latest run of a flow: for each line, a JSON array of folder, environment and expression, it
# prints one with True and the value, or False and the error. Importing metaflow takes longer than an answer, so it is
# imported once, and a child answers, with nothing in it of earlier answers.
CLIENT = """
import json, os, sys, traceback
import metaflow

def answer(folder, env, code):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    metaflow.namespace(None)
    run = next(iter(metaflow.Flow("F").runs()))
    return eval(code, {"run": run, "json": json, "Flow": metaflow.Flow})

for line in sys.stdin:
    if os.fork() == 0:
        try:
            said = [True, answer(*json.loads(line))]
        except Exception:
            said = [False, traceback.format_exc()]
        print(json.dumps(said, default=str), flush=True)
        os._exit(0)
    os.wait()
"""


class Client:
    """Runs CLIENT for flows with the same METAFLOW_ variables."""

    def __init__(self, env):
        self.process = subprocess.Popen([sys.executable, "-c", CLIENT], env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __call__(self, flow, code):
        print(json.dumps([str(flow.folder), flow.env, code]), file=self.process.stdin, flush=True)
        good, value = json.loads(self.process.stdout.readline())
        assert good, value
        return value


class Flow:
    """A flow's file in a folder with a datastore of its own."""

    clients = {}  # of all flows, by their METAFLOW_ variables

    def __init__(self, folder):
        self.folder = folder
        # Metaflow takes the nearest one above; there may be one of somebody else's.
        (folder / ".metaflow").mkdir(exist_ok=True)
        self.env = {**os.environ, "HOME": str(folder), "USER": "tester", "METAFLOW_USER": "tester",
                    # Workers of a gang are started by the name `python`.
                    "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
                    "METAFLOW_DEFAULT_DATASTORE": "local", "METAFLOW_DEFAULT_METADATA": "local"}
        self.env.pop("PYTHONPATH", None)

    def write(self, body):
        (self.folder / "flow.py").write_text(
            textwrap.dedent(HEAD) + textwrap.dedent(body) + textwrap.dedent(TAIL))
        return self

    def __call__(self, *arguments, check=True, timeout=3000, **env):
        done = subprocess.run([sys.executable, "flow.py", "--no-pylint", *arguments],
                              cwd=self.folder, env={**self.env, **env}, capture_output=True,
                              text=True, timeout=timeout, check=False)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def client(self, code):
        """Value of an expression with `run`, the latest run."""
        key = tuple(sorted((k, v) for k, v in self.env.items() if k.startswith("METAFLOW_")))
        if key not in self.clients:
            self.clients[key] = Client(self.env)
        return self.clients[key](self, code)

    def cards(self, step):
        return [pathlib.Path(p).read_text() for p in sorted(glob.glob(
            f"{self.folder}/.metaflow/mf.cards/F/runs/*/steps/{step}/tasks/*/cards/*.html"))]


@pytest.fixture(scope="module", autouse=True)
def end_of_clients():
    yield
    while Flow.clients:
        client = Flow.clients.popitem()[1].process
        client.stdin.close()
        client.wait()


@pytest.fixture
def flow(tmp_path):
    return Flow(tmp_path)


@pytest.fixture(scope="module")
def foreach(tmp_path_factory):
    """A flow that has run twice."""
    flow = Flow(tmp_path_factory.mktemp("foreach")).write(FOREACH)
    flow("run")
    flow("run")
    return flow


def test_the_artifact(foreach):
    data = foreach.client("run['work'].task.data.resource_tracker_data")
    assert list(data) == ["step_failed", "tracker", "historical_stats", "totals", "pathspec",
                          "schema"]
    assert data["schema"] == data["tracker"]["metadata"]["schema"] == "0.4"
    assert data["tracker"]["process_metrics"][0]["memory"] > 1000
    assert data["step_failed"] is False
    assert data["tracker"]["metadata"]["interval"] == 0.1
    assert data["pathspec"].split("/")[2] == "work"
    assert data["totals"]["cpu_s"]["value"] > 0.35
    assert max(row["cpu_usage"] for row in data["tracker"]["process_metrics"]) > 0.02
    from resource_tracker import ResourceTracker

    assert ResourceTracker.from_snapshot(data["tracker"]).recommend_resources()["cpu"] == 1


def test_the_artifact_follows_the_users_schema(flow):
    """Whichever earlier runs had; the card stays as it is."""
    flow.write(body("time.sleep(0.3)", "@track_resources(interval=0.1)"))("run")
    flow("run", RESOURCE_TRACKER_SCHEMA="0.5")
    data = flow.client("run['start'].task.data.resource_tracker_data")
    assert data["schema"] == data["tracker"]["metadata"]["schema"] == "0.5"
    row = data["tracker"]["process_metrics"][0]
    assert 1 < row["memory_mib"] < 1000 and "memory" not in row
    (earlier,) = data["historical_stats"]
    assert 1 < earlier["process_memory_mib"]["max"] < 1000 and "process_memory" not in earlier
    assert len(flow.cards("start")) == 2
    # Plain values: they load where the package is not installed.
    kinds = flow.client("[type(x).__module__ for x in (lambda d: [d, d['tracker'], d['totals'], "
                        "d['tracker']['process_metrics'][0], d['historical_stats'][0]])("
                        "run['start'].task.data.resource_tracker_data)]")
    assert set(kinds) == {"builtins"}


def test_a_step_shorter_than_an_interval_has_its_totals(foreach):
    data = foreach.client("run['start'].task.data.resource_tracker_data")
    assert data["tracker"]["metadata"]["interval"] == 60
    assert len(data["tracker"]["process_metrics"]) == 1 and "error" not in data
    used_s = foreach.client("run['start'].task.data.used_s")
    assert 0.02 <= used_s <= data["totals"]["cpu_s"]["value"] < used_s + 0.03
    # A peak that no sample has seen is what later runs request.
    stats = foreach.client("json.loads(run['start'].task.metadata_dict['resource-usage'])['stats']")
    assert stats["process_memory_mib"]["max"] > 100


def test_merging_and_steps_that_are_not_tracked(foreach):
    assert foreach.client("'resource_tracker_data' in run['end'].task") is False
    assert foreach.client("run['work'].task.metadata_dict['resource-usage'] is not None")
    assert foreach.client("run['end'].task.metadata_dict.get('resource-usage')") is None


def test_history_is_of_the_same_step_and_the_largest_task(foreach):
    history = foreach.client("run['work'].task.data.resource_tracker_data['historical_stats']")
    assert len(history) == 1  # one earlier run
    peaks = foreach.client(
        "[json.loads(t.metadata_dict['resource-usage'])['stats']['process_memory_mib']['max'] "
        "for t in list(Flow('F').runs())[1]['work'].tasks()]")
    assert len(peaks) == 2 and history[0]["process_memory"]["max"] == max(peaks) * 1024
    assert max(peaks) - min(peaks) > 40


def test_cards(foreach):
    cards = foreach.cards("work")
    assert len(cards) == 4
    for html in cards:
        assert html.startswith("<!doctype html>") and html.endswith("</html>\n")
        assert "\u2713 exit 0" in html
        # Two were requested. A task that had to wait for a CPU is not told to request fewer.
        assert re.search(r"@resources\(cpu=[12], memory=", html)
        assert "://" not in html and "src=" not in html
    # Beside what was requested, Metaflow's lines first, and resting on the run before.
    assert "Basis: 2 runs" in cards[-1] and "1024 MiB" in cards[-1] or "1 GiB" in cards[-1]
    assert cards[-1].index("Copy for</span><button type=\"button\" data-copy=\"snippet-metaflow")
    pathspec = foreach.client("run['work'].task.pathspec").split("/", 1)[1]
    out = foreach("card", "get", pathspec, "--type", "tracked_resources")
    assert "<!doctype html>" in out.stdout
    assert foreach.client("len(list(__import__('metaflow').cards.get_cards(run['work'].task)))"
                          ) == 1


def test_the_command_recommends_by_step(foreach):
    program = pathlib.Path(sys.executable).parent / "resource-tracker"
    out = subprocess.run([program, "metaflow", "recommend", "F"], cwd=foreach.folder,
                         env=foreach.env, capture_output=True, text=True, timeout=300, check=False)
    lines = dict(line.split(": ", 1) for line in out.stdout.splitlines())
    assert set(lines) == {"start", "work"}, out.stderr
    assert re.match(r"@resources\(cpu=[12], memory=.*# 2 runs", lines["work"])
    # What the cards of the last run say; of a foreach the largest.
    for step, tasks in ("start", 1), ("work", 2):
        said = [int(re.search(r"@resources\(cpu=[12], memory=(\d+)\)", page)[1])
                for page in foreach.cards(step)[-tasks:]]
        assert re.search(rf"@resources\(cpu=[12], memory={max(said)}\)  #", lines[step]), (lines, said)
    # With a margin: the largest memory times it, rounded up.
    out = subprocess.run([program, "metaflow", "recommend", "F", "--json", "--margin", "3"],
                         cwd=foreach.folder, env=foreach.env, capture_output=True, text=True,
                         timeout=300, check=True)
    assert json.loads(out.stdout)["work"]["memory"] > max(said)
    out = subprocess.run([program, "metaflow", "recommend", "F", "--json", "--last", "1"],
                         cwd=foreach.folder, env=foreach.env, capture_output=True, text=True,
                         timeout=300, check=True)
    assert json.loads(out.stdout)["work"]["memory"] >= 256
    out = subprocess.run([program, "metaflow", "recommend", "None"], cwd=foreach.folder,
                         env=foreach.env, capture_output=True, text=True, timeout=300, check=False)
    assert out.returncode == 1 and out.stderr.startswith("resource-tracker: metaflow: ")


def test_the_extension_is_a_known_distribution(foreach):
    out = subprocess.run([sys.executable, "-c", "import metaflow"], env={
        **foreach.env, "METAFLOW_DEBUG_EXT": "1"}, capture_output=True, text=True, timeout=300,
        check=True)
    text = out.stdout + out.stderr
    assert "resource" in text and "_pythonpath_" not in text


STEP = """
    class F(FlowSpec):
        {decorators}
        @step
        def start(self):
            {body}
            self.next(self.end)
        @step
        def end(self):
            pass
"""


def body(text, decorators="@track_resources"):
    return STEP.format(decorators=decorators, body=text)


def test_a_failed_step_keeps_card_and_artifact(flow):
    done = flow.write(body("raise ValueError('mine')"))("run", check=False)
    assert done.returncode != 0 and "mine" in done.stdout + done.stderr
    (html,) = flow.cards("start")
    assert "\u2717 exit 1" in html and "raises a request" in html
    assert json.loads(flow.client("run['start'].task.metadata_dict['resource-usage']"))["failed"]


@pytest.mark.parametrize("end, state", [
    ("sys.exit(3)", "\u2717 exit 3"),
    ("sys.exit()", "\u2713 exit 0"),
    ("raise KeyboardInterrupt", "\u2717 exit 1"),  # of the task's process, as Metaflow ends it
])
def test_a_step_that_leaves_by_another_way_than_its_end(flow, end, state):
    flow.write(body("import sys; " + end))("run", check=False)
    (html,) = flow.cards("start")
    assert state in html
    failed = state.startswith("\u2717")
    assert flow.client("run['start'].task.data.resource_tracker_data['step_failed']") is failed
    assert json.loads(flow.client("run['start'].task.metadata_dict['resource-usage']"))["failed"] is failed


ENDED = "\u2717 ended unexpectedly"


def left_behind(flow, step):
    """Files beside the cards of a step that are none."""
    return [name for name in glob.glob(f"{flow.folder}/.metaflow/mf.cards/F/runs/*/steps/{step}/"
                                       "tasks/*/.*", recursive=True)
            if not name.endswith(("/.", "/.."))]


LOOK = pathlib.Path(__file__).with_name("look.mjs")


def test_a_killed_step_ends_the_run_and_its_card_stays(flow):
    """A browser shows the card live, then how the step ended. The step is killed once it has been seen."""
    flow.write(body("b = b'x' * (50 << 20)\n"
                    "            while not os.path.exists('seen'): time.sleep(0.05)\n"
                    "            os.kill(os.getpid(), 9)", "@track_resources(interval=0.2)"))
    run = subprocess.Popen([sys.executable, "flow.py", "--no-pylint", "run"], cwd=flow.folder,
                           env=flow.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            if flow.cards("start") or run.poll() is not None:
                break
            time.sleep(0.05)
        (path,) = glob.glob(f"{flow.folder}/.metaflow/mf.cards/F/runs/*/steps/start/tasks/*/cards/*")
        out = subprocess.run(["node", LOOK, f"file://{path}", "200", ENDED], text=True, timeout=900,
                             env={**os.environ, "LOOK_SEEN": f"{flow.folder}/seen"},
                             stdout=subprocess.PIPE, check=True).stdout
        assert run.wait(timeout=900) != 0  # it does not hang
    finally:
        run.kill()
        run.wait()
    seen = json.loads(out)
    (html,) = flow.cards("start")
    assert seen["states"] == ["\u2026 still running", ENDED], (seen, re.findall(r'class="state[^<]*', html))
    assert seen["charts"] >= 2 and seen["requests"] == [] and seen["errors"] == []
    assert "data-live" not in html and "raises a request and never lowers it" in html
    assert left_behind(flow, "start") == []


def test_a_killed_step_is_retried_and_each_attempt_has_its_page(flow):
    flow.write(body("import glob\n"
                    "            while len(glob.glob('.metaflow/mf.cards/F/runs/*/steps/start/tasks/*/cards/*'"
                    ")) <= os.path.exists('again'): time.sleep(0.05)\n"
                    "            if not os.path.exists('again'):\n"
                    "                open('again', 'w').close()\n"
                    "                os.kill(os.getpid(), 9)",
                    "@retry(times=1, minutes_between_retries=0)\n"
                    "        @track_resources(interval=0.2)"))("run")
    states = sorted(re.search(r'class="state[^>]*>([^<]*)', page)[1] for page in flow.cards("start"))
    assert states == sorted([ENDED, "\u2713 exit 0"])
    assert not any("data-live" in page for page in flow.cards("start"))
    assert left_behind(flow, "start") == []


def test_a_tracker_that_cannot_start_does_not_fail_the_step(flow):
    done = flow.write(body("pass", "@track_resources(interval=0)"))("run")
    assert "*WARNING* [@resource_tracker] Failed to start resource tracker processes: " in (
        done.stdout + done.stderr)
    error = flow.client("run['start'].task.data.resource_tracker_data['error']")
    assert error["error_type"] == "ValueError" and "interval must be" in error["error_message"]
    assert "Traceback" in error["traceback"]


def test_attributes(flow):
    flow.write(body("pass", "@track_resources(artifact_name='mine', create_card=False)"))("run")
    assert flow.client("run['start'].task.data.mine['step_failed']") is False
    assert flow.cards("start") == []


def test_a_step_takes_on_alert(flow):
    text = body("called.wait(120); self.told = told", "@track_resources(interval=0.1, on_alert=on_alert)")
    head = """
    import threading
    told, called = [], threading.Event()

    def on_alert(alert):
        told.append((alert["rule"], alert["state"]))
        called.set()
    """
    flow.write(head + text)("run", TRACKER_REQUEST="time=1s")
    assert flow.client("run['start'].task.data.told") == [["time-limit", "firing"]]


def test_beside_a_card_of_ones_own_and_retries(flow):
    flow.write(body("assert os.path.exists('again') or open('again', 'w') is None",
                    "@card(type='blank')\n        @retry(times=1, minutes_between_retries=0)\n"
                    "        @track_resources"))("run")
    assert len(flow.cards("start")) >= 3  # an attempt each, and the blank one
    assert flow.client("run['start'].task.data.resource_tracker_data['step_failed']") is False


def test_with_all_steps(flow):
    flow.write(body("pass", ""))("run", "--with", "track_resources:interval=0.5")
    for step in ("start", "end"):
        data = flow.client(f"run['{step}'].task.data.resource_tracker_data")
        assert data["tracker"]["metadata"]["interval"] == 0.5


def test_by_mutators(flow):
    (flow.folder / "mutators.py").write_text(textwrap.dedent("""
        from metaflow import FlowMutator, StepMutator, track_resources
        class Tracked(FlowMutator):
            def mutate(self, mutable_flow):
                for name, step in mutable_flow.steps:
                    if name == "end":
                        step.add_decorator(track_resources, deco_kwargs={"interval": 0.25})
        class TrackedStep(StepMutator):
            def mutate(self, mutable_step):
                mutable_step.add_decorator(track_resources, deco_kwargs={"interval": 0.5})
    """))
    text = "from mutators import Tracked, TrackedStep\n" + textwrap.dedent(
        body("pass", "@TrackedStep")).replace("class F", "@Tracked\nclass F")
    flow.write(text)("run")
    for step, interval in (("start", 0.5), ("end", 0.25)):
        data = flow.client(f"run['{step}'].task.data.resource_tracker_data")
        assert data["tracker"]["metadata"]["interval"] == interval


def test_spin(foreach):
    done = foreach("spin", "start", check=False)
    if "No such command" in done.stderr:
        return  # an older Metaflow
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'track_resources' as it is not supported" not in done.stdout + done.stderr


def test_card_of_its_type(flow):
    """Made from the artifact, by Metaflow's own way."""
    flow.write(body("time.sleep(0.5)", "@card(type='tracked_resources', id='a')\n"
                    "        @card(type='tracked_resources', options={'artifact_name': 'none'}, "
                    "id='b')\n        @track_resources(create_card=False, interval=0.1)"))("run")
    pages = flow.cards("start")
    assert len(pages) == 2
    (none,) = [html for html in pages if "has no artifact none" in html]
    (made,) = [html for html in pages if html != none]
    assert "Where the wall time went" in made and "://" not in made
    assert "\u2713 exit 0" in made


AUTOTUNED = """
    from metaflow import autotune_resources

    @autotune_resources({arguments})
    class F(FlowSpec):
        @resources(cpu=4, memory=16000)
        @track_resources
        @step
        def start(self):
            held = b"x" * (50 << 20)
            time.sleep(0.3)
            self.x = [1, 2]
            self.next(self.work, foreach="x")
        @track_resources(interval=0.2)
        @step
        def work(self):
            held = b"x" * ((self.input * 250) << 20)
            time.sleep(0.5)
            self.next(self.join)
        @step
        def join(self, inputs):
            self.next(self.end)
        @step
        def end(self):
            pass
"""

REQUESTS = ("{{s: next((d['attributes'].get('memory') for d in "
            "run['_parameters'].task['_graph_info'].data['steps'][s]['decorators'] "
            "if d['name'] == 'resources'), None) for s in ('start', 'work', 'join')}}").replace(
                "{{", "{").replace("}}", "}")


@pytest.mark.prove
def test_autotune_requests_what_earlier_runs_used(flow):
    flow.write(AUTOTUNED.format(arguments="margin=1.1, min_memory=256"))
    first = flow("run")
    assert "[@autotune_resources]" not in first.stdout + first.stderr
    assert flow.client(REQUESTS) == {"start": 16000, "work": None, "join": None}
    second = flow("run")
    # All tasks of the foreach count: the larger one held 500 MiB, the other one would do with 512.
    assert "[@autotune_resources] work: cpu=1, memory=1024 (was not stated)" in second.stderr
    assert "[@autotune_resources] start: cpu=1, memory=256 (was cpu=4, memory=16000)" in (
        second.stderr)
    assert second.stderr.count("@autotune_resources") == 2  # once a run, not once a task
    found = flow.client(REQUESTS)
    assert found == {"start": "256", "work": "1024", "join": None}
    # The page shows what was requested then.
    assert "256 MiB" in flow.cards("start")[-1]
    flow.write(AUTOTUNED.format(arguments="dry_run=True"))
    third = flow("run")
    assert "start: would be cpu=1, memory=512 (was cpu=4, memory=16000)" in third.stderr
    assert flow.client(REQUESTS)["start"] == 16000


def test_autotune_overrides_every_place_of_a_request(tmp_path):
    """Metaflow takes the largest of @resources, @kubernetes and @batch."""
    code = """
        from metaflow import FlowSpec, step, kubernetes, resources
        from metaflow_extensions.resource_tracker.plugins.track_resources import autotune
        from metaflow.user_decorators.mutable_flow import MutableFlow

        class F(FlowSpec):
            @kubernetes(cpu=8, memory=32000, image="mine")
            @resources(memory=16000)
            @step
            def start(self):
                self.next(self.end)
            @kubernetes
            @step
            def end(self):
                pass

        flow = MutableFlow(F, pre_mutate=False, statically_defined=True, inserted_by=["a test"])
        for name, step in flow.steps:
            autotune._request(step, {"cpu": 2, "memory": 640})
            found = {n: k for n, _, _, k in step.decorator_specs}
            print(name, [found[p][k] for p in ("resources", "kubernetes")
                         for k in ("cpu", "memory")], found["kubernetes"]["image"])
    """
    (tmp_path / "f.py").write_text(textwrap.dedent(code))
    out = subprocess.run([sys.executable, "f.py"], cwd=tmp_path, capture_output=True, text=True,
                         timeout=300, check=False)
    assert out.stdout.splitlines() == ["end ['2', '640', '2', '640'] None",
                                       "start ['2', '640', '2', '640'] mine"], out.stderr


def test_code_packages_hold_the_package_once_and_it_works_from_there(flow):
    flow.write(body("pass"))("package", "save", "code.tgz")
    code = flow.folder / "code"
    with tarfile.open(flow.folder / "code.tgz") as archive:
        archive.extractall(code)
    root = code / ".mf_code"
    ours = [path for path in root.rglob("*") if path.is_file() and "resource_tracker" in str(
        path.relative_to(root)) and path.suffix != ".pyc"]
    assert {path.relative_to(root).parts[0] for path in ours} == {
        "resource_tracker", "metaflow_extensions"}
    contents = [path.read_bytes() for path in ours if path.stat().st_size > 200]
    assert len(set(contents)) == len(contents)
    # The machine code of one machine: the program and the C module, each with the catalogue.
    machines = sum(path.name == "resource-tracker-program" for path in ours)
    assert machines >= 1 and sum(len(zlib.compress(c)) for c in contents) < 2.3e6 * machines
    text = """
        import resource_tracker, os
        from resource_tracker import ResourceTracker, _core, _engine
        with ResourceTracker(interval=0.05) as tracker:
            tracker.wait_for_samples(3, timeout=120)
        assert type(tracker._tracker) is _core.Tracker
        print(resource_tracker.__file__, _engine.program(), len(os.listdir("/proc/self/task")))
    """
    out = subprocess.run([sys.executable, "-S", "-c", textwrap.dedent(text)], cwd=flow.folder,
                         env={**flow.env, "PYTHONPATH": str(root)}, capture_output=True, text=True,
                         timeout=120, check=False)
    package, program, threads = out.stdout.split()
    assert package.startswith(str(root)) and program.startswith(str(root)), out.stderr
    assert threads == "1"  # the program samples, not a thread


def test_a_program_that_cannot_be_executed_is_done_without(flow):
    """A thread samples, and the library makes the card."""
    flow.write(body("time.sleep(0.3)", "@track_resources(interval=0.1)"))(
        "run", RESOURCE_TRACKER_BIN="/nonexistent/program")
    (html,) = flow.cards("start")
    assert 'id="snippet-metaflow"' in html
    data = flow.client("run['start'].task.data.resource_tracker_data")
    assert data["step_failed"] is False and data["totals"]["cpu_s"]["value"] > 0


@pytest.mark.parametrize("there", [True, False])
def test_the_folder_of_a_killed_step_is_kept_until_its_last_page_is_there(there, tmp_path, monkeypatch):
    """The page is made from the recording in it; a step that is killed soon has none yet."""
    from metaflow_extensions.resource_tracker.plugins.track_resources import card, decorator

    top, page = tmp_path / "run", tmp_path / "card.html"
    (top / "task").mkdir(parents=True)
    (top / "task" / card.NOTE).write_text(json.dumps({"page": str(page)}))
    if there:
        page.write_text("<html data-live=\"2\">")
    # As the sampling program, which names the folder on its command line.
    program = subprocess.Popen(
        ["sh", "-c", 'sleep 0.5; [ -e "$1" ] && echo "<html>" > "$2"', "sh", top / "task", page])
    # For a moment after exec the kernel shows an empty command line.
    while str(page).encode() not in pathlib.Path(f"/proc/{program.pid}/cmdline").read_bytes():
        time.sleep(0.001)
    monkeypatch.setattr(decorator, "_run_folder", str(top))
    decorator.TrackResourcesDecorator().runtime_finished(None)
    assert program.wait() == 0 and page.read_text() == "<html>\n" and not top.exists()


PASSED_ON = """
    class F(FlowSpec):
        {environment}
        @track_resources(interval=0.2)
        @step
        def start(self):
            self.env = {{k: v for k, v in os.environ.items() if k in ("RESOURCE_TRACKER_SCHEMA", "MINE")}}
            self.next(self.end)
        @step
        def end(self):
            pass
"""


@pytest.mark.parametrize("environment,want", [
    ("", {"RESOURCE_TRACKER_SCHEMA": "0.5"}),
    ("@environment(vars={'MINE': '1'})", {"RESOURCE_TRACKER_SCHEMA": "0.5", "MINE": "1"}),
    ("@environment(vars={'RESOURCE_TRACKER_SCHEMA': '0.4'})", {"RESOURCE_TRACKER_SCHEMA": "0.4"}),
])
def test_a_task_gets_the_schema_that_was_chosen_where_its_run_began(flow, environment, want):
    """By @environment, which reaches other machines; here by a configuration that the task does not look for."""
    config = flow.folder / "config" / "resource-tracker" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[python]\nschema = '0.5'\n")
    text = "from metaflow import environment\n" + textwrap.dedent(PASSED_ON.format(environment=environment))
    flow.write(text)("run", XDG_CONFIG_HOME=str(flow.folder / "config"))
    assert flow.client("run['start'].task.data.env") == want
    data = flow.client("run['start'].task.data.resource_tracker_data")
    assert data["schema"] == want["RESOURCE_TRACKER_SCHEMA"]


def test_without_a_choice_no_environment_is_added(flow):
    flow.write(PASSED_ON.format(environment=""))("run", XDG_CONFIG_HOME=str(flow.folder))
    assert flow.client("run['start'].task.data.env") == {}
    graph = flow.client("run['_parameters'].task['_graph_info'].data['steps']['start']['decorators']")
    assert [deco["name"] for deco in graph] == ["track_resources"]
