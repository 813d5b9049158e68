"""Tests the verbs: what `help` lists, and that an old word of a verb answers as the new one."""

import re
import subprocess

import pytest

BUSY = ["/usr/bin/python3", "-c", "import time\nend = time.process_time() + 0.3\n"
        "while time.process_time() < end: sum(range(1000))"]
# The old words, and the new ones.
OLD = [
    (["ls"], ["history"]), (["ls", "-n", "1", "--json"], ["history", "-n", "1", "--json"]),
    (["prune", "--keep", "0", "--dry-run"], ["history", "prune", "--keep", "0", "--dry-run"]),
    (["stats"], ["show", "--stats"]), (["stats", "--json", "@"], ["show", "@", "--json", "--stats"]),
    (["servers", "--cpu", "4", "-n", "3"], ["catalog", "search", "--cpu", "4", "-n", "3"]),
    (["digest"], ["alerts", "digest"]), (
        ["internal", "digest", "--json", "--now", "1900000000"], ["internal", "alerts", "digest", "--json", "--now", "1900000000"]),
    (["server-info", "@"], ["machine", "@"]), (["server-info", "--json"], ["machine", "--json"]),
    (["cloud-info", "--no-discovery", "--json"], ["machine", "--cloud", "--no-discovery", "--json"]),
    (["stats", "--until", "1", "--since", "2"], ["show", "--stats", "--until", "1", "--since", "2"]),
    (["help", "servers"], ["help", "catalog", "search"]), (["prune", "--help"], ["history", "prune", "--help"]),
    (["--version"], ["version"]), (["-h"], ["help"]), (["--help", "show"], ["help", "show"]),
]


@pytest.fixture(scope="module")
def answers(rt_path, tmp_path_factory):
    """What a list of words prints, in a folder with one run."""
    from conftest import Tracker
    tracker = Tracker(rt_path, tmp_path_factory.mktemp("verbs"))
    for _ in range(2):
        assert tracker.run("run", "-q", "-n", "job", "--no-discovery", "--lines", "200", "--", *BUSY).rc == 0

    def answer(words):
        done = tracker.run(*words)
        return done.rc, done.stdout, done.stderr
    return answer


@pytest.mark.parametrize("old, new", OLD, ids=lambda words: " ".join(words))
def test_an_old_word_answers_as_the_new_one(answers, old, new):
    assert answers(old) == answers(new)
    assert answers(old)[1] or answers(old)[0] == 2


def test_an_old_word_is_not_listed(answers):
    listed = answers(["help"])[1]
    for old in "ls", "prune", "stats", "servers", "digest", "server-info", "cloud-info":
        assert f"\n  {old} " not in listed


def test_the_doctor_has_the_check_of_the_installation(rt):
    done, part = rt.run("doctor"), rt.run("self", "check")
    assert done.rc == part.rc == 0
    assert "tracked job  ran, was recorded and read back" in part.stdout
    measured, installed = done.stdout.split("\n\n")
    assert installed.splitlines()[0] == part.stdout.splitlines()[0] and "memory as PSS" in measured


@pytest.mark.parametrize("words, said", [
    (["show", "--since", "1"], "show: --since and --until need --stats"),
    (["machine", "--cloud", "@"], "machine: --cloud is of this machine, not of a run. Try: resource-tracker show --json"),
    (["catalog"], "catalog: needs one of: info, search, update. Try: resource-tracker catalog --help"),
    (["self"], "self: needs install DIR. Try: resource-tracker self --help"),
    (["history", "prune", "b"], "history prune: unexpected b. Try: resource-tracker history prune --help"),
])
def test_a_verb_names_what_it_lacks(rt, words, said):
    done = rt.run(*words)
    assert (done.rc, done.stderr, done.stdout) == (2, f"resource-tracker: {said}\n", "")


def verbs(answers):
    """Every verb that `help all` lists."""
    return re.findall(r"^  ([a-z][a-z -]*?)  ", answers(["help", "all"])[1].split("\n\n")[0], re.M)


def test_the_help_fits_a_small_terminal_and_that_of_a_verb_40_lines(answers):
    shown = answers(["help"])[1]
    assert len(shown.splitlines()) <= 24 and max(map(len, shown.splitlines())) <= 100
    listed = re.findall(r"^  ([a-z]+)  ", shown, re.M)
    assert len(listed) == 20 and listed[:3] == ["run", "show", "report"]
    assert set(listed) | {"help"} < set(verbs(answers)) and len(verbs(answers)) == 28
    for verb in verbs(answers):
        text = answers(["help", *verb.split()])[1]
        assert len(text.splitlines()) <= 40, verb
        assert verb in ("help", "version") or text == answers([*verb.split(), "--help"])[1], verb


