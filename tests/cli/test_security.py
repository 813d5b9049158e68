"""Tests which data is stored, with which permissions, and which data is never stored."""

import json
import os
import pathlib
import re
import shutil
import stat

import forging
import pytest

SECRET = "hunter2-s3cr3t"


def all_bytes(rt):
    return b"".join(p.read_bytes() for p in rt.home.rglob("*") if p.is_file())



@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_only_the_owner_may_look_into_the_state_directory(rt, umask):
    deep = rt.home / "a/b/state"
    before = os.umask(umask)
    try:
        assert rt.run("run", "-q", "--recording", deep, "--", "true").rc == 0
    finally:
        os.umask(before)
    for path in [rt.home / "a", rt.home / "a/b", deep, deep / "runs"]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    [recording] = (deep / "runs").iterdir()
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600


@pytest.mark.parametrize("target_exists", [True, False])
def test_a_link_planted_as_runs_is_refused_and_the_job_runs(rt, target_exists):
    target = rt.home / "elsewhere"
    if target_exists:
        target.mkdir()
    rt.state.mkdir()
    (rt.state / "runs").symlink_to(target)
    result = rt.run("run", "-q", "--", "sh", "-c", "echo ran; exit 6")
    assert (result.rc, result.stdout) == (6, "ran\n")
    assert result.stderr.count("\n") == 1
    assert "symbolic link" in result.stderr and str(rt.state / "runs") in result.stderr
    assert not target_exists or not list(target.iterdir())
    assert target.exists() == target_exists


def test_a_link_among_the_recordings_is_not_read(rt):
    rt.run("run", "-q", "--", "true")
    [recording] = rt.state.glob("runs/*.rtrk")
    outside = rt.home / "outside.rtrk"
    recording.rename(outside)
    recording.symlink_to(outside)
    assert rt.run("show", "@").rc == 4
    assert rt.run("show", outside).rc == 0


def test_nothing_of_the_environment_is_stored(rt):
    out = rt.home / "samples.json"
    result = rt.track("sh", "-c", "env > /dev/null; sleep 0.5", env={"API_KEY": SECRET},
                      flags=["-f", "json", "-o", out])
    assert result.rc == 0 and out.stat().st_size
    assert SECRET.encode() not in all_bytes(rt)
    assert SECRET not in result.stderr


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_redaction_keeps_programs_and_no_argument(rt, how):
    flags = ["--redact-args"] if how == "flag" else []
    env = {"TRACKER_REDACT_ARGS": "1"} if how == "variable" else {}
    script = f"sh -c 'sleep 1; : {SECRET}' {SECRET}.py; true"
    result = rt.track("sh", "-c", script, f"{SECRET}.py", flags=flags, env=env)
    assert result.rc == 0
    assert SECRET.encode() not in all_bytes(rt)
    assert SECRET not in result.stderr
    assert result.summary["run"]["command"] == ["sh", "…"]
    assert result.summary["run"]["job"] == "sh"
    seen = {p["command"] for p in result.summary["top_processes"] if p["command"]}
    assert "sh …" in seen and all(c.split(" ", 1)[1] == "…" for c in seen if " " in c), seen


MASKED = ["write@example.com", "10.20.30.40", "http://intern/?q=" + SECRET, "--password", SECRET,
          f"TOKEN={SECRET}", "-----BEGIN PRIVATE KEY-----", "plain", "--rate=0.5"]


@pytest.mark.parametrize("how", ["flag", "variable", "file"])
def test_secrets_can_be_masked_in_what_is_kept_of_command_lines(rt, how):
    flags = ["--redact-args=strict"] if how == "flag" else []
    env = {"TRACKER_REDACT_ARGS": "strict"} if how == "variable" else {}
    if how == "file":
        (rt.home / "own.toml").write_text('redact_args = "strict"\n')
        flags = ["--config", "own.toml"]
    result = rt.track("sh", "-c", "sleep 1; true", *MASKED, flags=flags, env=env)
    assert result.rc == 0
    assert SECRET.encode() not in all_bytes(rt) and b"example.com" not in all_bytes(rt)
    assert SECRET not in result.stderr
    want = ["[EMAIL]", "[IP]", "[URL]", "--password", "[SECRET]", "TOKEN=[SECRET]", "[KEY]", "plain",
            "--rate=0.5"]
    assert result.summary["run"]["command"] == ["sh", "-c", "sleep 1; true", *want]
    assert result.summary["run"]["job"] == "sh"  # not of an address
    seen = {p["command"] for p in result.summary["top_processes"] if p["command"]}
    shell = " ".join(["sh -c sleep 1; true", *want[:7]])  # the rest does not fit into the table
    assert any(c.startswith(shell) for c in seen), seen


