"""Tests @track_resources in real flows with an S3 datastore (a local moto server)."""

import json
import subprocess
import sys
import time

import pytest
from test_metaflow import Flow

pytest.importorskip("metaflow")
pytestmark = pytest.mark.prove

BUCKET = "flows"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

ALL_KINDS = """
    from metaflow import parallel

    class F(FlowSpec):
        how = Parameter("how", default="well")
        @track_resources(interval=0.2)
        @step
        def start(self):
            if self.how == "killed":
                held = b"x" * (80 << 20)
                time.sleep(6)
                os.kill(os.getpid(), 9)
            self.x = [1, 2]
            self.next(self.work, foreach="x")
        @track_resources(interval=0.1)
        @step
        def work(self):
            held = b"x" * ((self.input * 60) << 20)
            end = time.process_time() + 0.3
            while time.process_time() < end: pass
            self.mine = 5
            self.next(self.join)
        @track_resources
        @step
        def join(self, inputs):
            self.merge_artifacts(inputs)
            self.next(self.split)
        @step
        def split(self):
            self.next(self.gang, num_parallel=2)
        @track_resources
        @parallel
        @step
        def gang(self):
            time.sleep(0.02)
            self.next(self.collect)
        @step
        def collect(self, inputs):
            self.merge_artifacts(inputs)
            self.next(self.end)
        @step
        def end(self):
            assert self.mine == 5
"""


@pytest.fixture(scope="module")
def endpoint():
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0,
                                                                   verbose=False)
    server.start()
    yield "http://%s:%d" % server.get_host_and_port()
    server.stop()


@pytest.fixture(scope="module")
def bucket(endpoint):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1",
                          aws_access_key_id="test", aws_secret_access_key="test")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture(scope="module")
def flow(tmp_path_factory, endpoint, bucket):
    flow = Flow(tmp_path_factory.mktemp("s3")).write(ALL_KINDS)
    flow.env.update(KEYS, METAFLOW_DEFAULT_DATASTORE="s3",
                    METAFLOW_DATASTORE_SYSROOT_S3=f"s3://{BUCKET}/metaflow",
                    METAFLOW_CARD_S3ROOT=f"s3://{BUCKET}/cards", METAFLOW_S3_ENDPOINT_URL=endpoint)
    flow("run", timeout=900)
    return flow


def cards(bucket, step):
    """{task: page} of the newest run that has the step."""
    listed = bucket.list_objects_v2(Bucket=BUCKET, Prefix="cards/F/runs/").get("Contents", [])
    keys = [entry["Key"] for entry in listed if f"/steps/{step}/" in entry["Key"]]
    newest = max((key.split("/")[3] for key in keys), default="")
    return {key.split("/")[7]: bucket.get_object(Bucket=BUCKET, Key=key)["Body"].read().decode()
            for key in keys if key.split("/")[3] == newest}


def test_every_task_has_its_card(flow, bucket):
    assert len(cards(bucket, "start")) == 1 and len(cards(bucket, "work")) == 2
    assert len(cards(bucket, "gang")) == 2
    for page in [*cards(bucket, "start").values(), *cards(bucket, "work").values(),
                 *cards(bucket, "gang").values()]:
        assert page.startswith("<!doctype html>") and "\u2713 exit 0" in page
        assert "data-live" not in page and "://" not in page
    pathspec = flow.client("run['start'].task.pathspec").split("/", 1)[1]
    shown = flow("card", "get", pathspec, "--type", "tracked_resources").stdout
    assert "\u2713 exit 0" in shown


def test_artifacts_and_metadata_of_every_kind_of_step(flow):
    figures = flow.client(
        "{s: [json.loads(t.metadata_dict['resource-usage']) for t in run[s].tasks()] "
        "for s in ('start', 'work', 'join', 'gang')}")
    assert [len(figures[step]) for step in ("start", "work", "join", "gang")] == [1, 2, 1, 2]
    peaks = sorted(value["stats"]["process_memory_mib"]["max"] for value in figures["work"])
    assert 45 < peaks[1] - peaks[0] < 90
    for value in figures["work"]:
        assert 0.25 < value["totals"]["cpu_s"] < 3
    data = flow.client("run['gang'].task.data.resource_tracker_data")
    assert data["totals"]["cpu_s"]["value"] > 0 and len(data["tracker"]["process_metrics"]) == 1
    assert flow.client("'resource_tracker_data' in run['end'].task") is False


def test_a_card_is_live_and_says_how_its_step_ended_when_that_is_killed(flow, bucket, tmp_path):
    before = set(cards(bucket, "start"))
    run = subprocess.Popen([sys.executable, "flow.py", "--no-pylint", "run", "--how", "killed"],
                           cwd=flow.folder, env={**flow.env, "TMPDIR": str(tmp_path)},
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    pages = {}
    try:
        for _ in range(600):
            pages = cards(bucket, "start")
            if any("still running" in page for page in pages.values()):
                break
            assert run.poll() is None
            time.sleep(0.1)
        assert any("still running" in page for page in pages.values()), before
        run.communicate(timeout=600)  # it does not hang
    finally:
        run.kill()
    assert run.returncode != 0
    (page,) = cards(bucket, "start").values()
    # The sampling program has seen the end, and the process that runs the flow has stored its page.
    assert "ended unexpectedly" in page and "data-live" not in page
    assert list(tmp_path.glob("resource-tracker-*")) == []


def test_recommendations_come_from_the_metadata(flow):
    out = subprocess.run([sys.executable, "-m", "resource_tracker", "metaflow", "recommend", "F",
                          "--json"], cwd=flow.folder, env=flow.env, stdout=subprocess.PIPE,
                         text=True, timeout=600, check=True).stdout
    found = json.loads(out)
    assert set(found) == {"start", "work", "join", "gang"} and found["work"]["memory"] >= 256
