"""What `recommend --for` prints, read by the real programs: a Slurm of the test's own, YAML."""

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
        return subprocess.run(args, env=self.env, cwd=self.dir, encoding="utf-8", timeout=60,
                              capture_output=True, check=False, **options)

    @staticmethod
    def wait(what):
        end = time.monotonic() + 60
        while not what():
            assert time.monotonic() < end, "Slurm does not come up"
            time.sleep(0.2)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(10)
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


def snippet(rt, kind):
    assert rt.track("/usr/bin/python3", "-c", "x = bytearray(b'x') * (40 << 20)",
                    flags=["-n", "small"]).rc == 0
    result = rt.run("recommend", "--for", kind, "small")
    assert result.rc == 0, result.stderr
    return result.stdout


def test_sbatch_takes_the_lines(rt, slurm):
    lines = snippet(rt, "slurm")
    taken = slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{lines}true\n")
    assert taken.returncode == 0 and "to start at" in taken.stderr, taken.stderr
    # It does read them: more than the node has, and no number at all, are refused.
    more = re.sub(r"--mem=\d+M", "--mem=900M", lines)
    assert slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{more}true\n").returncode != 0
    wrong = re.sub(r"--mem=\d+M", "--mem=xM", lines)
    assert slurm.call("sbatch", "--test-only", input=f"#!/bin/sh\n{wrong}true\n").returncode != 0


def test_kubernetes_reads_the_quantities(rt):
    resources = yaml.safe_load(snippet(rt, "k8s"))["resources"]
    assert resources["requests"].keys() == {"cpu", "memory"}
    # https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    quantity = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
    values = [*resources["requests"].values(), *resources["limits"].values()]
    assert all(isinstance(v, str) and quantity.fullmatch(v) for v in values)
    assert resources["limits"]["memory"] == resources["requests"]["memory"]
