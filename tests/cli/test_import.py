"""Tests the import of runs that other tools have recorded, and snapshots for the Python package."""

import contextlib
import gzip
import json
import os
import pathlib
import pty
import random
import re
import shutil
import subprocess
import time

import pytest

from report_page import Page

FILES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/import"


def imported(rt, *files, flags=()):
    result = rt.run("import", *flags, *(FILES / f for f in files))
    assert result.rc == 0, result.stderr
    return result.stdout


def show(rt, reference):
    result = rt.run("show", "--json", reference)
    assert result.rc == 0, result.stderr
    return result.json()


@pytest.mark.parametrize("file, job", [
    ("snapshot-0.4.json", "snapshot-0.4"), ("snapshot-0.5.json", "snapshot-0.5"),
    ("combined-0.4.csv", "combined-0.4"), ("combined-0.5.csv", "combined-0.5"),
    ("process-0.4.csv", "process-0.4"), ("process-0.5.csv", "process-0.5")])
def test_samples_of_the_python_package_keep_their_figures(rt, file, job):
    assert "1 run added" in imported(rt, file)
    summary = show(rt, f"{job}@")
    memory = summary["stats"]["process_memory_mib"]
    assert memory["max"] == pytest.approx(129.75 if "0.4" in file else 133.82, abs=0.01)
    assert summary["stats"]["process_cpu_usage"]["mean"] == pytest.approx(1.01, abs=0.01)
    assert summary["run"]["duration_s"] == pytest.approx(2.5, abs=0.1)
    peak = summary["totals"]["peak_memory_mib"]
    assert peak["quality"] == "at_least" and peak["reason"] == "largest sample"
    assert summary["totals"]["cpu_s"]["value"] == pytest.approx(2.52, abs=0.02)
    if "process" not in file:
        assert summary["stats"]["system_memory_used_mib"]["max"] == pytest.approx(
            230.4 if "0.4" in file else 537.2, abs=0.1)
        # 0.4 counts in 2^30 bytes and holds the reserve for root to be used; the total is one.
        assert summary["stats"]["system_disk_space_total_gb"]["max"] == pytest.approx(270.55,
                                                                                      abs=0.01)
    if "snapshot" in file:
        assert summary["stats"]["process_gpu_usage"]["max"] is None  # there was none
        assert summary["limits"]["cpu"]["value"] == 2


JOB = "import time\nx = bytearray(60 << 20)\nend = time.process_time() + 0.8\n" \
      "while time.process_time() < end: pass\n"


def rows_of(rt, reference, columns):
    """The rows of a run by `export`, as dicts; stamps that follow from the time in ms are rounded to it."""
    lines = rt.run("export", "--format", "jsonl", "--columns", columns, reference).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row.update({key: round(row[key], 2) for key in ("elapsed_s", "interval_s") if key in row})
    return rows


@pytest.mark.parametrize("columns", ["full", "0.5", "0.4"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "jsonl.gz"])
def test_what_export_writes_comes_back(rt, form, columns):
    first = rt.track("/usr/bin/python3", "-c", JOB, flags=["-i", "0.2", "-n", "burn"])
    file = rt.home / f"rows.{form}"
    done = rt.run("export", "-f", form.removesuffix(".gz"), "--columns", columns, "-o", file, "@")
    assert done.rc == 0, done.stderr
    assert f"1 run added ({form.removesuffix('.gz')})" in rt.run("import", file).stdout
    assert "0 runs added, 1 there already" in rt.run("import", file).stdout
    again = show(rt, "rows@")
    assert again["run"]["pid"] == first.summary["run"]["pid"]
    before, after = rows_of(rt, "burn@", columns), rows_of(rt, "rows@", columns)
    assert len(before) == len(after) >= 4
    for old, new in zip(before, after):
        # 0.4 has memory in whole KiB, and space in hundredths of a GiB.
        assert new == {key: pytest.approx(value, abs=0.02) for key, value in old.items()}
    assert again["totals"]["cpu_s"]["value"] == pytest.approx(
        sum(row.get("process_utime", row.get("utime")) + row.get("process_stime", row.get("stime"))
            for row in before), abs=1e-3)


