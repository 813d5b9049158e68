"""Tests `--lines` and `resource-tracker lines` with programs whose distribution of CPU time is known, under every
CPython of the machine.

The programs measure each part with their own CPU clock and work until it reaches the planned time, so load on the
machine slows them down but does not change the result.
"""

import collections
import csv
import glob
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from conftest import Tracker, memory_group
from report_page import Page

PYTHONS = sorted({os.path.realpath(p) for pattern in (
    "/usr/bin/python3", "~/.pyenv/versions/3.9.*/bin/python3", "~/.pyenv/versions/3.1?.*/bin/python3")
    for p in glob.glob(os.path.expanduser(pattern))})
SYSTEM = "/usr/bin/python3"

# Prints the CPU seconds that each part used.
SPLIT = """
import json, time
def spin(n):
    x = 0
    for i in range(n):
        x += i * i
    return x
def first():
    spin(77000)   # FIRST
def second():
    spin(23000)   # SECOND
def holds():
    sum(data)     # HOLDS
def naps():
    time.sleep(0.02)  # NAPS
data = bytes(1000000)
while time.process_time() < 0.5:
    pass  # the first look at a process is up to 0.2 s after its start
used = {}
for part in (first, second, holds, naps) * 3:
    before = time.process_time()
    for _ in range(30):
        part()
    used[part.__name__] = used.get(part.__name__, 0) + time.process_time() - before
print(json.dumps(used))
"""

# Functions that are compiled, run once and die; the next one takes their addresses. Line and name say which file it
# was.
DYING = """
import time
def run(i):
    text = "%sdef f%03d():\\n    x = 0\\n    for k in range(20000):\\n        x += k\\nf%03d()\\n" % ("\\n" * i, i, i)
    exec(compile(text, "/made/%03d.py" % i, "exec"), {})
i = 0
end = time.process_time() + 0.6
while time.process_time() < end:
    i += 1
    run(i % 300)
"""

STEP = """
import time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def step():
    return bytearray(b"x") * (150 << 20)   # STEP
def steps():
    kept = []
    for i in range(40):
        kept.append(bytearray(10 << 20))   # LOOP
    return kept
spin(0.3)
one = step()
spin(0.1)
many = steps()
spin(0.1)
"""



def write(rt, name, text):
    path = rt.home / name
    path.write_text(text)
    return path


def line_of(text, word):
    return next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# " + word))


def lines(rt, *flags):
    result = rt.run("lines", "--json", "--top", "1000", *flags)
    assert result.rc == 0, result.stderr
    return result.json()


def row(document, file, line):
    found = [r for r in document["rows"] if r["file"] == str(file) and r["line"] == line]
    return found[0] if found else None


def samples(rt, script, python=SYSTEM, hz="250", **options):
    result = rt.track(python, script, flags=("--lines", hz), **options)
    assert result.rc == 0, result.stderr
    return result


@pytest.fixture(scope="module")
def split(rt_path, tmp_path_factory):
    """split(python): the tracker with one recording of SPLIT, the script, and what it printed. Each is made once. Those of
    other Pythons than the system's have DYING, too."""
    made = {}

    def of(python=PYTHONS[0]):
        if python not in made:
            rt = Tracker(rt_path, tmp_path_factory.mktemp("split"))
            script = write(rt, "split.py", SPLIT + (DYING if python != os.path.realpath(SYSTEM) else ""))
            os.utime(script, (1, 1))
            made[python] = rt, script, json.loads(samples(rt, script, python).stdout)
        return made[python]

    return of


@pytest.fixture
def of_system(split):
    """The tracker with the recording of the system's Python, only to be read."""
    return split(os.path.realpath(SYSTEM))[0]