def test_a_secret_that_the_table_of_processes_cuts_is_left_out(rt):
    for before, end in (120, "x [EMAIL]"), (5000, "x"):
        result = rt.track("sh", "-c", "sleep 1; true", "x" * before, f"write@{SECRET}.example.com",
                          flags=["--redact-args=strict"])
        seen = {p["command"] for p in result.summary["top_processes"] if p["command"]}
        assert any(c.endswith(end) for c in seen), seen
    # One that the reading of the command line cuts, behind arguments that shrink.
    result = rt.track("sh", "-c", "sleep 1; true", "--password", "x" * 4040, f"postgres://me:{SECRET}@db.example/x")
    seen = {p["command"] for p in result.summary["top_processes"] if p["command"]}
    assert any(c.endswith("--password [SECRET] …") for c in seen), seen
    assert SECRET[:4].encode() not in all_bytes(rt)


SECRETS = ["--password", SECRET, f"--api-token={SECRET}", f"DB_PASSWORD={SECRET}",
           f"postgres://me:{SECRET}@db.example/x", "-----BEGIN PRIVATE KEY-----"]
NO_SECRETS = ["write@example.com", "10.20.30.40", "http://intern/?q=1", "--max-tokens=5",
              "3f5a9c1d7e2b4f6a8c0d1e2f3a4b5c6d7e8f9a0b"]


def test_by_default_passwords_tokens_and_keys_are_masked_and_nothing_else(rt):
    result = rt.track("sh", "-c", "sleep 0.5", *SECRETS, *NO_SECRETS)
    assert result.rc == 0
    assert SECRET.encode() not in all_bytes(rt) and SECRET not in result.stderr
    assert result.summary["run"]["command"] == [
        "sh", "-c", "sleep 0.5", "--password", "[SECRET]", "--api-token=[SECRET]",
        "DB_PASSWORD=[SECRET]", "[SECRET]", "[KEY]", *NO_SECRETS]
    assert SECRET not in rt.run("history", "--json").stdout + rt.run("export", "--format", "csv", "@").stdout
    assert rt.run("report", "--embed-raw", "-o", rt.home / "page.html", "@").rc == 0
    assert SECRET not in (rt.home / "page.html").read_text()


def test_no_name_of_a_program_is_a_secret(rt, burn):
    """`java --token X`: a program of an interpreter is named after an operand, and so is the job."""
    java = rt.home / "java"
    shutil.copy(burn, java)
    result = rt.track("sh", "-c", f"{java} --token {SECRET} 1.5; true")
    shown = "".join(rt.run("export", "--what", what, "@").stdout for what in ("programs", "processes"))
    assert "--token [SECRET] 1.5" in shown and SECRET not in shown
    assert SECRET not in json.dumps(result.summary) + result.stderr
    assert SECRET.encode() not in all_bytes(rt)


@pytest.mark.parametrize("url", [
    "postgresql://me:SECRET@[bad/db", "postgresql://me:hun%zSECRET@h/db", "postgresql://me:SECRET/db",
    "postgresql://me:a@SECRET@127.0.0.1:1/db", "postgresql://me:a/SECRET@127.0.0.1:1/db",
    "postgresql://127.0.0.1:1/db?password=SECRET%zz", "postgresql://127.0.0.1:1/db?password=a&SECRET=1",
    'postgresql://me:a"SECRET%zz@127.0.0.1:1/db', "mysql://me:SECRET@h/db"])
def test_no_message_shows_the_password_of_a_url(rt, url):
    rt.run("run", "-q", "--", "true")
    listed = rt.run("history", env={"RESOURCE_TRACKER_HISTORY": url.replace("SECRET", "hunter2")})
    assert listed.rc == 0 and "hunter2" not in listed.stderr
    assert listed.stderr.startswith("resource-tracker: only the runs of this machine follow: history")


