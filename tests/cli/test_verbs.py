"""Tests the verbs: what `help` lists, and that an old word of a verb answers as the new one."""

import pytest

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
    assert tracker.run("run", "-q", "-n", "job", "--no-discovery", "--", "sleep", "0.1").rc == 0

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