@pytest.mark.native
@pytest.mark.parametrize("python", PYTHONS)
def test_splits_cpu_time_as_the_program_measures_it(split, python):
    rt, script, truth = split(python)
    document = lines(rt)
    whole = sum(truth.values())
    looked_at = document["all"]["samples"]
    assert looked_at > 100
    # Four standard errors of a share of about a half, and what the borders of the parts take.
    margin = 4 * 0.5 / looked_at ** 0.5 + 0.03
    parts = (("first", "FIRST"), ("second", "SECOND"), ("holds", "HOLDS"))
    found = {part: row(document, script, line_of(SPLIT, word)) for part, word in parts}
    charged = sum(r["with_callees"]["cpu_s"] for r in found.values())
    for part, r in found.items():
        share = r["with_callees"]["cpu_s"] / charged
        assert abs(share - truth[part] / whole) < margin, (part, share, truth, looked_at)
    nap = row(document, script, line_of(SPLIT, "NAPS"))
    assert nap["wall_s"] > 0
    assert nap["cpu_s"] < 0.1 * document["all"]["cpu_s"]
    assert document["torn"] <= document["stacks"] * 0.01 + 2
    assert [p["read"] for p in document["processes"]] == [True]
    version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                             capture_output=True, text=True, check=True).stdout.strip()
    assert document["processes"][0]["python"] == version
    if python != os.path.realpath(SYSTEM):  # that one is read by the sanitizers' build, too: test_lines_input.py
        check_dying(document)


def check_dying(document):
    """An address that is used again has its new name."""
    found = [r for r in document["rows"] if (r["file"] or "").startswith("/made/")]
    assert len(found) >= 20
    wrong = []
    for r in found:
        i = int(r["file"][6:9])
        assert r["function"] in (f"f{i:03d}", "<module>"), r
        # The first instruction of a module is of line 1, and some are of no line.
        if r["line"] not in (range(i + 1, i + 6) if r["function"] != "<module>" else (None, 1, i + 1, i + 5)):
            wrong.append(r)
    # The frame is read a moment before the code object.
    assert sum(r["samples"] for r in wrong) <= 0.01 * sum(r["samples"] for r in found) + 1, wrong
    assert sum(r["cpu_s"] for r in found if r["line"]) > 0


@pytest.mark.native
def test_finds_the_line_that_takes_memory(rt):
    script = write(rt, "step.py", STEP)
    samples(rt, script, hz="400")
    document = lines(rt, "--memory")
    step, loop = (row(document, script, line_of(STEP, word)) for word in ("STEP", "LOOP"))
    assert step["growth_mib"] + step["growth_between_mib"] > 0.8 * 150
    assert loop["growth_mib"] + loop["growth_between_mib"] > 0.6 * 400
    assert {document["rows"][0]["line"], document["rows"][1]["line"]} == {step["line"], loop["line"]}


@pytest.mark.native  # its lines of src are those of other tests
def test_python_is_sampled_unless_that_is_turned_off(rt):
    script = write(rt, "burn.py", BURN_PYTHON + "burn(0.8)\n")
    assert rt.track(SYSTEM, script).rc == 0
    size = bytes_of_types(rt)
    stacks = sum(size[kind] for kind in STACK_RECORDS)
    assert 0 < stacks < 0.1 * (size.total() - stacks) + 4 * 1024
    assert row(lines(rt), script, line_of(script.read_text(), "BURNS"))["cpu_s"] > 0
    script.write_text(BURN_PYTHON + "burn(0.3)\n")
    for flags, env in ((("--lines", "off"), {}), ((), {"TRACKER_LINES": "off"})):
        assert rt.track(SYSTEM, script, flags=flags, env=env).rc == 0
        result = rt.run("lines")
        assert result.rc == 4
        assert "--lines off" in result.stderr and len(result.stderr.splitlines()) == 1


STACK_RECORDS = {20, 21, 22}


def bytes_of_types(rt):
    """{type of record: bytes} of the last recording."""
    data = max(pathlib.Path(rt.state, "runs").iterdir(), key=os.path.getmtime).read_bytes()
    at, found = 8, collections.Counter()
    while at < len(data):
        size = 14 + int.from_bytes(data[at + 6:at + 10], "little")
        found[data[at + 4]] += size
        at += size
    return found


def test_a_job_without_python_leaves_no_trace_of_sampling(rt):
    result = rt.track("sleep", "0.5", flags=("--summary-json", "-"))
    assert result.rc == 0 and result.json()["lines"] is None
    assert not STACK_RECORDS & bytes_of_types(rt).keys()
    assert "no Python" in rt.run("lines").stderr


def test_imports_of_libraries_are_one_line(rt):
    library = rt.home / "site-packages" / "slow"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("import slow.inner\n")
    (library / "inner.py").write_text(BURN_PYTHON + "burn(0.8)\n")
    script = write(rt, "imports.py", f"import sys\nsys.path.insert(0, {str(library.parent)!r})\nimport slow\n")
    samples(rt, script)
    stacks = rt.run("lines", "--format", "folded").stdout
    assert re.search(r";imports\.py:3 <module>;__init__\.py:1 <module> \d+$", stacks, re.M)
    assert "inner.py" not in stacks and "importlib" not in stacks


