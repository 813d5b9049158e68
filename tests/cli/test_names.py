"""Tests names that users type (jobs, options, files), and the messages about invalid ones."""
import subprocess

import pytest


def test_the_name_of_a_job_stands_for_its_last_run(rt, tmp_path):
    rt.track("true", flags=("-n", "pd"))
    rt.track("false", flags=("-n", "pd"))
    last = rt.run("show", "@", "--json").json()["run"]["id"]
    (tmp_path / "here" / "pd").mkdir(parents=True)  # a folder of that name is no recording
    for verb in ("show", "stats", "export", "report"):
        done = rt.run(verb, "pd", cwd=tmp_path / "here")
        assert done.rc == 0, (verb, done.stderr)
    assert rt.run("show", "pd", "--json").json()["run"]["id"] == last
    assert rt.run("show", "pd@-2", "--json").json()["run"]["id"] != last
    done = rt.run("show", "dp")
    assert done.rc == 4 and done.stderr.endswith("dp: no such run. Try: resource-tracker history\n")


def test_a_run_of_the_machine_is_no_job_without_samples(rt):
    assert rt.run("system", "-q", "--no-discovery", "--duration", "300ms", "-n", "machine").rc == 0
    for verb in ("recommend", "lines"):
        done = rt.run(verb, "machine")
        assert done.rc == 4 and done.stderr.endswith("the run tracked the whole machine, not a job\n"), done.stderr


def test_an_end_without_a_code_has_one_name(rt):
    with subprocess.Popen(["sleep", "0.5"]) as job:
        rt.run("attach", "-q", "--no-discovery", str(job.pid), "-n", "seen")
    assert "ended " in rt.run("show", "seen").stdout.splitlines()[0]
    assert " ended " in rt.run("history", "seen").stdout.splitlines()[1]


@pytest.mark.parametrize("verb", ["show", "stats", "export", "report", "recommend", "lines", "top"])
def test_a_job_that_is_mistyped_is_told_what_was_meant(rt, verb):
    rt.track("true", flags=("-n", "nightly"))
    done = rt.run(verb, "nihgtly")
    assert done.rc == 4
    assert done.stderr == "resource-tracker: nihgtly: no such run. Did you mean: nightly\n"


@pytest.mark.parametrize("args, want", [
    (("run", "--reprot", "--", "true"), "--report"),
    (("show", "--jsno"), "--json"),
    (("export", "--fromat", "csv"), "--format"),
    (("recommend", "--form=slurm"), "--for"),
    (("attach", "--intervall", "1s"), "--interval"),
])
def test_an_unknown_option_is_told_what_it_may_have_been(rt, args, want):
    done = rt.run(*args)
    assert done.rc in (2, 125)
    assert done.stderr.strip().endswith(f"Did you mean: {want}")


def test_an_option_that_is_like_none_is_sent_to_the_help(rt):
    done = rt.run("show", "--zzzzzzzz")
    assert done.rc == 2 and "--help" in done.stderr and "Did you mean" not in done.stderr


@pytest.mark.parametrize("name", ["x.parquet", "x.xlsx", "X.PDF", "x.parquet.gz", "x.html"])
def test_export_writes_no_format_under_the_name_of_another(rt, name):
    rt.track("true")
    done = rt.run("export", "-o", name)
    assert done.rc == 2 and "cannot write the format" in done.stderr
    assert not (rt.home / name).exists()


def test_export_takes_the_format_from_the_name(rt):
    rt.track("true")
    assert rt.run("export", "-o", "x.jsonl").rc == 0
    assert (rt.home / "x.jsonl").read_text().startswith("{")
    assert rt.run("export", "-o", "x.txt").rc == 0
    assert (rt.home / "x.txt").read_text().startswith("timestamp,")
    assert rt.run("export", "-o", "x.json").rc == 2
    assert rt.run("export", "-o", "x.json", "--format", "snapshot").rc == 0
    assert rt.run("export", "-o", "x.csv", "--format", "jsonl").rc == 2


def test_a_page_of_an_unknown_format_is_told_before_the_job(rt, tmp_path):
    ran = tmp_path / "ran"
    done = rt.run("run", "--no-discovery", "--report=x.pdf", "--", "touch", ran)
    assert done.rc == 125 and not ran.exists()
    # A place that cannot be written to costs the job nothing.
    for option, name in (("report", "x.html"), ("summary-json", "x.json")):
        place = tmp_path / "none" / name
        done = rt.run("run", "-q", "--no-discovery", f"--{option}={place}", "--", "sh", "-c",
                      "echo the job >&2")
        assert done.rc == 0
        assert done.stderr.index(f"--{option} {place}: cannot be written so far") < done.stderr.index(
            "the job")
    rt.track("true")
    assert rt.run("report", "-o", "x.pdf").rc == 2
    assert rt.run("report", "-o", "x.md").rc == 0
    assert (rt.home / "x.md").read_text().startswith("#")


def test_the_help_of_run_is_in_groups(rt):
    text = rt.run("help", "all", "run").stdout
    heads = ["common options:", "limits and requests:", "stored with the run:", "advanced:"]
    assert [text.index(head) for head in heads] == sorted(text.index(head) for head in heads)
    # Each option once.
    names = [line.split("--")[1].split()[0].split("[")[0] for line in text.splitlines()
             if line.startswith("  ") and "--" in line[:10]]
    assert len(names) == len(set(names)) > 30
    attached = rt.run("attach", "--help").stdout
    assert [attached.index(head) for head in heads] == sorted(attached.index(head) for head in heads)
    assert "\noptions:\n" not in attached and "\noptions:\n" in rt.run("show", "--help").stdout


@pytest.mark.parametrize("kind, lines", [
    ("pbs", ["#PBS -l select=1:ncpus=", "#PBS -l walltime="]),
    ("lsf", ["#BSUB -n ", "#BSUB -M ", "#BSUB -W "]),
    ("sge", ["#$ -l h_vmem=", "#$ -l h_rt="]),
])
def test_lines_for_older_batch_systems(rt, kind, lines):
    rt.track("sleep", "0.5")
    text = rt.run("recommend", "--for", kind).stdout
    for line in lines:
        assert line in text