def test_lines_of_export_with_damage_between_them(rt):
    rt.track("sleep", "0.5", flags=["-i", "0.1", "-n", "nap"])
    lines = rt.run("export", "-f", "jsonl", "nap@").stdout.splitlines()
    file = rt.home / "damaged.jsonl"
    file.write_text("\n".join([*lines[:2], "{", '{"timestamp": "x"}', '{"timestamp": null}', "[]",
                               '{"timestamp": 1e300, "process_memory_mib": 1e300}', *lines[2:]]))
    result = rt.run("import", file)
    assert result.rc == 0 and "1 run added" in result.stdout and "4 " in result.stdout + result.stderr
    assert len(rows_of(rt, "damaged@", "full")) == len(lines)
    other = rt.home / "other.jsonl"
    other.write_text('{"timestamp": 1700000000, "level": "info"}\n' * 3)
    refused = rt.run("import", other)
    assert refused.rc == 4 and refused.stderr.count("\n") == 1 and "no run in it" in refused.stderr


def test_a_password_in_a_command_line_is_masked(rt, tmp_path):
    text = (FILES / "gnu-time.txt").read_text()
    file = tmp_path / "time.txt"
    file.write_text(text.replace("sort -u /etc/services", "mysql -phunter2 --db-pass hunter2 https://a:hunter2@b/"))
    imported(rt, file)
    assert "mysql -p[SECRET] --db-pass [SECRET] [SECRET]" in rt.run("show", "--json", "mysql@").stdout
    assert not any(b"hunter2" in p.read_bytes() for p in rt.state.rglob("*") if p.is_file())


def test_the_system_table_alone_has_no_process(rt):
    imported(rt, "system-0.5.csv")
    summary = show(rt, "@")
    assert summary["stats"]["system_cpu_usage"]["mean"] > 1
    assert summary["stats"]["process_cpu_usage"]["mean"] is None
    assert summary["totals"]["peak_memory_mib"]["value"] is None


@pytest.mark.parametrize("form", ["json", "csv"])
def test_what_the_siblings_formats_say_comes_back(rt, tmp_path, form):
    out = tmp_path / f"samples.{form}"
    code = "import time\nx = bytearray(60 << 20)\nend = time.process_time() + 0.8\n" \
           "while time.process_time() < end: pass\n"
    first = rt.track("/usr/bin/python3", "-c", code,
                     flags=["-i", "0.2", "--format", form, "-o", out, "-n", "burn"])
    assert first.rc == 0
    assert rt.run("import", "--job", "again", out).rc == 0
    summary = show(rt, "again@")
    assert summary["totals"]["cpu_s"]["value"] == pytest.approx(
        first.summary["totals"]["cpu_s"]["value"], abs=0.25)
    assert summary["totals"]["peak_memory_mib"]["value"] == pytest.approx(
        first.summary["stats"]["process_memory_mib"]["max"], abs=1.1)


def test_stolen_time_of_the_siblings_formats_is_kept(rt, tmp_path):
    samples = {form: tmp_path / f"samples.{form}" for form in ("json", "csv")}
    for form, out in samples.items():
        rt.run("run", "-q", "-i", "1", "-f", form, "-o", out, "--", "sleep", "0.9")
    lines = [json.loads(line) for line in samples["json"].read_text().splitlines()]
    for line in lines:
        line["cpu"]["steal_time_secs"] = 0.125
    samples["json"].write_text("".join(json.dumps(line) + "\n" for line in lines))
    head, *rows = samples["csv"].read_text().splitlines()
    assert head.endswith(",system_steal_time")
    samples["csv"].write_text("\n".join([head, *(row.rsplit(",", 1)[0] + ",0.125" for row in rows)]) + "\n")
    for form, count in (("json", len(lines)), ("csv", len(rows))):
        assert rt.run("import", "--job", form, samples[form]).rc == 0
        steal = show(rt, f"{form}@")["stats"]["system_steal"]
        assert steal["sum"] == pytest.approx(0.125 * count), form
        again = rt.run("export", "--columns", "0.5", f"{form}@").stdout.splitlines()
        assert [row.rsplit(",", 1)[1] for row in again[1:]] == ["0.125"] * count
    # Recordings of before, and files of 32 columns, still come in.
    cut = tmp_path / "old.csv"
    cut.write_text("".join(row.rsplit(",", 1)[0] + "\n" for row in (head, *rows)))
    assert rt.run("import", "--job", "old", cut).rc == 0
    assert show(rt, "old@")["stats"]["system_steal"]["sum"] is None