@pytest.mark.parametrize("value", ["", "x", "-1", "0.01", "1e9", "20hz", "nan"])
def test_refuses_a_rate_that_is_none(rt, value):
    result = rt.track("true", flags=("--lines", value))
    if value == "":  # an empty value of a variable means no
        assert result.rc == 0
        return
    assert result.rc == 125
    assert "--lines" in result.stderr and len(result.stderr.splitlines()) == 1


def test_refuses_tables_that_there_are_not(rt):
    for flags in (("--by", "column"), ("--format", "xml"), ("--top", "-1"), ("--since", "-1")):
        result = rt.run("lines", *flags)
        assert result.rc == 2
        assert len(result.stderr.splitlines()) == 1


BURN_PYTHON = """
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:  # BURNS
        pass
"""


def test_reads_workers_and_threads(rt):
    script = write(rt, "workers.py", BURN_PYTHON + """
import multiprocessing, threading
def work():
    burn(0.8)
def nap():
    time.sleep(1)
def main():
    multiprocessing.set_start_method("fork")
    threads = [threading.Thread(target=nap) for _ in range(3)]
    workers = [multiprocessing.Process(target=work) for _ in range(2)]
    for x in workers + threads: x.start()
    for x in workers + threads: x.join()
main()
""")
    samples(rt, script)
    assert len(lines(rt, "--by", "process")["rows"]) == 3
    assert len(lines(rt, "--by", "thread")["rows"]) >= 6
    functions = {r["function"] for r in lines(rt, "--by", "function")["rows"]}
    assert {"burn", "work", "nap", "<module>"} <= functions
    files = lines(rt, "--by", "file", "--wall")["rows"]
    assert files[0]["file"] == str(script)


def test_follows_an_exec(rt):
    first = write(rt, "first.py", BURN_PYTHON + """
import os, sys
def before():
    burn(0.6)
before()
os.execv(sys.executable, [sys.executable, sys.argv[1]])
""")
    second = write(rt, "second.py", BURN_PYTHON + """
def after():
    burn(0.8)
after()
""")
    result = rt.track("sh", "-c", f"exec {SYSTEM} {first} {second}", flags=("--lines", "200"))
    assert result.rc == 0
    assert {"before", "after"} <= {r["function"] for r in lines(rt, "--by", "function")["rows"]}


def test_reads_a_deep_recursion(rt):
    script = write(rt, "deep.py", BURN_PYTHON + """
import sys
sys.setrecursionlimit(20000)
def down(n):
    if n:
        return down(n - 1)
    burn(1.2)
down(5000)
""")
    samples(rt, script)
    # One look at 5,000 frames takes long, so that there are few: what they found is what counts.
    document = lines(rt, "--by", "function")
    found = {r["function"]: r["with_callees"]["samples"] for r in document["rows"]
             if r["file"] == str(script)}  # modules that Python imports have a <module>, too
    assert found["down"] >= 0.5 * document["all"]["samples"] > 0
    assert found["<module>"] >= found["down"]


def test_names_of_files_reach_no_terminal(rt):
    folder = os.fsencode(rt.home) + b"/a;\x1b[31m\xff<script>"
    os.mkdir(folder)
    script = os.path.join(folder, b"t\n.py")
    with open(script, "w") as f:
        f.write(BURN_PYTHON + "burn(0.8)\n")
    samples(rt, os.fsdecode(script))
    for form in ("text", "folded", "json", "speedscope"):
        result = subprocess.run([rt.path, "lines", "--format", form], env=rt.env,
                                capture_output=True, check=True)
        assert b"\x1b" not in result.stdout and b"\xff" not in result.stdout
        assert b".py" in result.stdout
        if form in ("json", "speedscope"):
            json.loads(result.stdout)


def test_source_is_shown_while_the_file_is_unchanged(rt):
    script = write(rt, "s.py", BURN_PYTHON + "burn(0.8)\n")
    os.utime(script, (1, 1))
    samples(rt, script)
    assert "while time.process_time() < end:" in rt.run("lines").stdout
    script.write_text("something\n" * 10)
    assert "something" not in rt.run("lines").stdout


