"""Tests that real programs can read the output of `recommend --for`: a Slurm that the test starts, the schemas of
Kubernetes and AWS Batch, the Docker client, HTCondor, Snakemake, Nextflow, Metaflow.

Each test also shows that the program rejects wrong input."""

import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import pathlib

import pytest
import yaml

from conftest import ROOT

pytestmark = pytest.mark.native


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    """A controller and a node on the loopback interface."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="trk-slurm-"))
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.dir / name).mkdir()
        key = self.dir / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        (self.dir / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={os.environ.get("USER", "root") if os.geteuid() else "root"}
AuthType=auth/munge
AuthInfo=socket={self.dir}/munge.sock
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={self.dir}/state
SlurmdSpoolDir={self.dir}/spool
SlurmctldPidFile={self.dir}/slurmctld.pid
SlurmdPidFile={self.dir}/slurmd.pid
SlurmctldLogFile={self.dir}/slurmctld.log
SlurmdLogFile={self.dir}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SelectTypeParameters=CR_Memory
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 RealMemory=512 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
""")
        self.env = {**os.environ, "SLURM_CONF": str(self.dir / "slurm.conf")}
        self.running = []
        self.start("munged", "-F", f"--key-file={key}", f"--socket={self.dir}/munge.sock",
                   f"--pid-file={self.dir}/munged.pid", f"--seed-file={self.dir}/seed",
                   f"--log-file={self.dir}/munged.log", "--force")
        self.wait(lambda: (self.dir / "munge.sock").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", host)
        self.wait(lambda: "idle" in self.call("sinfo", "-h", "-o", "%T").stdout)

    def start(self, program, *args):
        path = shutil.which(program, path="/usr/sbin:/usr/bin")
        assert path, f"{program} is not installed"
        self.running.append(subprocess.Popen([path, *args], env=self.env, cwd=self.dir,
                                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def call(self, *args, **options):
        return subprocess.run(args, env=self.env, cwd=self.dir, encoding="utf-8", timeout=240,
                              capture_output=True, check=False, **options)

    @staticmethod
    def wait(what):
        end = time.monotonic() + 240
        while not what():
            assert time.monotonic() < end, "Slurm does not come up"
            time.sleep(0.2)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(240)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


@pytest.fixture(scope="module")
def slurm():
    s = Slurm()
    try:
        yield s
    finally:
        s.stop()


KINDS = ("cpu", "gpu")


def with_gpus(rt):
    """A run that kept 1.4 GPUs busy, in a file of another tool."""
    rows = list(csv.DictReader((ROOT / "tests/fixtures/import/combined-0.5.csv").open()))
    for row in rows:
        row.update(process_gpu_usage="1.4", process_gpu_vram_mib="4000", process_gpu_utilized="2")
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    (rt.home / "gpu.csv").write_text(text.getvalue())
    assert rt.run("import", "--job", "gpu", rt.home / "gpu.csv").rc == 0
    return "gpu"


def snippet(rt, kind, what="cpu"):
    if what == "gpu":
        job = with_gpus(rt)
    else:
        job = "small"
        assert rt.track("/usr/bin/python3", "-c", "x = bytearray(b'x') * (40 << 20)",
                        flags=["-n", job]).rc == 0
    result = rt.run("recommend", "--for", kind, job)
    assert result.rc == 0, result.stderr
    return result.stdout


def python(code, *args, venv="venv-snippets"):
    """Run it in an environment that tools/setup.sh has made."""
    interpreter = ROOT / "build" / venv / "bin/python"
    assert interpreter.exists(), f"{interpreter} is missing. Try: make setup"
    return subprocess.run([interpreter, "-c", code, *map(str, args)], check=False, timeout=240,
                          encoding="utf-8", capture_output=True, stdin=subprocess.DEVNULL,
                          cwd=tempfile.gettempdir(), env={**os.environ, "USERNAME": "tester"})


def test_sbatch_takes_the_lines(rt, slurm):
    lines = snippet(rt, "slurm")
    taken = slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{lines}true\n")
    assert taken.returncode == 0 and "to start at" in taken.stderr, taken.stderr
    # It does read them: more than the node has, and no number at all, are refused.
    more = re.sub(r"--mem=\d+M", "--mem=900M", lines)
    assert slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{more}true\n").returncode != 0
    wrong = re.sub(r"--mem=\d+M", "--mem=xM", lines)
    assert slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{wrong}true\n").returncode != 0


# --- Kubernetes -----------------------------------------------------------------------------------

POD = """
import sys, kubernetes_validate, yaml
container = {"name": "job", "image": "job", **yaml.safe_load(sys.argv[1])}
kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job"},
    "spec": {"containers": [container]}}, kubernetes_validate.latest_version(), strict=True)
"""


@pytest.mark.parametrize("what", KINDS)
def test_kubernetes_takes_the_lines(rt, what):
    lines = snippet(rt, "k8s", what)
    taken = python(POD, lines)
    assert taken.returncode == 0, taken.stderr
    resources = yaml.safe_load(lines)["resources"]
    assert resources["requests"].keys() == {"cpu", "memory"}
    # https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    quantity = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
    for value in (*resources["requests"].values(), *resources["limits"].values()):
        assert quantity.fullmatch(str(value))
    assert resources["limits"]["memory"] == resources["requests"]["memory"]
    assert resources["limits"].get("nvidia.com/gpu") == (2 if what == "gpu" else None)
    for wrong in (lines.replace("requests", "request"), lines.replace("limits:", "limits: 3\nx:")):
        assert "ValidationError" in python(POD, wrong).stderr


# --- AWS Batch ------------------------------------------------------------------------------------

JOB_DEFINITION = """
import json, sys, botocore.session, botocore.validate
model = botocore.session.get_session().get_service_model("batch")
wanted = json.loads(sys.argv[1])
print(botocore.validate.ParamValidator().validate({"jobDefinitionName": "job", "type": "container",
    "containerProperties": {"image": "job", **wanted}},
    model.operation_model("RegisterJobDefinition").input_shape).generate_report())
kinds = model.shape_for("ResourceType").enum
print([w["type"] for w in wanted["resourceRequirements"] if w["type"] not in kinds])
"""


@pytest.mark.parametrize("what", KINDS)
def test_aws_batch_takes_the_properties(rt, what):
    lines = snippet(rt, "batch", what)
    assert python(JOB_DEFINITION, lines).stdout == "\n[]\n"
    wanted = {w["type"]: int(w["value"]) for w in json.loads(lines)["resourceRequirements"]}
    assert wanted.get("GPU") == (2 if what == "gpu" else None)
    number = re.sub(r'"value": "(\d+)"', r'"value": \1', lines)
    assert "Invalid type" in python(JOB_DEFINITION, number).stdout
    assert "['CPU']" in python(JOB_DEFINITION, lines.replace("VCPU", "CPU")).stdout


# --- Docker ---------------------------------------------------------------------------------------


def docker_run(flags):
    client = shutil.which("docker", path=f"{os.environ['PATH']}:{ROOT}/build/docker/usr/bin")
    assert client, "docker is missing. Try: make setup"
    return subprocess.run([client, "run", *flags.split(), "image", "true"], check=False, timeout=240,
                          encoding="utf-8", capture_output=True, stdin=subprocess.DEVNULL,
                          env={"DOCKER_HOST": "unix:///nonexistent", "HOME": "/nonexistent"}).stderr


@pytest.mark.parametrize("what", KINDS)
def test_docker_takes_the_flags(rt, what):
    flags = snippet(rt, "docker", what)
    assert ("--gpus=2" in flags) == (what == "gpu")
    # Flags are read before the daemon is asked, which is not there.
    assert "connect to the Docker daemon" in docker_run(flags)
    assert "unknown flag" in docker_run(flags.replace("--cpus", "--cores"))
    assert "invalid argument" in docker_run(re.sub(r"--memory=\d+m", "--memory=xm", flags))


# --- HTCondor -------------------------------------------------------------------------------------

SUBMIT = """
import sys, warnings
warnings.simplefilter("ignore")
import htcondor
job = list(htcondor.Submit("executable = /bin/true\\n" + sys.argv[1]).jobs(count=1))[0]
print(*[job.get(key) for key in ("RequestCpus", "RequestMemory", "RequestGPUs")])
"""


@pytest.mark.parametrize("what", KINDS)
def test_htcondor_makes_a_job_of_the_lines(rt, what):
    lines = snippet(rt, "htcondor", what)
    mib = re.search(r"request_memory = (\d+)M", lines)[1]
    made = python(SUBMIT, lines)
    assert made.stdout == f"1 {mib} {2 if what == 'gpu' else None}\n", made.stderr
    assert "Parse error" in python(SUBMIT, re.sub(r"= \d+M", "= 600Q", lines)).stderr


# --- Snakemake ------------------------------------------------------------------------------------


def snakemake(folder, lines):
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    (folder / "Snakefile").write_text(f"rule all:\n    output: 'x'\n{body}    shell: 'touch x'\n")
    return python("import sys; from snakemake.cli import main; main(sys.argv[1:])", "-n", "-c", "1",
                  "-s", folder / "Snakefile", "--directory", folder)


@pytest.mark.prove
@pytest.mark.parametrize("what", KINDS)
def test_snakemake_reads_the_rule(rt, tmp_path, what):
    lines = snippet(rt, "snakemake", what)
    mib = re.search(r"mem_mib=(\d+)", lines)[1]
    read = snakemake(tmp_path, lines)
    assert read.returncode == 0, read.stdout + read.stderr
    words = re.search(r"resources: (.*)", read.stdout + read.stderr)[1].split(", ")
    minutes = re.search(r"runtime=(\d+)", lines)[1]
    assert {f"mem_mib={mib}", f"runtime={minutes}"} <= set(words)
    assert ("gpu=2" in words) == (what == "gpu")
    assert snakemake(tmp_path, lines.replace("threads: 1", "threads 1")).returncode != 0
    assert snakemake(tmp_path, re.sub(r"mem_mib=\d+", "mem_mib=600M b", lines)).returncode != 0


# --- Nextflow -------------------------------------------------------------------------------------


def java(folder, *arguments):
    jars = ROOT / "build/nextflow"
    assert (jars / "pom.xml").is_file(), f"{jars} is missing. Try: make setup"
    return subprocess.run(["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", *arguments],
                          check=False, timeout=240, encoding="utf-8", capture_output=True, cwd=folder,
                          stdin=subprocess.DEVNULL,
                          env={**os.environ, "NXF_OFFLINE": "true", "NXF_HOME": str(folder / "home")})


def options(folder, text):
    """The options, held against Nextflow's own table of them."""
    (folder / "nextflow.config").write_text(text)
    read = java(folder, "groovy.ui.GroovyMain", ROOT / "tests/tools/nextflow_config.groovy",
                "nextflow.config")
    assert read.returncode == 0, read.stderr
    return read.stdout.splitlines()


def nextflow_config(folder, text):
    """`nextflow config -flat`, which evaluates, but takes any name for an option."""
    (folder / "nextflow.config").write_text(text)
    return java(folder, "nextflow.cli.Launcher", "config", "-flat")


@pytest.mark.prove
def test_nextflow_reads_the_configuration(rt, tmp_path):
    lines = snippet(rt, "nextflow", "gpu")
    mib = re.search(r"'(\d+) MB'", lines)[1]
    cpus = 2 if "cpus = 2" in lines else 1
    seconds = re.search(r"'(\d+) s'", lines)[1]
    assert options(tmp_path, lines) == [
        f"process.cpus {cpus}", f"process.memory {mib} MB", "process.accelerator [request:2]",
        f"process.time {seconds} s"]
    wrong = lines.replace("cpus", "cpu").replace("[request: 2]", "2")
    assert options(tmp_path, wrong)[::2] == ["unknown: process.cpu", "type: process.accelerator"]
    assert options(tmp_path, lines.rstrip("}\n"))[0].startswith("error: ")


@pytest.mark.prove
def test_nextflow_config_evaluates_the_configuration(rt, tmp_path):
    lines = snippet(rt, "nextflow", "gpu")
    mib = re.search(r"'(\d+) MB'", lines)[1]
    cpus = 2 if "cpus = 2" in lines else 1
    seconds = re.search(r"'(\d+) s'", lines)[1]
    read = nextflow_config(tmp_path, lines)
    assert read.returncode == 0, read.stdout + read.stderr
    assert read.stdout.splitlines() == [
        f"process.cpus = {cpus}", f"process.memory = '{mib} MB'", "process.accelerator = [request:2]",
        f"process.time = '{seconds} s'"]
    assert nextflow_config(tmp_path, lines.rstrip("}\n")).returncode != 0


# --- Metaflow -------------------------------------------------------------------------------------


def metaflow(folder, line):
    (folder / "flow.py").write_text(f"""
from metaflow import FlowSpec, resources, step

class TheFlow(FlowSpec):
    {line}
    @step
    def start(self):
        self.next(self.end)

    @step
    def end(self):
        pass

if __name__ == "__main__":
    TheFlow()
""")
    return python("import json, runpy, sys; sys.argv = sys.argv[1:]; "
                  "flow = runpy.run_path(sys.argv[0])['TheFlow'](use_cli=False); "
                  "step, = [d for d in flow.start.decorators if d.name == 'resources']; "
                  "print(json.dumps(step.attributes)); "
                  "runpy.run_path(sys.argv[0], run_name='__main__')",
                  folder / "flow.py", "check", venv="venv-python")


@pytest.mark.parametrize("what", KINDS)
def test_metaflow_checks_the_flow(rt, tmp_path, what):
    line = snippet(rt, "metaflow", what).strip()
    checked = metaflow(tmp_path, line)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    found = json.loads(checked.stdout.splitlines()[0])
    assert int(found["cpu"]) == 1 and f"memory={found['memory']}" in line
    assert int(found["gpu"] or 0) == (2 if what == "gpu" else 0)
    assert metaflow(tmp_path, line.replace("memory", "memori")).returncode != 0