def test_help_all_has_what_the_help_of_a_verb_leaves_out(answers):
    everything = answers(["help", "all"])[1]
    for verb in verbs(answers):
        short, full = answers(["help", *verb.split()])[1], answers(["help", "all", *verb.split()])[1]
        assert full in everything
        assert ("\nmore: resource-tracker help all" in short) == (len(full.splitlines()) > len(short.splitlines())), verb
    assert "--project-name" in everything and "--project-name" not in answers(["help", "run"])[1]


def test_the_example_of_each_verb_works_as_it_is(rt, rt_path):
    """In the order of the help, in a folder of its own, with the program in PATH."""
    (rt.home / "bin").mkdir()
    (rt.home / "bin/resource-tracker").symlink_to(rt_path)
    env = {**rt.env, "PATH": f"{rt.home}/bin:{rt.env['PATH']}"}
    for _ in range(2):
        assert rt.run("run", "-q", "-n", "job", "--lines", "200", "--", *BUSY).rc == 0
    names = re.findall(r"^  ([a-z][a-z -]*?)  ", rt.run("help", "all").stdout.split("\n\n")[0], re.M)
    for verb in names:
        examples = re.findall(r"^  ((?:TRACKER_\S+ |eval \"\$\()?resource-tracker .*)$", rt.run("help", *verb.split()).stdout, re.M)
        if verb == "metaflow":  # needs a flow that was tracked
            continue
        assert len(examples) == 1, verb
        if verb == "lines":
            assert rt.run("run", "-q", "-n", "job", "--lines", "200", "--", *BUSY).rc == 0
        done = subprocess.run(["bash", "-c", f"{examples[0]}\nexit $?"], env=env, cwd=rt.home, capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, (examples[0], done.stderr)


@pytest.mark.parametrize("topic, part", [("runs", "@2"), ("sizes", "powers of 1024"), ("columns", "process_cpu_usage"),
                                         ("man", ".TH RESOURCE")])
def test_a_topic_is_explained(rt, topic, part):
    assert part in rt.run("help", topic).stdout


# The names that go with an option of a verb, as before.
OTHER_NAMES = [
    (["show", "--plain", "@"], ["show", "--color", "plain", "@"]),
    (["export", "--gpus", "@"], ["export", "--what", "gpus", "@"]),
    (["export", "--columns", "0.4", "--table", "system", "@"], ["export", "--columns", "0.4-system", "@"]),
    (["compare", "--markdown", "@"], ["compare", "--format", "md", "@"]),
    (["catalog", "search", "--limit", "3"], ["catalog", "search", "--number", "3"]),
    (["lines", "--wall", "--top", "3", "@"], ["lines", "--sort", "wall", "-n", "3", "@"]),
    (["lines", "--memory", "--plain", "@"], ["lines", "--sort", "memory", "--color", "plain", "@"]),
    (["dashboard", "--static", "-", "--reports", "1", "--as-of", "2030-01-01"],
     ["dashboard", "--static", "-", "--number", "1", "--as-of", "2030-01-01"]),
]


@pytest.mark.parametrize("old, new", OTHER_NAMES, ids=lambda words: " ".join(words))
def test_an_option_that_help_all_lists_alone_obeys(answers, old, new):
    assert answers(old) == answers(new) and answers(old)[0] == 0


def test_the_other_names_of_run_obey(rt):
    for words in ["--no-recording"], ["--recording", "none"]:
        assert rt.run("run", "-q", *words, "--", "true").rc == 0
        assert not (rt.state / "runs").exists()
    for words in ["--plain"], ["--color", "plain"]:
        done = rt.run("run", *words, "--", "true", env={"CLICOLOR_FORCE": "1", "LC_ALL": "C.UTF-8"})
        assert done.stderr.isascii() and "\033" not in done.stderr
    for words in ["--timeout", "0.2s"], ["--limit", "time=0.2s"]:
        assert rt.run("run", "-q", *words, "--", "sleep", "60").rc == 124


def test_what_another_name_stands_for_is_an_option_of_the_verb(answers):
    for verb in verbs(answers):
        full = answers(["help", "all", *verb.split()])[1]
        for other in re.findall(r"same as --([a-z-]+)", full):
            assert re.search(rf"^  (-\w,|   ) --{other}\b", full, re.M), (verb, other)