def test_base_names_alone_with_redacted_arguments(rt):
    script = write(rt, "secret.py", BURN_PYTHON + "burn(0.8)\n")
    result = rt.track(SYSTEM, script, flags=("--lines", "200"),
                      env={"TRACKER_REDACT_ARGS": "1"})
    assert result.rc == 0
    files = {r["file"] for r in lines(rt)["rows"]}
    assert "secret.py" in files
    assert not any("/" in (f or "") for f in files)


def test_libraries_are_told_from_own_code_without_their_paths(rt):
    script = write(rt, "reads.py", """
import json, time
text = json.dumps([{"a": i} for i in range(3000)])
decode = json.JSONDecoder(strict=False).decode
end = time.process_time() + 1
while time.process_time() < end:
    json.dumps(json.loads(text), indent=1)  # READS
""")
    assert rt.track(SYSTEM, script, flags=("--lines", "200"), env={"TRACKER_REDACT_ARGS": "1"}).rc == 0
    document = lines(rt)
    assert max(document["rows"], key=lambda r: r["cpu_s"])["file"] == "reads.py"
    own = sum(r["cpu_s"] for r in document["rows"] if r["file"] == "reads.py")
    assert own > 0.9 * document["all"]["cpu_s"]
    assert any(r["file"] == "encoder.py" for r in lines(rt, "--all-frames")["rows"])


def test_phases_and_stretches_of_time(rt):
    script = write(rt, "phases.py", f"""
import subprocess, time
def load():
    end = time.process_time() + 1.2
    while time.process_time() < end:
        pass
def train():
    end = time.process_time() + 1.2
    while time.process_time() < end:
        pass
load()
subprocess.run([{str(rt.path)!r}, "mark", "later"], check=True)
train()
""")
    samples(rt, script)
    both = {r["function"]: r["with_callees"]["cpu_s"] for r in lines(rt, "--by", "function")["rows"]}
    assert both["load"] > 0.3 and both["train"] > 0.3
    part = {r["function"]: r["with_callees"]["cpu_s"]
            for r in lines(rt, "--by", "function", "--phase", "later")["rows"]}
    assert part["train"] > 0.3
    assert part.get("load", 0) < both["load"] / 2
    assert rt.run("lines", "--phase", "none").rc == 4
    phases = lines(rt, "--by", "phase")["rows"]
    assert [(p["phase"], p["function"]) for p in phases] == [("load()", "load"), ("later", "train")]
    assert all(p["cpu_s"] > 0.3 for p in phases)
    assert abs(sum(p["cpu_s"] for p in phases) - lines(rt)["all"]["cpu_s"]) < 0.001
    assert re.search(r"later, from .* to .*\n +phases\.py:\d+ train\(\)", rt.run("lines", "--by", "phase").stdout)
    assert lines(rt, "--since", "1h")["rows"] == []
    # The first part has no mark; it is named after the function that it was spent in.
    shown = json.loads(rt.run("show", "--json").stdout)["phases"]
    assert [(p["name"], p["function"]) for p in shown] == [(None, "load"), ("later", "train")]


def test_compare_names_the_lines_that_changed(rt):
    text = BURN_PYTHON + """
import sys
def load():
    burn(float(sys.argv[1]))  # LOADS
def keep():
    return b"x" * (int(sys.argv[2]) << 20)  # KEEPS
def same():
    burn(0.3)
burn(0.2)
load()
kept = keep()
same()
"""
    script = write(rt, "jobs.py", text)
    for arguments in (("0.3", "1"), ("1.3", "200")):
        assert rt.track(SYSTEM, script, *arguments, flags=("--lines", "200")).rc == 0
    changed = rt.run("compare", "@2", "@", "--json").json()["lines"]
    keeps, = (r for r in changed["memory"] if r["now_mib"] - r["before_mib"] > 100)
    assert keeps["line"] == line_of(text, "KEEPS") and keeps["file"] == str(script)
    burns, = changed["cpu"][:1]
    assert burns["function"] == "burn" and burns["now_s"] - burns["before_s"] > 0.7
    assert re.search(r"^CPU time at jobs\.py:\d+ burn\(\): .* -> ", rt.run("compare", "@2", "@").stdout, re.M)
    assert f"growth of memory at **jobs.py:{keeps['line']} keep()**" in rt.run(
        "compare", "@2", "@", "--markdown").stdout
    assert rt.track("true").rc == 0
    assert rt.run("compare", "@2", "@", "--json").json()["lines"] is None


