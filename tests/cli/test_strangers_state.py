"""Tests docs/security.md with two users: state directories and caches that another user may have written."""

import hashlib
import os
import pathlib
import shutil
import stat

import pytest
from strangers import STRANGER, VERBS, VICTIM, User, fall_back, one_line

# ---- the state directory ----


def a_directory_of_the_stranger_s(stranger, path):
    stranger.sh(f"umask 0; mkdir -p {path}/runs")


def a_link_of_the_stranger_s(stranger, path):
    stranger.sh(f"umask 0; mkdir -p trap/runs; ln -s {stranger.home}/trap {path}")


def a_file_of_the_stranger_s(stranger, path):
    stranger.sh(f"touch {path}")


@pytest.mark.parametrize("plant", [a_directory_of_the_stranger_s, a_link_of_the_stranger_s,
                                   a_file_of_the_stranger_s], ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", ["/tmp", "XDG_STATE_HOME"])
def test_a_state_directory_that_another_user_made_is_not_used(world, victim, stranger, plant,
                                                              place):
    env = fall_back(victim)
    path = pathlib.Path(f"/tmp/resource-tracker-{VICTIM}")
    if place != "/tmp":
        env["XDG_STATE_HOME"] = world.shared
        path = world.shared / "resource-tracker"
    plant(stranger, path)
    result = victim.track(env=env)
    assert result.returncode == 7
    one_line(result.stderr, str(path), "no recordings are kept or read there",
             "Try: --recording DIR")
    assert victim.track("--strict", env=env).returncode == 125
    for verb in VERBS:
        result = victim.rt(*verb, env=env)
        assert result.returncode in (1, 4), (verb, result)
        assert result.stdout == ""
        one_line(result.stderr, str(path))
    written = [p for p in [*path.rglob("*"), *stranger.home.rglob("*")] if p.is_file()]
    assert written == []
    # Named, it is used.
    assert victim.track("--recording", victim.home / "own", env=env).stderr == ""


def test_the_victim_s_history_is_not_written_into_a_foreign_database(world, victim, stranger):
    """The directory is the stranger's and everybody may write to it, as the database."""
    env = fall_back(victim)
    stranger.track("--recording", f"/tmp/resource-tracker-{VICTIM}")
    stranger.rt("history", "--recording", f"/tmp/resource-tracker-{VICTIM}")
    stranger.sh(f"chmod -R a+rwX /tmp/resource-tracker-{VICTIM}")
    before = pathlib.Path(f"/tmp/resource-tracker-{VICTIM}/history.sqlite").read_bytes()
    victim.track("-n", "secret", env=env)
    assert victim.rt("history", env=env).returncode == 4
    assert victim.rt("prune", "--keep", "0", env=env).returncode == 4
    assert pathlib.Path(f"/tmp/resource-tracker-{VICTIM}/history.sqlite").read_bytes() == before
    assert len(list(pathlib.Path(f"/tmp/resource-tracker-{VICTIM}/runs").iterdir())) == 1


@pytest.mark.parametrize("verb", [["history"], ["show"], ["run", "-q", "--", "true"]])
def test_the_directory_in_tmp_is_made_at_the_first_look(victim, stranger, verb):
    """So that nobody else can make it between the look and the use."""
    victim.rt(*verb, env=fall_back(victim))
    path = pathlib.Path(f"/tmp/resource-tracker-{VICTIM}")
    assert path.stat().st_uid == VICTIM and stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stranger.execute("ls", path).returncode != 0
    assert victim.track(env=fall_back(victim)).stderr == ""
    assert victim.rt("history", env=fall_back(victim)).stderr == ""


def test_a_page_of_a_run_that_cannot_be_recorded_asks_for_another_directory(victim):
    assert victim.track().stderr == ""
    victim.state.chmod(0o777)
    for flags in (["--report"], ["--report=page.html"]):
        result = victim.track(*flags)
        lines = result.stderr.splitlines()
        assert result.returncode == 7 and len(lines) == 2, result
        assert lines[1] == ("resource-tracker: --report: there is no recording to make it from. "
                            "Try: --recording DIR")
    asked = victim.track("--report", "--no-recording").stderr
    one_line(asked, "Try: without --no-recording")
    assert not (victim.home / "page.html").exists()


@pytest.mark.parametrize("what", ["", "runs"])
def test_a_state_directory_that_others_may_write_to_is_not_used(victim, what):
    assert victim.track().stderr == ""
    (victim.state / what).chmod(0o777)
    result = victim.track()
    assert result.returncode == 7
    one_line(result.stderr, "other users may write to", str(victim.state), "mode 0777")
    assert len(list(victim.runs.iterdir())) == 1
    one_line(victim.rt("history").stderr, "other users may write to")


# ---- caches ----


@pytest.mark.parametrize("name", ["prices.tsv", "update.tsv", "prices.tsv"])
@pytest.mark.parametrize("kind", ["theirs", "fifo", "link", "directory of theirs"])
def test_prices_that_another_user_may_have_written_are_ignored(world, victim, stranger, name, kind):
    env = {"XDG_CACHE_HOME": world.shared}
    cache = victim.folder(world.shared / "resource-tracker")
    usual = victim.rt("servers", "--vcpus", "2", "--json", env=env)
    assert usual.returncode == 0 and usual.stderr == ""
    path = cache / name
    if kind == "fifo":
        os.mkfifo(path)
        os.chown(path, VICTIM, VICTIM)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    else:
        stranger.put(path, "not prices\n")
    if kind == "directory of theirs":
        os.chown(cache, STRANGER, STRANGER)
    result = victim.rt("servers", "--vcpus", "2", "--json", env=env)
    assert result.returncode == 0 and result.stdout == usual.stdout
    one_line(result.stderr, "prices in", "are ignored")


def test_prices_are_not_kept_where_another_user_may_read_or_write_them(world, victim, stranger):
    env = {"XDG_CACHE_HOME": world.shared}
    text = ("catalogue\t1\t2026-11-01\nsource\timport\t2026-11-01\town\tprices of this site\n"
            "prices\taws\tus-east-1\timport\t2026-11-01\tnegotiated\n\tm5.large\t0.05\nend\n")
    update = ["catalog", "update", "--from", victim.put(victim.home / "built.tsv", text),
              "--sha256", hashlib.sha256(text.encode()).hexdigest()]
    kept = victim.rt(*update, env=env)
    assert kept.returncode == 0, kept.stderr
    file = world.shared / "resource-tracker/prices.tsv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    shutil.rmtree(file.parent)
    stranger.sh(f"umask 0; mkdir {file.parent}")
    refused = victim.rt(*update, env=env)
    assert refused.returncode == 1 and list(file.parent.iterdir()) == []
    assert "cannot write: " in refused.stderr and "belongs to another user" in refused.stderr


@pytest.mark.parametrize("kind", ["theirs", "fifo", "link", "writable"])
def test_a_cloud_that_another_user_has_written_down_is_not_taken(world, victim, stranger, kind):
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    text = f"resource-tracker cloud 1\n{boot}aws\neu-west-1\n\nm5.large\nondemand\n\n"
    env = {"TRACKER_NO_DISCOVERY": None, "RESOURCE_TRACKER_METADATA": "127.0.0.1:9"}
    victim.track()
    path = victim.put(victim.state / "cloud", text, 0o600)
    assert "m5.large" in victim.rt("cloud-info", env=env).stdout
    if kind == "theirs":
        os.chown(path, STRANGER, STRANGER)
    elif kind == "writable":
        path.chmod(0o666)
    else:
        path.unlink()
        target = stranger.put(stranger.home / "cloud", text)
        path.symlink_to(target) if kind == "link" else os.mkfifo(path)
    assert "m5.large" not in victim.rt("cloud-info", env=env).stdout


@pytest.mark.parametrize("kind", ["theirs", "fifo"])
def test_installed_scores_are_read_whoever_owns_them(world, victim, stranger, kind):
    """They lie beside the program, which the user trusts already."""
    share = world.base / "share/resource-tracker"
    question = ["servers", "--vcpus", "64", "--json"]
    without = victim.rt(*question).stdout
    share.mkdir(parents=True)
    if kind == "fifo":
        os.mkfifo(share / "sparecores.tsv")
        assert victim.rt(*question).stdout == without
        return
    scores = pathlib.Path(__file__).resolve().parents[2] / "data/sparecores.tsv"
    stranger.put(share / "sparecores.tsv", scores.read_text(encoding="utf-8"), 0o666)
    result = victim.rt(*question)
    assert result.returncode == 0 and result.stderr == "" and result.stdout != without


# ---- homes as they are elsewhere ----


def test_a_home_behind_a_link_is_used(world, victim):
    os.rename(victim.home, world.base / "data")
    victim.home.symlink_to(world.base / "data")  # root's, as /home may be
    assert victim.track().stderr == ""
    assert "sh" in victim.rt("history").stdout
    assert (victim.runs.parent / "history.sqlite").exists()


def test_the_state_directory_itself_is_no_link_unless_it_is_named(victim):
    real = victim.folder(victim.home / "real", 0o700)
    victim.sh(f"mkdir -p {victim.state.parent}; ln -s {real} {victim.state}")
    one_line(victim.track().stderr, "is a symbolic link", "no recordings are kept")
    for args, env in ((["--recording", victim.state], {}),
                      ([], {"RESOURCE_TRACKER_DIR": victim.state})):
        assert victim.track(*args, env=env).stderr == ""
    assert len(list((real / "runs").iterdir())) == 2
    assert victim.rt("history", "--recording", victim.state).stderr == ""


def test_root_with_the_home_of_a_user_records_nothing_there(world, victim):
    """sudo -E: what root would leave there, the user could not read."""
    root = User(world, 0)
    assert victim.track().stderr == ""
    result = root.track(env={"HOME": victim.home})
    assert result.returncode == 7
    one_line(result.stderr, f"{victim.home} belongs to another user (uid {VICTIM})")
    assert len(list(victim.runs.iterdir())) == 1


@pytest.mark.parametrize("mapping", ["--map-root-user", "--map-current-user"])
def test_a_user_namespace_in_which_root_is_not_mapped(world, victim, mapping):
    """There / belongs to nobody, in many containers without privileges."""
    probe = victim.execute("unshare", "--user", mapping, "true")
    if probe.returncode:
        pytest.skip(f"no user namespaces here: {probe.stderr.strip()}")
    victim.put(victim.home / "resource-tracker.toml", 'job = "named"\n')

    def inside(*args):
        return victim.execute("unshare", "--user", mapping, world.program, *args)

    result = inside("run", "--summary", "never", "--", "sh", "-c", "exit 7")
    assert (result.returncode, result.stderr) == (7, "")
    result = inside("history")
    assert "named" in result.stdout and result.stderr == ""
    # Whose file it is cannot be told there.
    os.chown(victim.home / "resource-tracker.toml", STRANGER, STRANGER)
    one_line(inside("config").stderr, "belongs to another user (uid 65534)")
