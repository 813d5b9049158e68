"""Tests configuration files, environment variables, `config`, `doctor`, completions, the manual page, and shells."""

import os
import pathlib
import re
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


LOCAL_KEYS = ("# ./resource-tracker.toml may set: job job-name tag note project-name stage-name "
              "task-name team env language orchestrator executor external-run-id container-image "
              "pid request input-size instance interval gpu no-children no-system no-discovery "
              "no-history aggregate-cpu-steal renice summary quiet color plain")

# What a value of an option looks like, where any text will not do.
VALUES = {"interval": '"1s"', "cgroup": '"auto"', "summary": '"auto"', "color": '"auto"', "gpu": '"auto"',
          "format": '"csv"', "request": '"cpu=1"', "limit": '"mem=1GiB"', "tag": '"a=b"',
          "instance": '"aws/us-east-1/m5.large"', "lines": '"auto"', "input-size": '"1GiB"', "pid": "1",
          "timeout": '"1h"', "grace": '"1s"', "report-every": '"5s"', "aggregate-cpu-steal": "false",
          "redact-args": '"secrets"', "renice": "5", "on-alert": '"swap=true"',
          "alert": '"mail:a@b"'}


def test_the_working_directory_s_file_sets_what_the_documentation_lists_and_nothing_else(rt):
    allowed = LOCAL_KEYS.split(": ")[1].split()
    usage = rt.run("help", "all", "run").stdout
    # Of a choice the first word; "--name=[VALUE]" and flags are true.
    first = {name: f'"{word}"' for name, word in re.findall(r"--([a-z-]+) ([a-z]+)\|", usage)}
    flags = dict.fromkeys(re.findall(r"--([a-z-]+)  ", usage), "true")
    values = {**dict.fromkeys(re.findall(r"--([a-z-]+)", usage), '"x"'), **flags, **first, **VALUES}
    names = [name for name in values if name not in ("help", "json")]
    assert {"output", "recording", "summary-json", "report", "timeout", "limit"} <= set(names)
    for name in names:
        write(rt.home, f"{name} = {values[name]}\n")
        shown = rt.run("config", env={"TRACKER_NO_DISCOVERY": None})
        assert shown.rc == 0
        if name in allowed:
            assert f"{name} = " in shown.stdout and "# ignored" not in shown.stdout, name
            assert shown.stderr == ""
        else:
            assert f"# ignored: {name} = " in shown.stdout, name
            assert shown.stderr == (
                f"resource-tracker: resource-tracker.toml:1: {name} is ignored, because the file was "
                "found in the working directory. Try: --config resource-tracker.toml\n")
        # Named, it may say all.
        named = rt.run("config", "--config", "resource-tracker.toml")
        assert f"{name} = " in named.stdout and named.stderr == ""
    for page in (rt.run("config", "--help").stdout, rt.run("help", "man").stdout):
        assert all(re.search(rf"\b{name}\b", page.replace("\\-", "-")) for name in allowed)


@pytest.mark.parametrize("key", ["output", "recording", "summary-json", "report"])
def test_a_cloned_directory_s_file_names_no_place_to_write_to(rt, key):
    target = rt.home / "precious"
    target.write_text("mine")
    write(rt.home / "clone", f'{key} = "{target}"\nformat = "json"\ntimeout = "10ms"\n'
                             'job = "clone"\n')
    result = rt.track("sh", "-c", "sleep 0.3", cwd=rt.home / "clone")
    assert result.rc == 0 and result.summary["run"]["job"] == "clone"
    assert result.stderr.count("ignored") == 1
    assert target.read_text() == "mine" and not list(rt.home.glob("precious?*"))
    assert len(list(rt.state.glob("runs/*"))) == 1


@pytest.mark.parametrize("value", ["false", '"no"', '"secrets"'])
def test_a_cloned_directory_s_file_does_not_switch_redaction_off(rt, value):
    write(rt.home / "xdg-config", "redact-args = true\n", "resource-tracker/config.toml")
    write(rt.home, f"redact-args = {value}\n")
    assert rt.track("sh", "-c", "true", "argument").summary["run"]["command"] == ["sh", "…"]


def test_config_says_where_each_value_comes_from(rt):
    write(rt.home, '# nothing here\n\ninterval = "500ms"\nquiet = true\n'
                   'tags = ["a=1",\n  "b=2"]\n[tags]\nc = "3 \\"x\\""\n')
    shown = rt.run("config", env={"TRACKER_INTERVAL": "3", "TRACKER_NO_DISCOVERY": None})
    assert shown.rc == 0
    assert shown.stdout.splitlines() == [
        "quiet = true  # resource-tracker.toml:4",
        'tag = "a=1"  # resource-tracker.toml:5',
        'tag = "b=2"  # resource-tracker.toml:5',
        'tag = "c=3 \\"x\\""  # resource-tracker.toml:8',
        'interval = "3"  # TRACKER_INTERVAL',
        LOCAL_KEYS,
    ]
    assert "every option has its default" in rt.run(
        "config", cwd="/", env={"TRACKER_NO_DISCOVERY": None}).stdout


