"""Tests requests that cannot be fulfilled: the program prints one clear line, or a reason for each missing figure, and
the result of the job does not change."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def one_line(result, *words):
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("resource-tracker: "), result
    assert all(word in result.stderr for word in words), result.stderr


@pytest.mark.parametrize("flags", [
    ["--timeout", "-3"], ["--timeout", "1e300"], ["--timeout", "nan"], ["--limit", "mem=-1"],
    ["--limit", "mem=1e400"], ["--limit", "disk=1"], ["--request", "cpu=nan"], ["--color", "pink"],
    ["--summary", "loud"], ["-o", "/no/such/folder/x", "-f", "csv"], ["-o", "/", "-f", "csv"]])
def test_nothing_starts_with_a_flag_that_cannot_be_obeyed(rt, flags):
    result = rt.run("run", *flags, "--", "touch", rt.home / "started")
    assert result.rc == 125 and not (rt.home / "started").exists()
    one_line(result, flags[0] if flags[0] != "-o" else flags[1])


LONG = "x" * 10240
# In the place of LONG: a value, a name, a path, a command.
REPEATED = [
    ["run", "--tag", LONG, "--", "true"], ["run", "-i", LONG, "--", "true"], ["run", LONG],
    ["run", "-f", "csv", "-o", "/tmp/" + LONG, "--", "true"], ["run", "--" + LONG],
    ["run", "--config", LONG, "--", "true"], ["run", "--limit", LONG, "--", "true"], [LONG],
    ["help", LONG], ["show", LONG], ["show", "./" + LONG], ["show", "d/" * 5000], ["import", LONG],
    ["attach", LONG], ["export", "--format", LONG], ["report", "-o", LONG, "@"],
    ["report", "-o", "d/" * 5000, "@"]]


@pytest.mark.parametrize("words", REPEATED, ids=lambda words: "-".join(w[:9] for w in words))
def test_a_message_with_a_value_of_ten_thousand_bytes_keeps_its_start_and_its_end(rt, words):
    rt.run("run", "-q", "--", "true")
    result = rt.run(*words)
    assert result.rc != 0 and result.stdout == ""
    one_line(result, " bytes left out] ")
    assert len(result.stderr) < 800 and ("xxx" in result.stderr or "d/d/d" in result.stderr)
    assert result.stderr.startswith("resource-tracker: ")
    assert not result.stderr.endswith("xxx\n") or "Try" not in result.stderr


@pytest.mark.parametrize("words", [["run"], ["run", "--"], ["--"], ["run", "-q", "--"], ["-q", "--"]])
def test_a_command_that_is_not_there_is_not_the_machine(rt, words):
    """resource-tracker -- $COMMAND, where that is empty."""
    result = rt.run(*words)
    assert result.rc == 125
    one_line(result, "no command")


@pytest.mark.parametrize("verb", ["", "x", "q"])
def test_a_word_that_is_like_none_gets_no_suggestion(rt, verb):
    result = rt.run(verb)
    assert result.rc == 2 and "Did you mean" not in result.stderr
    one_line(result)


@pytest.mark.parametrize("pid,rc", [("0", 2), ("-1", 2), ("1x", 2), ("", 2), ("99999999999", 2),
                                    ("18446744073709551616", 2), ("4194303", 4)])
def test_no_process_of_that_number(rt, pid, rc):
    result = rt.run("attach", "--", pid)
    assert result.rc == rc
    one_line(result)


@pytest.mark.parametrize("flags,place", [
    (["-f", "csv", "-o", "/dev/full"], "/dev/full"), (["--summary-json", "/dev/full"], "/dev/full"),
    (["--summary-json", "/"], "/"), (["--summary-json", "fd:99"], "fd:99"),
    (["--report=/"], "/")])
def test_output_that_cannot_be_written_is_said_and_costs_the_job_nothing(rt, flags, place):
    result = rt.run("run", "-q", *flags, "--", "sh", "-c", "echo out; exit 3")
    assert (result.rc, result.stdout) == (3, "out\n")
    one_line(result, place)
    strict = rt.run("run", "-q", "--strict", *flags, "--", "true")
    assert strict.rc == 125


@pytest.mark.parametrize("words", [["show", "@"], ["stats", "@"], ["export", "@"], ["ls"],
                                   ["help", "columns"], ["help"], ["version"]])
def test_a_full_disk_and_a_closed_pipe_behind_the_other_verbs(rt, words):
    assert rt.run("run", "-q", "--", "sleep", "0.3").rc == 0
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([rt.path, *words], env=rt.env, stdout=full, stderr=subprocess.PIPE,
                              check=False, cwd=rt.home)
    assert done.returncode == 1 and b"No space left on device" in done.stderr
    assert done.stderr.count(b"\n") == 1
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([rt.path, *words], env=rt.env, stdout=writer, stderr=subprocess.PIPE,
                          check=False, cwd=rt.home)
    os.close(writer)
    assert done.returncode in (1, -13) and done.stderr.count(b"\n") <= 1


# ---- other users, and what /proc hides ----


def may(*command):
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


HIDING = ["unshare", "-m", "--propagation", "private", "sh", "-c",
          "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"", "sh"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
needs_hiding = pytest.mark.skipif(os.geteuid() != 0 or not may(*HIDING, "true"),
                                  reason="needs root and mount namespaces")


@pytest.fixture
def stranger(rt, tmp_path_factory):
    """How a user without rights here runs the program: words before, its path, environment, folder."""
    folder = tmp_path_factory.mktemp("stranger")
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.getuid() and place != place.parent and place.name != "tmp":
            place.chmod(0o755)
    program = shutil.copy(rt.path, folder)
    home = folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    env = {**rt.env, "HOME": str(home), "RESOURCE_TRACKER_DIR": str(home / "state")}

    def run(*words, before=()):
        done = subprocess.run([*before, *AS_NOBODY, program, *map(str, words)], env=env, cwd=home,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=240, check=False)
        return done.returncode, done.stdout, done.stderr

    return run, folder


@needs_root
def test_another_users_process_gets_a_reason_for_each_figure(stranger):
    run, _ = stranger
    with subprocess.Popen(["sleep", "60"]) as job:
        rc, out, err = run("attach", "-q", "--duration", "0.4", "-i", "0.1", "--summary-json", "-",
                           job.pid)
        job.kill()
    summary = json.loads(out)
    assert (rc, err) == (0, "")
    assert "RSS" in summary["tracker"]["sources"]["process_memory"]
    assert "not readable" in summary["tracker"]["sources"]["process_disk"]
    assert summary["totals"]["disk_read_bytes"]["reason"]
    assert summary["stats"]["process_memory_mib"]["max"] > 0  # sampling goes on


@pytest.mark.native
@needs_hiding
def test_a_hidden_process_is_not_said_to_be_gone(stranger):
    run, _ = stranger
    with subprocess.Popen(["sleep", "60"]) as job:
        rc, out, err = run("attach", job.pid, before=HIDING)
        job.kill()
    assert (rc, out, err.count("\n")) == (5, "", 1)
    assert "hidepid" in err and str(job.pid) in err


def set_user_id_sleep(folder):
    program = shutil.copy("/bin/sleep", folder / "suid-sleep")
    os.chmod(program, 0o4755)
    return program


@pytest.mark.native
@needs_root
@pytest.mark.parametrize("hiding", [False, pytest.param(True, marks=needs_hiding)])
def test_a_set_user_id_child_gets_a_reason_and_the_job_goes_on(stranger, hiding):
    run, folder = stranger
    child = set_user_id_sleep(folder)
    rc, out, err = run("run", "-q", "-i", "0.05", "--summary-json", "-", "--", "sh", "-c",
                       f"{child} 0.4; exit 4", before=HIDING if hiding else ())
    summary = json.loads(out)
    sources = summary["tracker"]["sources"]
    assert (rc, err) == (4, "")
    assert summary["tracker"]["samples"] >= 3
    assert ("hidepid" in sources.get("process_tree", "")) == hiding
    if not hiding:
        assert "suid-sleep" in {p["name"] for p in summary["top_processes"]}
        assert summary["totals"]["peak_processes"]["value"] == 2


# ---- namespaces ----


@pytest.mark.skipif(not may("unshare", "-pf", "true"), reason="needs pid namespaces")
def test_proc_of_another_namespace_is_said_in_one_line(rt):
    """The job's pid names somebody else there."""
    done = subprocess.run(["unshare", "-pf", rt.path, "run", "-q", "--", "sh", "-c", "exit 5"],
                          env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert "--mount-proc" in done.stderr


needs_mounts = pytest.mark.skipif(os.geteuid() != 0 or not may("unshare", "-m", "true"),
                                  reason="needs root and mount namespaces")

# Three children of a second thread, which no `children` file of the main thread lists.
FAMILY = """
import subprocess, threading, time
def work():
    time.sleep(2)
    children = [subprocess.Popen(["sleep", "2"]) for _ in range(3)]
    [child.wait() for child in children]
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
# Writes a load average with another last pid every 0.1 s.
RANDOM = """
import random, sys, time
while True:
    with open(sys.argv[1], "r+") as file:
        file.write(f"0.50 0.40 0.30 1/500 {random.randrange(1000000, 4000000)}\\n")
    time.sleep(0.1)
"""


def family(rt, loadavg):
    """The summary of a job with three children, with this file mounted over /proc/loadavg."""
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c",
         'mount --bind "$0" /proc/loadavg && exec "$@"', loadavg, rt.path, "run", "-q", "-i", "0.2",
         "--summary-json", "-", "--", "/usr/bin/python3", "-c", FAMILY],
        env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.native
@needs_mounts
@pytest.mark.parametrize("text", ["0.50 0.40 0.30 1/500 2500000", "0.00 0.00 0.00 0/0 0", "", None],
                         ids=["constant", "zeros", "empty", "random"])
def test_children_are_found_under_a_load_average_without_the_last_pid(rt, text):
    """As lxcfs and gVisor show it."""
    file = rt.home / "loadavg"
    file.write_text("0.50 0.40 0.30 1/500 2500000\n" if text is None else text + "\n")
    with contextlib.ExitStack() as stack:
        if text is None:
            writer = stack.enter_context(subprocess.Popen([sys.executable, "-c", RANDOM, file]))
            stack.callback(writer.kill)
        summary = family(rt, file)
    assert summary["stats"]["process_children"]["max"] == 3
    assert summary["tracker"]["sources"]["process_pids"].startswith("unproven: /proc/loadavg")


@pytest.mark.native
@needs_mounts
def test_the_load_average_of_another_namespace_has_the_readers_last_pid(rt):
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(subprocess.Popen(
            ["unshare", "-pf", "--mount-proc", "--kill-child", "sh", "-c", "echo $$; exec sleep 60"],
            stdout=subprocess.PIPE))
        stack.callback(other.kill)
        assert other.stdout.readline() == b"1\n"  # it has its own /proc from here on
        with open(f"/proc/{other.pid}/task/{other.pid}/children", encoding="ascii") as children:
            summary = family(rt, f"/proc/{children.read().split()[0]}/root/proc/loadavg")
    assert summary["stats"]["process_children"]["max"] == 3
    assert "process_pids" not in summary["tracker"]["sources"]


@pytest.mark.native  # a sanitizer's runtime reads /proc
@needs_mounts
@pytest.mark.parametrize("place", ["/proc", "/sys"])
def test_a_kernel_without_its_files(rt, place):
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c",
         f"mount -t tmpfs none {place} && exec \"$@\"", "sh", rt.path, "run", "-q", "-i", "0.1", "--",
         "sh", "-c", "sleep 0.3; exit 6"],
        env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    assert done.returncode == 6
    assert done.stderr.count("\n") == (1 if place == "/proc" else 0), done.stderr
    assert ("/proc is not mounted" in done.stderr) == (place == "/proc"), done.stderr
    assert "namespace" not in done.stderr


@pytest.mark.parametrize("text,place,word", [
    ("quiet = false\noutput = true\n", "c.toml:2: ", "output"),
    ('job = ["a", "b"]\n', "c.toml:1: ", "not a list"),
    ('[tags]\nstep = ["a"]\n', "c.toml:2: ", "not a list"),
    ("team = false\n", "c.toml:1: ", "team"), ('summary-json = "fd:one"\n', "c.toml:1: ", "fd:one"),
    ('\n[tracker]\ninterval_secs = "soon"\n', "c.toml:3: ", "soon"),
    ('quiet = "yes"\n', "c.toml:1: ", "not text")])
def test_a_configuration_with_a_wrong_type_starts_nothing(rt, text, place, word):
    (rt.home / "c.toml").write_text(text)
    before = set(os.listdir(rt.home))
    result = rt.run("run", "--config", "c.toml", "--", "touch", "started")
    assert result.rc == 125 and set(os.listdir(rt.home)) == before
    one_line(result, place, word)


def test_numbers_and_lists_are_taken_where_they_make_sense(rt):
    (rt.home / "c.toml").write_text(
        'job = 2024\ntags = ["a=1", "b=2"]\nreport = false\n[tags]\nc = 3\nd = true\n')
    assert rt.track("true", flags=["--config", "c.toml"]).rc == 0
    assert sorted(os.listdir(rt.home)) == ["c.toml", "state", "summary.json"]  # no report, no "false"
    run = rt.run("show", "--json", "@").json()["run"]
    assert run["job"] == "2024"
    assert run["tags"] == {"a": "1", "b": "2", "c": "3", "d": "true"}


@pytest.mark.parametrize("name,rc,word", [
    ("./folder", 126, "Is a directory"), ("./script", 127, "interpreter"), ("", 127, "empty"),
    ("./none", 127, "command not found"), ("./loop", 126, "symbolic links")])
def test_a_command_that_cannot_be_started_is_told_why(rt, name, rc, word):
    (rt.home / "folder").mkdir()
    (rt.home / "loop").symlink_to("loop")
    (rt.home / "script").write_text("#!/no/such/interpreter\n")
    (rt.home / "script").chmod(0o755)
    result = rt.track(name)
    assert (result.rc, result.summary) == (rc, None)
    one_line(result, word)


def test_a_descriptor_that_is_no_number_is_no_file_name(rt):
    result = rt.run("run", "--summary-json", "fd:x", "--", "touch", "started")
    assert result.rc == 125 and not os.listdir(rt.home)
    one_line(result, "--summary-json fd:x")


@pytest.mark.parametrize("words", [["run", "--recording", "", "--", "true"], ["show", "--recording="],
                                   ["ls", "--recording", ""], ["report", "--recording", ""]])
def test_a_folder_without_a_name_is_not_the_root(rt, words):
    result = rt.run(*words)
    assert result.rc == (125 if words[0] == "run" else 2)
    one_line(result, "--recording")


HIDDEN = ["\u202e", "\u2066", "\u200b", "\u061c", "\x9b", "\x1b", "\x7f"]


def test_no_name_turns_or_hides_text_on_a_terminal(rt):
    """U+202E and its kind in names, marks, tags, arguments and file names."""
    name = "a" + "".join(HIDDEN) + "b"
    results = []
    for _ in range(2):
        results.append(rt.track("sh", "-c", f'"$0" mark "$1"; sleep 0.7', rt.path, name,
                                flags=["--job", name, "--tag", f"k={name}", "--note", name]))
    results += [rt.run(*words) for words in (
        ["show"], ["show", "--json"], ["history"], ["history", name], ["history", "--json"],
        ["recommend"], ["recommend", "--json"], ["recommend", "--for", "slurm"], ["compare"],
        ["compare", "--format", "md"], ["report", "--format", "md", "--output", "-"],
        ["report", "--format", "md", "--output", "-"], ["show", name], ["show", f"/tmp/{name}"],
        [name], ["run", "--", f"./{name}"], ["export", "@", "--output", f"/nowhere/{name}"])]
    for result in results:
        assert result.stdout or result.stderr
        for character in HIDDEN:
            assert character not in result.stdout + result.stderr, result.args


@pytest.mark.parametrize("words,said", [
    (["export", "@", "b"], "export: unexpected b. Try: resource-tracker export --help"),
    (["prune", "--keep", "1", "b"], "history prune: unexpected b. Try: resource-tracker history prune --help"),
    (["export", "--what", "rows"], "--what rows: not one of: samples gpus programs processes lines"),
    (["lines", "--by", ""], "--by : not one of: line function file thread process phase"),
    (["export", "--format", "snapshot", "--columns", "full"], "export: a snapshot has --columns 0.5 or 0.4"),
    # What earlier versions had.
    (["lines", "--format", "pprof"], "lines --format pprof has gone. Use: --format speedscope, or folded"),
    (["catalog", "update", "--json"], "catalog: --json is for info"),
    (["doctor", "--selftest", "--json"], "doctor: --selftest prints a table, not JSON"),
    (["report", "--format", "json"], "report --format json has gone. Use: show --json, or export"),
    (["self", "check", "--json"], "self --json has gone. Use: resource-tracker doctor, a line a check"),
    (["config", "--show-origin"], "config --show-origin has gone. Use: config, which always shows it"),
    (["cloud-info", "--fresh"], "machine --fresh has gone. Use: --recording of an empty directory, where no answer is cached"),
    (["server-info", "--ask-gpus"], "machine --ask-gpus has gone. Use: resource-tracker run --gpu always"),
    (["alerts", "--all"], "alerts --all has gone. Use: alerts list --json"),
    (["digest", "--send"], "alerts digest --send has gone. Use: alerts digest --alert SINK"),
    (["show", "--watch"], "show --watch has gone. Use: resource-tracker top"),
])
def test_operands_and_words_that_do_not_fit_are_named(rt, words, said):
    result = rt.run(*words)
    assert (result.rc, result.stderr, result.stdout) == (2, f"resource-tracker: {said}\n", "")