def test_gnu_time_tells_exit_and_peak(rt):
    assert "3 runs added" in imported(rt, "gnu-time.txt")
    python = show(rt, "python3@")
    assert python["totals"]["peak_memory_mib"]["value"] == pytest.approx(218204 / 1024)
    assert python["totals"]["cpu_s"]["value"] == pytest.approx(0.43)
    assert python["run"]["duration_s"] == pytest.approx(0.44)
    assert python["run"]["command"] == ["python3 -c x=bytearray(200<<20)"]
    assert python["run"]["exit"]["code"] == 0
    killed = show(rt, "sh@")["run"]["exit"]
    assert killed["signal"] == 9 and killed["verdict"] == "signalled"
    assert show(rt, "sort@")["run"]["exit"]["signal"] is None


def test_a_real_gnu_time(rt, tmp_path):
    time = shutil.which("time")
    assert time, "GNU time is not installed"
    out = tmp_path / "time.txt"
    subprocess.run([time, "-v", "-o", out, "/usr/bin/python3", "-c", "x = bytearray(80 << 20)"],
                   check=True, env={"LC_ALL": "C"})
    assert rt.run("import", out).rc == 0
    assert 80 < show(rt, "python3@")["totals"]["peak_memory_mib"]["value"] < 110


def test_snakemake_benchmarks_are_runs_of_their_rule(rt):
    imported(rt, "snakemake.tsv", "snakemake-9.tsv")
    align = show(rt, "align@")
    assert align["totals"]["cpu_s"]["value"] == pytest.approx(59.7)
    assert align["totals"]["peak_memory_mib"]["value"] is None  # "-"
    assert align["request"]["cpu"]["value"] == 4
    history = rt.run("history", "--json", "snakemake").json()["runs"]
    peaks = sorted(r["peak_memory_mib"] for r in history if r["peak_memory_mib"] is not None)
    assert peaks == [1385.7, 1391.02]


def test_nextflow_traces_in_words_and_raw(rt):
    assert "2 runs added, 2 rows skipped" in imported(rt, "nextflow.txt")
    imported(rt, "nextflow-raw.txt")
    good = show(rt, "ALIGN:BWA@2")
    assert good["run"]["duration_s"] == 121 and good["run"]["exit"]["code"] == 0
    assert good["totals"]["peak_memory_mib"]["value"] == pytest.approx(5.2 * 1024)
    assert good["totals"]["cpu_s"]["value"] == pytest.approx(3.714 * 121)
    assert good["run"]["start_time"] == 1772359201.25
    bad = show(rt, "ALIGN:BWA@")
    assert bad["run"]["exit"]["code"] == 137
    raw = show(rt, "BWA@")
    assert raw["run"]["start_time"] == 1772359201.25 and raw["run"]["duration_s"] == 121
    assert raw["totals"]["peak_memory_mib"]["value"] == pytest.approx(5583457484 / 2**20)
    assert raw["request"]["memory_mib"]["value"] == 8192 and raw["request"]["cpu"]["value"] == 4


def test_sacct_gathers_the_steps_of_a_job(rt):
    assert "3 runs added, 1 row skipped" in imported(rt, "sacct.txt")
    killed, done = show(rt, "train@"), show(rt, "train@2")
    assert done["totals"]["peak_memory_mib"]["value"] == 9437184 / 1024
    assert done["totals"]["cpu_s"]["value"] == pytest.approx(4 * 3600 + 62.5)
    assert done["run"]["duration_s"] == 3723 and done["run"]["tags"]["slurm_job_id"] == "101"
    assert killed["run"]["exit"]["verdict"] == "out_of_memory"
    prep = show(rt, "prep@")
    assert prep["run"]["exit"]["verdict"] == "timeout"
    assert prep["request"]["memory_mib"]["value"] == 8000  # 4000 a core
    advice = rt.run("recommend", "--json", "train").json()["advice"]
    assert advice["memory"]["request_mib"] > 16384  # a run was killed at 16 GiB


def test_autometric_logs_give_a_run_a_process_and_phases(rt):
    assert "2 runs added, 1 row skipped" in imported(rt, "autometric.log")
    fit = show(rt, "fit@")
    assert fit["run"]["pid"] == 771 and [m["name"] for m in fit["marks"]] == ["model"]
    assert fit["totals"]["peak_memory_mib"]["value"] == pytest.approx(309715200 / 2**20, abs=0.01)
    assert fit["stats"]["process_cpu_usage"]["max"] == 1