@pytest.mark.native  # its lines of src are those of other tests
def test_compare_with_earlier_runs_names_lines_beside_the_newest(rt):
    text = BURN_PYTHON + """
import sys
def load():
    burn(float(sys.stdin.read()))  # LOADS
load()
"""
    script = write(rt, "jobs.py", text)
    for seconds in ["0.3"] * 5 + ["1.3"]:
        assert rt.track(SYSTEM, script, flags=("--lines", "200"), stdin=seconds).rc == 0
    beside = rt.run("compare", "--json").json()
    earlier = json.loads(rt.run("history", "--json").stdout)
    assert beside["lines_with"] in json.dumps(earlier) and "median of 5 earlier runs" in beside["with"]
    assert beside["figures"]["cpu"]["words"]
    best = beside["lines"]["cpu"][0]
    assert best["function"] == "burn" and best["now_s"] - best["before_s"] > 0.7
    assert f"Lines, beside {beside['lines_with']}:" in rt.run("compare").stdout


def test_lines_are_readable_after_the_tracker_was_killed(rt):
    script = write(rt, "long.py", "import time\nwhile True:\n    time.sleep(0.001)\n")
    with rt.start("run", "--no-discovery", "--lines", "50", "--", SYSTEM, script) as process:
        while rt.run("lines").rc != 0:
            assert process.poll() is None
        process.kill()
        process.wait()
    document = lines(rt)
    assert row(document, script, 3)["wall_s"] > 0


def test_a_process_that_may_not_be_read_is_named(victim):
    """It keeps others out as a set-user-id program does (PR_SET_DUMPABLE)."""
    path = victim.put(victim.home / "closed.py", "import ctypes\n"
                      "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n" + BURN_PYTHON + "burn(0.8)\n")
    result = victim.rt("run", "--no-discovery", "--lines", "200", "--", SYSTEM, str(path))
    assert result.returncode == 0, result.stderr
    result = victim.rt("lines", "--json")
    if result.returncode == 0:  # it was read before it closed itself
        assert "memory" in json.loads(result.stdout)["processes"][0]["reason"]
    else:
        assert "does not let the tracker read its memory" in result.stderr


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_other_runtimes_are_named(rt):
    result = rt.track(shutil.which("node"), "-e", "while (process.cpuUsage().user < 0.8e6);",
                      flags=("--lines", "auto"))
    assert result.rc == 0
    result = rt.run("lines")  # which may have its native code
    assert "Node.js" in (result.stdout if result.rc == 0 else result.stderr)


def test_flame_graph_formats_hold_whole_stacks(of_system):
    rt = of_system
    folded = rt.run("lines", "--format", "folded").stdout
    assert re.search(r"^python3[^;]*;split\.py:\d+ <module>;split\.py:\d+ first\(\);"
                     r"split\.py:\d+ spin\(\) \d+$", folded, re.M)
    document = json.loads(rt.run("lines", "--format", "speedscope").stdout)
    frames = document["shared"]["frames"]
    profile = document["profiles"][0]
    assert profile["endValue"] == sum(profile["weights"])
    assert len(profile["weights"]) == len(profile["samples"])
    names = [[frames[i]["name"] for i in stack] for stack in profile["samples"]]
    assert ["<module>", "first", "spin"] in names
    assert profile["unit"] == "microseconds"
    cpu_s = sum(each["endValue"] for each in document["profiles"]) / 1e6
    assert abs(cpu_s - lines(rt)["all"]["cpu_s"]) < 0.001


GROWS = """
import threading, time
def beat():
    while True:
        time.sleep(0.05)  # BEAT
def keep(index):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        index.append(bytearray(b"x") * 100_000)  # KEEPS
        time.sleep(0.0005)
def idle():
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
threading.Thread(target=beat, daemon=True).start()
index = []
while time.process_time() < 0.3:
    pass
while True:
    keep(index)
    idle()
"""