def test_no_message_shows_the_password_of_an_address_of_prices(rt):
    for url in "https://me:hunter2@h/", "ftp://h/?token=hunter2":
        done = rt.run("catalog", "update", "--url", url)
        assert done.rc != 0 and "not an address" in done.stderr and "hunter2" not in done.stderr


def test_runs_are_grouped_by_their_arguments_whatever_their_secret_is(rt):
    """The same arguments with another token are the same work, and other arguments are not."""
    for size, token in ("small", "one"), ("large", "two"), ("small", "three"):
        rt.track("sh", "-c", "sleep 0.3", size, f"--token={token}", flags=["-n", "job"])
    runs = rt.run("history", "--json").json()["runs"]
    assert len({run["command"] for run in runs}) == 2
    memory = rt.run("recommend", "--json", "job").json()["advice"]["memory"]
    assert (memory["runs_alike"], memory["runs_used"]) == ("arguments", 2)
    # A name of the job is not taken from the value of a secret.
    assert rt.track("sh", "--password", f"{SECRET}.py").summary["run"]["job"] == "sh"


def test_what_redaction_does_not_know_is_refused(rt):
    result = rt.run("run", "--redact-args=some", "--", "true")
    assert (result.rc, result.stderr.count("\n")) == (125, 1)


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_without_redaction_the_command_is_kept(rt, how):
    flags = ["--redact-args=none"] if how == "flag" else []
    env = {"TRACKER_REDACT_ARGS": "0"} if how == "variable" else {}
    result = rt.track("sh", "-c", "sleep 0.5", f"--password={SECRET}", flags=flags, env=env)
    assert result.summary["run"]["command"][-1] == f"--password={SECRET}"


def traced(rt, calls, *args, **options):
    """(result, lines of strace) of the program and all that it starts."""
    log = rt.home / "strace.log"
    result = rt.run("-f", "-qq", "-s", "200", "-e", f"trace={calls}", "-o", log, rt.path, *args,
                    program="/usr/bin/strace", **options)
    return result, log.read_text(encoding="utf-8", errors="replace").splitlines()


def test_the_table_of_processes_has_ten_and_the_first_160_bytes_of_their_command_lines(rt):
    script = "import subprocess; x = b'x' * (50 << 20); " \
             "[p.wait() for p in [subprocess.Popen(['sleep', '1']) for _ in range(12)]]"
    top = rt.track("/usr/bin/python3", "-c", script, "0" * 300).summary["top_processes"]
    assert len(top) == 10 and all(set(process) >= {"name", "pid", "command"} for process in top)
    whole = f"/usr/bin/python3 -c {script} {'0' * 300}"
    assert top[0]["command"] == whole[:len(top[0]["command"])] and 159 <= len(top[0]["command"]) <= 160


@pytest.mark.native
def test_the_environment_and_the_names_of_the_machine_are_not_looked_at(rt):
    result, opened = traced(rt, "open,openat,sethostname,uname", "run", "-q", "--", "sleep", "0.4")
    assert result.rc == 0 and any("/smaps_rollup" in line or "/stat" in line for line in opened)
    for name in ('/environ"', "machine-id", "/etc/hostname", "/etc/hosts"):
        assert not [line for line in opened if name in line]


def test_host_name_and_names_of_files_are_not_stored(rt):
    secret = rt.home / SECRET
    secret.write_text("read")
    script = f"hostname {SECRET}-host; exec {rt.path} run --no-discovery -f json -o {rt.home}/out -- " \
             "sh -c 'read x < $NAME; sleep 0.4'"
    done = rt.run("--uts", "sh", "-c", script, program="/usr/bin/unshare", env={"NAME": secret})
    assert done.rc == 0, done.stderr
    assert rt.run("show").rc == 0
    secret.unlink()
    assert SECRET.encode() not in all_bytes(rt)


def test_addresses_of_interfaces_are_in_json_lines_and_not_in_recordings(rt):
    with open("/sys/class/net/lo/address", encoding="ascii") as file:
        loopback = file.read().strip()
    addresses = [p.read_text().strip() for p in pathlib.Path("/sys/class/net").glob("*/address")]
    known = [a for a in addresses if a and a != loopback]
    out = rt.home / "out.json"
    assert rt.track("sleep", "0.5", flags=["-f", "json", "-o", out]).rc == 0
    recordings = b"".join(p.read_bytes() for p in rt.state.rglob("*") if p.is_file())
    assert out.stat().st_size and recordings
    assert '"mac_address"' in out.read_text()
    assert not [a for a in known if a.encode() in recordings]