def test_the_same_file_twice_adds_nothing(rt):
    files = sorted(f.name for f in FILES.iterdir())
    imported(rt, *files)
    before = rt.run("history").stdout
    assert len(before.splitlines()) > 15
    again = imported(rt, *files)
    assert not re.search(r"[1-9]\d* runs? added", again)
    assert rt.run("history").stdout == before


def test_advice_stands_on_imported_runs(rt, tmp_path):
    rows = ["\t".join(["s", "h:m:s", "max_rss", "max_vms", "max_uss", "max_pss", "io_in", "io_out",
                       "mean_load", "cpu_time"])]
    rows += [f"{60 + i}.0\t0:01:00\t{1000 + 10 * i}\t0\t0\t{990 + 10 * i}\t0\t0\t100\t60"
             for i in range(12)]
    table = tmp_path / "fold.tsv"
    table.write_text("\n".join(rows) + "\n")
    assert rt.run("import", table).rc == 0
    advice = rt.run("recommend", "--json", "fold").json()["advice"]
    assert 1100 <= advice["memory"]["request_mib"] <= 1536 and advice["runs"] == 12


def test_advice_follows_the_size_of_the_input(rt):
    """A job that needs ten times its input."""
    sizes = [100 + 20 * i for i in range(40)]
    random.Random(1).shuffle(sizes)  # of a ramp the moving average would know the next
    rows = ["s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\t"
            "rule_name\tinput_size_mb"]
    for i, mb in enumerate(sizes):
        rows.append(f"{600 + i}\t0:10:00\t0\t0\t0\t{10 * mb}\t0\t0\t100\t600\ttenfold\t"
                    f"{{'a.fq': {mb - 50.0}, 'b.fq': 50.0}}")
    (rt.home / "t.tsv").write_text("\n".join(rows) + "\n")
    assert rt.run("import", "t.tsv").rc == 0

    def request(*flags):
        return rt.run("recommend", "--json", "tenfold", *flags).json()["advice"]["memory"]
    small, large = request("--input-size", "120MiB"), request("--input-size", "3GiB")
    assert 1200 <= small["request_mib"] < 2500 and large["request_mib"] > 25000
    assert 8900 <= request()["request_mib"] < 12000


def test_sacct_keeps_jobs_that_have_ended_alone(rt):
    head = "JobID|JobName|State|ExitCode|Elapsed|TotalCPU|MaxRSS|ReqMem|AllocCPUS|Start\n"
    states = ["RUNNING", "SUSPENDED", "COMPLETING", "REQUEUED", "DEADLINE", "BOOT_FAIL", "COMPLETED"]
    rows = [f"{7 + i}|{state.lower()}|{state}|0:0|00:10:00|00:05:00|1G|4G|2|2026-02-0{1 + i}T08:00:00\n"
            for i, state in enumerate(states)]
    (rt.home / "states.txt").write_text(head + "".join(rows))
    assert "3 runs added, 4 rows skipped (sacct)" in rt.run("import", "states.txt").stdout
    ends = {run["job"]: run["verdict"] for run in rt.run("history", "--json").json()["runs"]}
    assert ends == {"deadline": "timeout", "boot_fail": "stopped", "completed": "exited"}
    text = rt.run("show", "completed").stdout
    assert "totals alone" in text and "too short" not in text
    lines = rt.run("lines", "completed")
    assert lines.rc == 4 and lines.stderr.endswith("no stacks: another tool recorded the run\n")
    page = rt.run("report", "completed", "--format", "md", "-o", "-").stdout
    assert "What else the machine did is not known" in page and "Other processes did more" not in page