def says_where_it_grew(rt, script, summary):
    """Text, JSON and the page of the last run name the line that grew, and the sleeping thread."""
    keeps, beats = line_of(GROWS, "KEEPS"), line_of(GROWS, "BEAT")
    found = summary["lines"]
    assert found["growth"][0]["file"] == str(script)
    assert found["growth"][0]["line"] == keeps  # not the sleep that most looks find
    assert any(p["line"] == beats for p in found["last"])
    assert any(p["function"] in ("keep", "idle") for p in found["last"])
    text = rt.run("show").stdout
    assert re.search(rf"^Grew .*grows\.py:{keeps}\b", text, re.M), text
    assert re.search(r"^At kill .*grows\.py:\d+", text, re.M), text
    page = rt.run("report", "--format", "md", "--output", "-").stdout
    assert "Memory grew by " in page
    assert f"grows.py:{beats} beat()" in page


@pytest.mark.native
@pytest.mark.skipif(os.geteuid() != 0 or memory_group() is None,
                    reason="needs root and a memory controller")
def test_a_kill_for_memory_names_the_line_that_grew(rt):
    script = write(rt, "grows.py", GROWS)
    group = memory_group() + "-lines"
    os.makedirs(group, exist_ok=True)
    limit = "memory.max" if os.path.exists(f"{group}/memory.max") else "memory.limit_in_bytes"
    pathlib.Path(group, limit).write_text(str(400 << 20))
    try:
        result = subprocess.run(
            ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"', rt.path, "run", "-q",
             "--no-discovery", "--lines", "100", "--summary-json", "-", "--", SYSTEM, script],
            env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    finally:
        for _ in range(100):
            try:
                os.rmdir(group)
                break
            except OSError:  # what was killed is still being taken down
                time.sleep(0.1)
    summary = json.loads(result.stdout)
    assert summary["run"]["exit"]["verdict"] == "out_of_memory"
    says_where_it_grew(rt, script, summary)


def test_the_own_memory_limit_names_the_line_that_grew(rt):
    script = write(rt, "grows.py", GROWS)
    result = rt.track(SYSTEM, script, flags=("--lines", "100", "--limit", "mem=300M",
                                             "--summary-json", "-"))
    summary = json.loads(result.stdout)
    assert summary["run"]["exit"]["verdict"] == "memory_limit"
    says_where_it_grew(rt, script, summary)


SHORT_STEPS = """
import time
def work():
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
def load(kept):
    kept.append(b"x" * 5_000_000)  # KEEPS
def train():
    kept = []
    while True:
        load(kept)
        work()
train()
"""


@pytest.mark.native  # its lines of src are those of other tests
def test_steps_shorter_than_a_sample_are_found(rt):
    """Nearly every sample finds the line that takes no memory. One run may miss it where no CPU is free."""
    script = write(rt, "short.py", SHORT_STEPS)
    named = []
    for _ in range(4):
        result = rt.track(SYSTEM, script, flags=("--lines", "auto", "--limit", "mem=300M", "--summary-json", "-"))
        growth = json.loads(result.stdout)["lines"]["growth"]
        assert sum(g["growth_mib"] for g in growth if g["function"] != "load") < 30
        named.append(growth[0]["line"])
        if named[-1] == line_of(SHORT_STEPS, "KEEPS"):
            return
    assert not named


BUFFERS = """
import time
def buffers():
    for _ in range(5):
        len(b"y" * 4_000_000)  # FREES
def load():
    kept.append(b"x" * 2_000_000)  # KEEPS
kept = []
while True:
    buffers()
    load()
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
"""
DOUBT = "~: likely, unless another line keeps what this one freed"


@pytest.mark.native  # its lines of src are those of other tests
def test_growth_that_another_line_may_hold_is_not_named_as_sure(rt):
    """The line that keeps memory takes what the other one freed: page faults name the other one."""
    script = write(rt, "buffers.py", BUFFERS)
    result = rt.track(SYSTEM, script, flags=("--limit", "mem=300M", "--summary-json", "-"))
    growth = json.loads(result.stdout)["lines"]["growth"]
    assert growth[0]["growth_between_mib"] > 4 * growth[0]["growth_mib"]
    assert DOUBT in " ".join(rt.run("show").stdout.split())
    assert f"({DOUBT})" in rt.run("report", "--format", "md", "--output", "-").stdout


@pytest.mark.native
def test_growth_that_is_sure_has_no_doubt(rt):
    script = write(rt, "step.py", "import time\nwhile time.process_time() < 0.5:\n    pass\nx = bytearray(b'x') * (3 << 30)\n")
    result = rt.track(SYSTEM, script, flags=("--lines", "1000", "--limit", "mem=1G", "--summary-json", "-"))
    growth = json.loads(result.stdout)["lines"]["growth"]
    assert growth[0]["line"] == 4
    assert ("~: likely" in rt.run("show").stdout) == (growth[0]["growth_between_mib"] > growth[0]["growth_mib"] / 4)