@pytest.mark.native
def test_no_socket_of_the_network_is_made_without_discovery(rt):
    env = {"TRACKER_NO_DISCOVERY": None}
    for args in (["run", "--no-discovery", "-q", "--", "sleep", "0.3"], ["history"], ["show"],
                 ["recommend"], ["servers"], ["report", "-o", "x.html"], ["compare"],
                 ["prune", "--keep", "9"], ["doctor"], ["version"]):
        _, calls = traced(rt, "socket,connect,sendto", *args, env=env)
        assert not [line for line in calls if "AF_INET" in line], (args, calls)


def test_a_directory_that_was_there_keeps_its_rights(rt):
    for path in (rt.home / "old", rt.home / "old/runs"):
        path.mkdir()
        path.chmod(0o750)
    assert rt.run("run", "-q", "--recording", rt.home / "old", "--", "true").rc == 0
    for path in (rt.home / "old", rt.home / "old/runs"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o750


def test_outputs_have_the_rights_of_the_umask(rt):
    before = os.umask(0o027)
    try:
        flags = ["-f", "csv", "-o", "rows", "--report=page.html", "--summary-json", "all.json"]
        assert rt.run("run", *flags, "--", "sleep", "0.3").rc == 0
        assert rt.run("export", "-o", "more").rc == 0
    finally:
        os.umask(before)
    for name in ("rows", "page.html", "all.json", "more"):
        assert stat.S_IMODE((rt.home / name).stat().st_mode) == 0o640, name


def test_names_that_are_given_are_kept_when_arguments_are_not(rt):
    result = rt.track("sh", "-c", f"{rt.path} mark mark-{SECRET}; sleep 0.4", flags=[
        "--redact-args", "-n", f"job-{SECRET}", "--tag", f"a=tag-{SECRET}", "--note",
        f"note-{SECRET}"])
    run = result.summary["run"]
    assert run["job"] == f"job-{SECRET}" and run["tags"] == {"a": f"tag-{SECRET}",
                                                            "note": f"note-{SECRET}"}
    assert [mark["name"] for mark in result.summary["marks"]] == [f"mark-{SECRET}"]
    assert run["command"] == ["sh", "…"]


def test_of_a_title_the_first_word_is_kept_and_so_is_the_short_name(rt):
    code = "import ctypes, time; libc = ctypes.CDLL(None); " \
           f"libc.prctl(15, b'short-{SECRET}', 0, 0, 0); time.sleep(1)"
    script = rt.home / "titled.pl"
    script.write_text(f"$0 = 'first {SECRET}'; for ($i = 0; $i < 15000000; $i++) {{}}")
    result = rt.track("sh", "-c", f"perl {script}; true", flags=["--redact-args"])
    commands = {p["command"] for p in result.summary["top_processes"]}
    assert "first …" in commands and SECRET.encode() not in all_bytes_of_state(rt)
    named = rt.track("/usr/bin/python3", "-c", code, flags=["--redact-args"])
    assert f"short-{SECRET}"[:15] in {p["name"] for p in named.summary["top_processes"]}


def all_bytes_of_state(rt):
    return b"".join(p.read_bytes() for p in rt.state.rglob("*") if p.is_file())


@pytest.mark.native  # starts the program 1,102 times
def test_marks_are_bounded_and_on_one_line(rt):
    script = ('i=0; while [ $i -lt 1100 ]; do "$0" mark "n$i"; i=$((i + 1)); done; true')
    result = rt.track("sh", "-c", f'"$0" mark "{"x" * 300}"; "$0" mark "a\nb"; ' + script, rt.path)
    names = [mark["name"] for mark in result.summary["marks"]]
    assert len(names) == 1024
    assert names[0] == "x" * 127 and names[1] == "a b" and names[2] == "n0"


def test_a_mark_from_another_network_namespace_does_nothing(rt):
    result = rt.track("sh", "-c", f"{rt.path} mark inside; unshare --net {rt.path} mark outside")
    assert result.rc == 1 and "mark outside: cannot reach the tracker of the run" in result.stderr
    assert [mark["name"] for mark in result.summary["marks"]] == ["inside"]


@pytest.mark.native
def test_no_core_file_of_the_tracker_s_own(rt):
    script = f"ulimit -c unlimited; exec {rt.path} run -q -- sh -c 'kill -SEGV $$'"
    log = rt.home / "strace.log"
    done = rt.run("-f", "-e", "trace=setrlimit,prlimit64", "-o", log, "sh", "-c", script,
                  program="/usr/bin/strace")
    assert done.rc == -11
    tracker = log.read_text().split()[0]
    lines = [line for line in log.read_text().splitlines() if line.startswith(tracker + " ")]
    assert any("RLIMIT_CORE, {rlim_cur=0" in line for line in lines)
    assert lines[-1].endswith("+++ killed by SIGSEGV +++")


def test_a_forged_recording_shows_wrong_figures_and_no_more(rt):
    """Its check sums are right: a hostile writer can compute them, too."""
    rt.track("sleep", "0.3", flags=["-n", "JOBNAME"])
    [recording] = rt.state.glob("runs/*.rtrk")
    assert forging.crc32c(b"123456789") == 0xe3069283
    forged = rt.home / "forged.rtrk"
    forged.write_bytes(forging.with_text(recording.read_bytes(), "JOBNAME", "\x1b]0;xy\x07"))
    for args in (["show"], ["stats"], ["export"], ["recommend"], ["report", "-o", "-"],
                 ["server-info"]):
        result = rt.run(*args, forged)
        assert "damaged" not in result.stderr
        assert "\x1b" not in result.stdout + result.stderr, args
        assert "\x07" not in result.stdout + result.stderr, args


@pytest.mark.parametrize("id", ["../../x", "/tmp/x", "-x", "a b", "$(touch x)", ""])
def test_a_recording_whose_id_is_no_id_is_not_read(rt, id):
    """An id is part of the name of a report, and of command lines that are printed."""
    rt.track("sleep", "0.3", flags=["-n", "JOBNAME"])
    [recording] = rt.state.glob("runs/*.rtrk")
    data = forging.with_text(recording.read_bytes(), recording.stem.split("-", 1)[1], id)
    recording.write_bytes(forging.with_text(data, "JOBNAME", id))
    (rt.state / "history.sqlite").unlink()
    folder = rt.home / "deep" / "out"
    folder.parent.mkdir()
    rt.run("dashboard", "--static", f"{folder}/", cwd=folder.parent)
    assert {path.name for path in folder.parent.rglob("*")} <= {"out", "runs", "index.html"}
    shown = rt.run("report", recording, cwd=folder.parent)
    assert shown.rc == 1 and "damaged recording" in shown.stderr


def test_the_job_can_change_its_own_recording(rt):
    script = f"sleep 0.4; printf XX | dd of=$(echo {rt.state}/runs/*) bs=1 seek=40 conv=notrunc"
    assert rt.track("sh", "-c", script).rc == 0
    shown = rt.run("show")
    assert shown.rc == 1 and "damaged recording" in shown.stderr


@pytest.mark.native
def test_signals_go_to_the_tree_alone(rt):
    script = "trap '' TERM; sleep 30 & sleep 31 & wait; wait"
    result, lines = traced(rt, "kill,tkill,tgkill,pidfd_open,pidfd_send_signal,execve,fork,vfork,clone,clone3",
                           "run", "-q", "--timeout", "500ms", "--grace", "200ms", "--",
                           "sh", "-c", script)
    assert result.rc == 124
    processes = {line.split()[0] for line in lines}
    opened, targets = {}, set()  # descriptor -> pid
    for line in lines:
        if match := re.search(r"pidfd_open\((\d+), .* = (\d+)$", line):
            opened[match[2]] = match[1]
        elif match := re.search(r"pidfd_send_signal\((\d+), SIG", line):
            targets.add(opened[match[1]])
        elif match := re.search(r"(?:kill|tkill|tgkill)\(-?(\d+), SIG", line):  # or a group of that number
            targets.add(match[1])
    assert targets and targets <= processes, (targets, processes)