@pytest.mark.parametrize("content, words", [
    (b"hello\n", "not a file that can be imported. Formats: snapshot, csv"),
    (b"", "not a file that can be imported"),
    (b'{"process_metrics": [{"timestamp": 1', "a comma or } is missing (line 1, column 37)"),
    (b'{"process_metrics": [], "system_metrics": []}', "no run in it"),
    (b'timestamp,"cpu_usage\n1,2\n', "no timestamp, or no column that is known"),
    (b'timestamp,cpu_usage\n1772359201,1\n1772359202,"2\n', "a quote that is not closed"),
    (gzip.compress(b"x" * 100000, mtime=0)[:-20], "damaged gzip file"),
    (b"\0\1\2\3", "not a file that can be imported"),
    (b"JobID|Elapsed\n1|00:00:01\0\n", "not a file that can be imported"),
])
def test_what_cannot_be_read_is_told_in_one_line(rt, content, words):
    (rt.home / "wrong.bin").write_bytes(content)
    result = rt.run("import", "wrong.bin")
    assert result.rc in (1, 4)
    assert result.stderr.startswith("resource-tracker: wrong.bin") and words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_name_does_not_hide_the_formats(rt):
    (rt.home / "Try: this.txt").write_text("hello\n")
    assert "Formats: snapshot" in rt.run("import", "Try: this.txt").stderr


@pytest.fixture(scope="module")
def bomb():
    """A text of 520 MiB in 1 MB. Members of a gzip file follow one another."""
    return gzip.compress(b"JobID|Elapsed\n" * 80000, mtime=0) * 487


@pytest.mark.native  # address space
@pytest.mark.parametrize("kind, words", [
    ("sparse", "File too large"), ("holes", "not a file that can be imported"),
    ("bomb", "File too large"), ("device", "not a file that can be imported")])
