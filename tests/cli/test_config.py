"""Configuration files, environment, `config`, `doctor`, completions, the manual page, shells."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write(folder, text, name="resource-tracker.toml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_flags_beat_environment_beats_local_file_beats_user_file(rt):
    write(rt.home / "xdg-config", 'interval = "1s"\njob = "user"\nteam = "user"\nnote = "user"\n',
          "resource-tracker/config.toml")
    write(rt.home, '[job]\nname = "local"\nteam = "local"\n[tracker]\ninterval_secs = 2\n')
    run = rt.track("true", flags=["--job", "flag"], env={"TRACKER_TEAM": "environment"}).summary["run"]
    assert run["job"] == "flag"
    assert run["interval_s"] == 2
    assert run["tags"] == {"note": "user", "team": "environment"}


def test_config_says_where_each_value_comes_from(rt):
    write(rt.home, '# nothing here\n\ninterval = "500ms"\nquiet = true\n'
                   'tags = ["a=1",\n  "b=2"]\n[tags]\nc = "3 \\"x\\""\n')
    shown = rt.run("config", "--show-origin",
                   env={"TRACKER_INTERVAL": "3", "TRACKER_NO_DISCOVERY": None})
    assert shown.rc == 0
    assert shown.stdout.splitlines() == [
        "quiet = true  # resource-tracker.toml:4",
        'tag = "a=1"  # resource-tracker.toml:5',
        'tag = "b=2"  # resource-tracker.toml:5',
        'tag = "c=3 \\"x\\""  # resource-tracker.toml:8',
        'interval = "3"  # TRACKER_INTERVAL',
    ]
    assert "#" not in rt.run("config").stdout
    assert "every option has its default" in rt.run(
        "config", cwd="/", env={"TRACKER_NO_DISCOVERY": None}).stdout


@pytest.mark.parametrize(("text", "complaint"), [
    ('\ninterval = "12x"\n', "resource-tracker.toml:2: --interval 12x: not a duration"),
    ('intervall = "1s"\n', "resource-tracker.toml:1: unknown key intervall"),
    ('quiet = "yes"\n', "resource-tracker.toml:1: quiet: true or false is expected"),
    ("interval =\n", "resource-tracker.toml:1:11: a value is expected here"),
    ('a b = 1\n', "resource-tracker.toml:1:3: = is expected here"),
    ('job = "x\n', "resource-tracker.toml:1:9: text does not end on its line"),
    ("[job\n", "resource-tracker.toml:1:5: ] is expected here"),
    ('tags = ["a=b"\n', "resource-tracker.toml:2:1: , or ] is expected here"),
    ('job = "x" "y"\n', "resource-tracker.toml:1:11: the end of the line is expected here"),
    ('job = "\\q"\n', "resource-tracker.toml:1:9: only"),
])
def test_a_mistake_in_a_file_is_told_with_its_place_before_the_job_starts(rt, text, complaint):
    write(rt.home, text)
    result = rt.track("touch", "started")
    assert result.rc == 125
    assert result.stderr.startswith(f"resource-tracker: {complaint}")
    assert result.stderr.count("\n") == 1
    assert not (rt.home / "started").exists()


def test_an_explicit_file_must_be_there_and_stands_alone(rt):
    write(rt.home, 'job = "local"\n')
    own = write(rt.home, 'team = "own"\n', "own.toml")
    run = rt.track("true", flags=["--config", own]).summary["run"]
    assert run["job"] == "true" and run["tags"] == {"team": "own"}
    missing = rt.track("true", flags=["--config=nowhere.toml"])
    assert missing.rc == 125 and "nowhere.toml: cannot read" in missing.stderr
    missing = rt.track("true", env={"RESOURCE_TRACKER_CONFIG": "nowhere.toml"})
    assert missing.rc == 125 and "nowhere.toml: cannot read" in missing.stderr
    # The job's own --config is the job's.
    assert rt.track("echo", "--config", "nowhere.toml").stdout == "--config nowhere.toml\n"


def test_a_wrong_variable_is_named(rt):
    result = rt.track("true", flags=["-q"], env={"TRACKER_TIMEOUT": "soon"})
    assert result.rc == 0 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("resource-tracker: TRACKER_TIMEOUT: --timeout soon:")
    assert rt.track("true", env={"TRACKER_QUIET": "no"}).stderr != ""
    assert "TRACKER_QUIET: quiet: true or false" in rt.track("true", env={"TRACKER_QUIET": "maybe"}).stderr


def test_doctor_names_a_source_for_everything_and_a_way_out_for_what_lacks(rt):
    checks = rt.run("doctor", "--json").json()["checks"]
    assert len(checks) == 15
    for check in checks:
        assert check["available"] in ("yes", "partly", "no") and check["source"]
        assert (check["hint"] is None) == (check["available"] == "yes"), check
    by_name = {check["what"]: check for check in checks}
    assert by_name["CPU time of processes"]["available"] == "yes"
    text = rt.run("doctor").stdout
    assert all(check["what"] in text for check in checks)
    blocked = rt.run("doctor", "--json", "--recording", "/proc/nowhere").json()["checks"]
    assert [c["available"] for c in blocked if c["what"] == "recordings"] == ["no"]


def test_doctor_sees_a_lack_of_descriptors(rt):
    script = f"ulimit -n 100; exec {rt.path} doctor --json"
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                         env=rt.env).stdout
    assert '"limit of 100 descriptors"' in out and "12 processes" in out


def test_completions_of_bash_complete_verbs_and_options(rt):
    script = rt.run("completions", "bash").stdout

    def complete(*words):
        text = script + f"\nCOMP_WORDS=(resource-tracker {' '.join(words)}); " \
                        f"COMP_CWORD={len(words)}; _resource_tracker; echo \"${{COMPREPLY[@]}}\""
        return subprocess.run(["bash", "-c", text], capture_output=True, text=True,
                              check=True).stdout.split()

    assert complete("at") == ["attach"]
    assert "--interval" in complete("run", "--int")
    assert complete("run", "--control") == []  # not for people
    assert rt.run("completions", "tcsh").rc == 2


def test_every_verb_and_option_stands_in_every_page(rt):
    pages = [rt.run("completions", "zsh").stdout, rt.run("completions", "fish").stdout,
             rt.run("help", "man").stdout.replace("\\-", "-")]
    verbs = [line.split()[0] for line in rt.run("help").stdout.splitlines()
             if line.startswith("  ") and not line.startswith("   ")]
    assert {"run", "show", "doctor", "mark"} <= set(verbs)
    for page in pages:
        for verb in verbs:
            assert verb in page
        for option in ("interval", "summary-json", "limit", "show-origin"):
            assert option in page
        assert "control-fd" not in page


def test_the_manual_page_is_clean_roff(rt):
    page = rt.run("help", "man").stdout
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == ""


def test_a_nested_run_is_a_phase_of_the_outer_one(rt):
    script = f"{rt.path} run --job inner -- sh -c 'exit 3'; echo rc $?; {rt.path} run -- nowhere"
    result = rt.track("sh", "-c", script)
    assert "rc 3" in result.stdout and result.rc == 127
    assert [mark["name"] for mark in result.summary["marks"]] == ["inner", "nowhere"]
    assert len(list((rt.state / "runs").iterdir())) == 1


def test_a_run_in_what_an_ended_run_has_left_behind_is_tracked(rt):
    result = rt.track("true", env={"RESOURCE_TRACKER_RUN": "r-ended:1"})
    assert result.rc == 0 and result.summary["run"]["exit"]["code"] == 0


def test_a_tracking_shell_behaves_as_the_shell_and_records_each_line(rt, tmp_path):
    shells = tmp_path / "bin"
    shells.mkdir()
    os.symlink(rt.path, shells / "bash")
    done = rt.run("-c", '[[ a == a* ]] && echo "$0 $#"; exit 5', "name", "x",
                  program=shells / "bash", env={"PATH": f"{shells}:{rt.env['PATH']}"})
    assert (done.rc, done.stdout, done.stderr) == (5, "name 1\n", "")
    assert rt.run("show", "--json", "@").json()["run"]["exit"]["code"] == 5
    write(tmp_path, f"SHELL := {shells}/bash\nall:\n\t@echo one $${{BASH_VERSINFO:+bash}}\n\t@exit 4\n",
          "Makefile")
    made = subprocess.run(["make", "-C", tmp_path], env=rt.env, capture_output=True, text=True,
                          check=False)
    assert made.returncode == 2 and "one bash" in made.stdout and "Error 4" in made.stderr
    assert len(list((rt.state / "runs").iterdir())) == 3
    # Inside a run the lines are the run's.
    rt.track("make", "-C", tmp_path)
    assert len(list((rt.state / "runs").iterdir())) == 4