def test_what_is_for_the_python_package_is_no_mistake(rt):
    folder = rt.home / "xdg-config" / "resource-tracker"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[python]\nschema = "0.5"\n')
    result = rt.run("config")
    assert result.rc == 0 and result.stderr == ""
    (folder / "config.toml").write_text('schema = "0.5"\n')
    assert "unknown key schema" in rt.run("config").stderr


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
def test_a_mistake_in_a_file_is_told_with_its_place(rt, text, complaint):
    path = write(rt.home, text)
    # A file that is named is an error before the job starts.
    for flags, env in ((["--config", path.name], {}), ([], {"RESOURCE_TRACKER_CONFIG": path.name})):
        result = rt.track("touch", "started", flags=flags, env=env)
        assert result.rc == 125
        assert result.stderr.startswith(f"resource-tracker: {complaint}")
        assert result.stderr.count("\n") == 1
        assert not (rt.home / "started").exists()
    # One that is found is a warning: somebody else may have left it there.
    result = rt.track("touch", "started", flags=["-q"])
    assert result.rc == 0 and (rt.home / "started").exists()
    assert result.stderr.startswith(f"resource-tracker: {complaint}")
    assert result.stderr.count("\n") == 1
    # The verb that shows the configuration says what is wrong with it.
    shown = rt.run("config")
    assert shown.rc == 2 and shown.stderr.startswith(f"resource-tracker: {complaint}")


def test_mistakes_in_a_found_file_give_one_warning_and_the_rest_holds(rt):
    write(rt.home, 'nonsense = 1\n[tracker]\ninterval_secs = 2\nelse = 3\n[job]\npid = "x"\nteam = "blue"\n')
    result = rt.track("true", flags=["-q"])
    assert result.rc == 0
    assert result.stderr == ("resource-tracker: resource-tracker.toml:1: unknown key nonsense is ignored. "
                             "Try: resource-tracker config --help\n")
    assert result.summary["run"]["interval_s"] == 2
    assert result.summary["run"]["tags"] == {"team": "blue"}


def test_a_found_file_that_is_not_toml_is_not_used_in_part(rt):
    write(rt.home, 'interval = 2\nteam = "blue"\n\x7fELF garbage [\n')
    result = rt.track("true", flags=["-q"])
    assert result.rc == 0 and result.stderr.count("\n") == 1
    assert result.stderr.endswith("; the file is ignored\n")
    assert result.summary["run"]["interval_s"] == 1 and not result.summary["run"]["tags"]
    for verb in (["system", "--duration", "0.1"], ["attach", "--duration", "0.1", "1"]):
        assert rt.run(*verb, "-q").rc == 0


@pytest.mark.parametrize("name", ["/dev/zero", "fifo"])
def test_a_configuration_that_is_no_file_is_refused_at_once(rt, name):
    os.mkfifo(rt.home / "fifo")
    result = rt.track("true", flags=["--config", name])
    assert result.rc == 125
    assert result.stderr == (f"resource-tracker: {name}: cannot read the configuration: "
                             "not a regular file\n")


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
    assert len(checks) == 18
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
    assert complete("history", "prune", "--ke") == ["--keep"] and complete("history", "x", "--ke") == []
    assert complete("dig") == []
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
        for option in ("interval", "summary-json", "limit"):
            assert option in page
        assert not re.search("control-fd|report-via|temporary|internal", page)


@pytest.mark.parametrize("words", ["attach --detach", "system --temporary extra", "run --control-fd",
                                   "attach --report-via", "system --report-earlier"])
def test_options_of_programs_stand_behind_the_internal_verb_alone(rt, words):
    verb, option, *more = words.split()
    assert option not in rt.run(verb, "--help").stdout
    refused = rt.run(verb, option, *more)
    assert refused.rc in (2, 125) and f"unknown option {option}" in refused.stderr
    taken = rt.run("internal", verb, option, *more)
    assert taken.rc == refused.rc and taken.stderr and "unknown option" not in taken.stderr


def test_no_variable_and_no_file_sets_an_internal_option(rt):
    write(rt.home, 'control-fd = "none"\n')
    environment = {"TRACKER_CONTROL_FD": "none", "TRACKER_TEMPORARY": "1"}
    result = rt.track("true", env=environment)
    assert result.rc == 0 and "control-fd: not" not in result.stderr and "not an open" not in result.stderr
    assert list((rt.state / "runs").iterdir())


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