def test_a_file_that_is_refused_takes_no_memory(rt, bomb, kind, words):
    path = rt.home / "large"
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes(bomb if kind == "bomb" else b"")
    if kind in ("sparse", "holes"):
        os.truncate(path, (10 << 30) if kind == "sparse" else (400 << 20))
    done = subprocess.run(["sh", "-c", 'ulimit -v 65536; exec "$0" import large', rt.path], env=rt.env, cwd=rt.home,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and words in done.stderr


def test_a_pipe_is_read_to_its_end(rt):
    assert rt.run("import", "/dev/stdin", stdin=(FILES / "sacct.txt").read_text()).rc == 0
    assert rt.run("import", "/dev/stdin", stdin="").rc == 1


def test_wrong_usage_of_import(rt):
    assert rt.run("import").rc == 2
    assert rt.run("import", "--from", "excel", "x").rc == 2
    missing = rt.run("import", "missing.csv")
    assert missing.rc == 4 and "missing.csv: No such file" in missing.stderr
    assert rt.run("import", ".").rc == 1


def test_a_cut_file_keeps_the_runs_before_the_cut(rt):
    text = (FILES / "sacct.txt").read_text()
    (rt.home / "cut.txt").write_text(text[:text.index("102.batch") + 15])
    assert rt.run("import", "cut.txt").rc == 0
    assert show(rt, "train@2")["run"]["duration_s"] == 3723


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_a_snapshot_comes_back_as_it_was(rt, version):
    first = rt.track("/usr/bin/python3", "-c", "import time; x = bytearray(50 << 20)\n"
                     "end = time.process_time() + 1\nwhile time.process_time() < end: pass",
                     flags=["-i", "0.2", "-n", "one"])
    path = rt.home / "shot.json.gz"
    assert rt.run("export", "--format", "snapshot", "--columns", version, "-o", path).rc == 0
    document = json.loads(gzip.decompress(path.read_bytes()))
    assert document["metadata"]["interval"] == 0.2 and document["metadata"]["version"] == 1
    row = document["process_metrics"][0]
    assert ("memory" in row) == (version == "0.4") and ("memory_mib" in row) == (version == "0.5")
    assert all(r[key] is not None for r in document["process_metrics"] for key in r)
    assert rt.run("import", path).rc == 0
    again = show(rt, "shot@")["stats"]
    assert again["process_memory_mib"]["max"] == pytest.approx(
        first.summary["stats"]["process_memory_mib"]["max"], rel=0.02)
    # Of the machine, which others use too, a snapshot lacks what was before the first rate.
    key, mib = ("memory_used", 1 / 1024) if version == "0.4" else ("memory_used_mib", 1)
    assert again["system_memory_used_mib"]["max"] == pytest.approx(
        max(r[key] for r in document["system_metrics"]) * mib, rel=0.001)
    plain = rt.run("export", "--format", "snapshot", "one@")
    assert json.loads(plain.stdout)["system_metrics"]


def test_a_password_of_a_snapshot_is_masked(rt, tmp_path):
    document = json.loads((FILES / "snapshot-0.5.json").read_text())
    document["top_processes"] = [{"name": "x", "pid": 7, "command": "x --password hunter2 --n 3"}]
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert rt.run("import", tmp_path / "x.json").rc == 0
    assert "x --password [SECRET] --n 3" in rt.run("show", "--json", "@").stdout
    assert not any(b"hunter2" in p.read_bytes() for p in rt.state.rglob("*") if p.is_file())


def test_a_snapshot_by_columns_has_the_figures_of_one_by_rows(rt, tmp_path):
    """Also those of columns that only the full set has, which the rows name in full."""
    document = json.loads((FILES / "snapshot-0.5.json").read_text())
    for at, row in enumerate(document["process_metrics"]):
        row.update({"process_rss_mib": 20.5 + at, "process_on_cpu": 0.25})
    by_rows = json.dumps(document)
    for table in ("process_metrics", "system_metrics"):
        rows = document[table]
        document[table] = {key: [row[key] for row in rows] for key in rows[0]}
    exported = []
    for name, text in (("rows", by_rows), ("columns", json.dumps(document))):
        (tmp_path / f"{name}.json").write_text(text)
        assert rt.run("import", tmp_path / f"{name}.json").rc == 0
        exported.append(rows_of(rt, f"{name}@", "full"))
    assert exported[0] == exported[1]
    assert [row["process_rss_mib"] for row in exported[0]][:2] == [20.5, 21.5]
    assert exported[0][0]["process_on_cpu"] == 0.25


def test_a_snapshot_tells_how_the_job_ended_and_where(rt):
    document = json.loads((FILES / "snapshot-0.5.json").read_text())
    start = document["metadata"]["start_time"]
    document["metadata"].update(exit_code=3, run_status="failed", job="nightly")
    document["totals"] = {
        "cpu_s": {"value": 7.5, "quality": "exact", "source": "ledger", "reason": None},
        "peak_memory_mib": {"value": 900.0, "quality": "at_least", "source": "VmHWM", "reason": "x"},
        "disk_read_bytes": {"value": None, "quality": "unknown", "source": "", "reason": "y"},
        "major_faults": {"value": -5, "quality": "exact", "source": "z", "reason": None}}
    document["top_processes"] = [
        {"pid": 7, "name": "sort", "cpu_s": 5.0, "peak_memory_mib": 800.0, "disk_read_bytes": 1,
         "disk_write_bytes": 2}, {"pid": 0}, {"pid": 2**40}, 5, None]
    document["server_info"] = {"os": "Linux", "vcpus": 4, "memory_mib": 8000.5,
                               "gpu_count": 2,
                               "details": {"cpu_model": "A B", "gpu_names": ["X", "Y"]}}
    document["cloud_info"] = {"vendor": "hcloud", "instance_type": "cx22", "region": "unknown"}
    document["phases"] = [{"name": "load", "start": start + 0.5, "end": start + 1.5}, {"name": ""}]
    (rt.home / "s.json").write_text(json.dumps(document))
    assert rt.run("import", "s.json").rc == 0
    told = show(rt, "nightly@")
    assert told["run"]["exit"]["code"] == 3
    totals = told["totals"]
    assert totals["cpu_s"] == document["totals"]["cpu_s"]
    assert totals["peak_memory_mib"]["value"] == 900 and totals["peak_memory_mib"]["reason"] == "x"
    assert totals["disk_read_bytes"]["source"] == "resource-tracker snapshot"  # as the samples tell
    assert totals["major_faults"]["value"] is None
    assert [(p["pid"], p["name"], p["cpu_s"]) for p in told["top_processes"]] == [(7, "sort", 5)]
    assert told["server"]["cpu_model"] == "A B" and told["server"]["gpu_names"] == ["X", "Y"]
    assert (told["cloud"]["vendor"], told["cloud"]["region"]) == ("hetzner", None)
    report = Page(rt, "nightly@")
    assert report.state == "✗ exit 3"
    assert "hetzner" in report.markdown and "- Phases: " in report.markdown
    assert rt.run("export", "--format", "snapshot", "nightly@").json()["metadata"]["exit_code"] == 3


@pytest.mark.parametrize("code, status, want", [
    (0, "finished", "✓ exit 0"), (None, None, "■ ended (exit code not known)"),
    (0, "failed", "✗ failed"), (None, "failed", "✗ failed"), (-9, "failed", "✗ exit 255"),
    ("x", 5, "■ ended (exit code not known)")])
def test_a_snapshot_that_failed_has_failed(rt, code, status, want):
    document = json.loads((FILES / "snapshot-0.4.json").read_text())
    document["metadata"].update(exit_code=code, run_status=status)
    (rt.home / "s.json").write_text(json.dumps(document))
    assert rt.run("import", "s.json").rc == 0
    assert Page(rt).state == want


def test_a_snapshot_on_a_full_disk_is_told(rt):
    assert rt.track("sleep", "0.3").rc == 0
    full = rt.run("export", "--format", "snapshot", "-o", "/dev/full")
    assert full.rc == 1 and "/dev/full" in full.stderr


def test_figures_that_cannot_be_right_are_not_known(rt):
    (rt.home / "s.txt").write_text(
        "JobID|JobName|State|ExitCode|Elapsed|TotalCPU|MaxRSS\n"
        "1|huge|COMPLETED|0:0|00:00:10|00:00:05|99999999999999999999K\n"
        "2|good|COMPLETED|0:0|00:00:10|00:00:05|1024K\n")
    assert rt.run("import", rt.home / "s.txt").rc == 0
    peaks = {run["job"]: run["peak_memory_mib"]
             for run in rt.run("history", "--json").json()["runs"]}
    assert peaks == {"huge": None, "good": 1}
    total = rt.run("show", "--json", "huge@").json()["totals"]["peak_memory_mib"]
    assert total["quality"] == "unknown" and "cannot be right" in total["reason"]


def table_of(path, rows):
    with open(path, "w", encoding="ascii") as file:
        file.write('"timestamp","pid","children","utime","stime","cpu_usage","memory"\n')
        for i in range(rows):
            file.write(f"{1795000000 + i}.123,4711,{i % 7},{i % 2}.25,0.5,0.75,{i % 5000}.5\n")


@pytest.mark.native  # strace, under which the leak sanitizer does not work
def test_rows_are_written_in_batches(rt):
    """A call for each row took more time than all the rest."""
    rows = 40_000
    table_of(rt.home / "long.csv", rows)
    done = rt.run("-f", "-c", "-e", "trace=write,pwrite64", "-o", rt.home / "calls", rt.path, "import",
                  rt.home / "long.csv", program="/usr/bin/strace")
    assert done.rc == 0 and "1 run added" in done.stdout
    calls = sum(int(line.split()[3]) for line in (rt.home / "calls").read_text().splitlines()
                if line.endswith("write"))
    assert 1 <= calls <= rows / 100
    shown = rt.run("show", "--json", "long@").json()
    assert shown["tracker"]["samples"] == rows
    assert shown["totals"]["cpu_s"]["value"] == pytest.approx(rows * 1.25, rel=0.001)


def test_a_full_disk_in_the_middle_leaves_no_half_import(rt):
    table_of(rt.home / "long.csv", 40_000)
    rt.state.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", rt.state], check=True)
    try:
        done = rt.run("import", rt.home / "long.csv")
        left = [path for path in (rt.state / "runs").rglob("*") if path.is_file()]
    finally:
        subprocess.run(["umount", rt.state], check=True)
    assert done.rc == 1 and "No space left on device" in done.stderr and "added" not in done.stdout
    assert left == []


def test_a_slow_export_shows_its_progress_on_a_terminal(rt):
    head, row = (FILES / "combined-0.5.csv").read_text().splitlines()[:2]
    rest = row.split(",", 1)[1]
    (rt.home / "long.csv").write_text("\n".join(
        [head, *(f"{1795360721 + i},{rest}" for i in range(6000)), ""]))
    assert rt.run("import", "--from", "csv", "long.csv").rc == 0
    ours, theirs = pty.openpty()
    with subprocess.Popen([rt.path, "export", "--format", "jsonl", "@"], env={**rt.env, "TERM": "xterm"},
                          cwd=rt.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=theirs) as process:
        os.close(theirs)
        time.sleep(1.2)  # nothing is shown within the first second; the pipe is full meanwhile
        size = len(process.stdout.read())
    text = ""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while data := os.read(ours, 4096):
            text += data.decode()
    os.close(ours)
    assert process.returncode == 0 and size > 200000
    assert re.match(r"\rstdout  +0\.\d MB", text) and text.endswith("\r\x1b[K")  # shown, and cleared
    assert "\r" not in rt.run("export", "--format", "jsonl", "@").stderr