OBJECTS = """
def build(kept):
    for i in range(10 ** 9):
        kept.append((i, str(i)))  # KEEPS
build([])
"""


def test_a_line_is_found_while_job_and_tracker_share_a_cpu(rt):
    """The job stands still whenever the tracker looks at it, so that no page fault is seen at that moment."""
    script = write(rt, "objects.py", OBJECTS)
    cpu = str(min(os.sched_getaffinity(0)))
    result = subprocess.run(["taskset", "-c", cpu, rt.path, "run", "-q", "--no-discovery", "--lines", "auto", "--limit",
                             "mem=400M", "--summary-json", "-", "--", SYSTEM, script],
                            env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    assert json.loads(result.stdout)["lines"]["growth"][0]["line"] == line_of(OBJECTS, "KEEPS")


def test_the_summary_names_the_hottest_line(rt):
    script = write(rt, "hot.py", BURN_PYTHON + "burn(0.8)\n")
    result = rt.track(SYSTEM, script, flags=("--lines", "100", "--interval", "0.1", "--summary-json", "-"))
    hottest = json.loads(result.stdout)["lines"]["hottest"]
    assert hottest["file"] == str(script) and hottest["function"] == "burn"
    assert re.search(r"^Lines +hot\.py:\d+ burn\(\) \d+ % of CPU$", rt.run("show").stdout, re.M)
    assert rt.track("true", flags=("--summary-json", "-")).json()["lines"] is None


@pytest.mark.native  # its lines of src are those of other tests
def test_the_report_has_a_section_of_lines(of_system):
    rt = of_system
    page = rt.run("report", "--output", "-").stdout
    assert '<section id="code"><h2>Where in the code</h2>' in page
    assert "x += i * i" in page
    data = json.loads(re.search(r'id="stacks-data">(.*?)</script>', page, re.S)[1])
    functions = {name: own for name, _, own in data["functions"]}
    assert functions["spin"] == functions["first"] == 1
    assert all(parent < i for i, (parent, *_) in enumerate(data["nodes"]))
    first = Page(rt).rows("Where in the code")[0]
    assert first["Line"].startswith("split.py:") and re.match(r"[1-9]", first["CPU"])
    begin, end = page.index('<section id="code">'), page.index("</section>", page.index('<section id="code">'))
    assert end - begin < 40_000 - 7_000  # the rest is its style and its script


def test_a_run_without_stacks_has_no_section_of_lines(rt):
    assert rt.track("true").rc == 0
    page = rt.run("report", "--output", "-").stdout
    assert "Where in the code" not in page and 'id="stacks"' not in page


def test_source_of_other_kinds_of_files_is_not_shown(rt):
    """A recording may name any file: only Python source is read."""
    script = write(rt, "secret.txt", BURN_PYTHON + "PASSWORD = 'hunter2hunter2'\nburn(0.8)\n")
    os.utime(script, (1, 1))
    samples(rt, script)
    for text in (rt.run("lines").stdout, rt.run("report", "--output", "-").stdout):
        assert "secret.txt:" in text and "process_time() < end" not in text
    script.write_text(f"#!/usr/bin/env python3\n{script.read_text()}")
    os.utime(script, (1, 1))
    samples(rt, script)
    assert "process_time() < end" in rt.run("lines").stdout


def test_export_has_a_line_for_each_stretch_of_time(rt, of_system):
    none, rt = rt, of_system
    rows = list(csv.DictReader(io.StringIO(rt.run("export", "--what", "lines").stdout)))
    assert {"spin", "holds"} <= {r["function"] for r in rows}
    total = lines(rt)["all"]
    assert abs(sum(float(r["cpu_s"]) for r in rows) - total["cpu_s"]) < 0.01
    objects = [json.loads(line) for line in
               rt.run("export", "--what", "lines", "--format", "jsonl").stdout.splitlines()]
    assert len(objects) == len(rows)
    assert sum(o["samples"] for o in objects) == total["samples"]
    assert none.track("true", flags=("--lines", "off")).rc == 0
    none = none.run("export", "--what", "lines")
    assert none.rc == 0 and "has no lines" in none.stderr
