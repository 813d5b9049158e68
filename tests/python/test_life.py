"""Tests trackers in threads, forked processes and workers, killed interpreters, and programs that cannot be
executed."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from resource_tracker import _engine

PROGRAM = "resource-tracker"


def samplers(folder_of=None, workers=False):
    """Pids of sampling programs, as /proc tells; with `workers` also of the processes that they start for themselves."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            is_worker = (entry / "comm").read_text().startswith("rt-")
        except OSError:
            continue
        if words[0].endswith(PROGRAM.encode()) and b"--control-fd" in words and workers >= is_worker and (
                folder_of is None or any(str(folder_of).encode() == w for w in words)):
            found.append(int(entry.name))
    return found


def gone(pid, timeout=120, workers=False):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if not samplers(pid, workers):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("program", ["", "/none"], ids=["process", "thread"])
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forked"])
def test_a_daemon_that_closes_all_descriptors_keeps_its_new_files(script, program, forks):
    """They get the numbers that the tracker and the counters of now had."""
    out = script.output(f"""
        import os, socket, time
        if {program!r}:
            os.environ["RESOURCE_TRACKER_BIN"] = {program!r}
        from resource_tracker import ResourceTracker
        from resource_tracker.tracker_procfs import get_process_stats, get_system_stats
        tracker = ResourceTracker(interval=0.05, discover_cloud=False)
        tracker.wait_for_samples(3, timeout=120)
        get_process_stats(os.getpid()), get_system_stats()
        child = os.fork() if {forks} else 0
        if child:
            assert os.waitpid(child, 0)[1] == 0
            assert tracker.running
            before = tracker.n_samples
            tracker.wait_for_samples(before + 2, timeout=120)
            tracker.stop()
            assert tracker.totals()["cpu_s"]["value"] > 0
            print("parent")
            os._exit(0)
        os.closerange(3, 1000)
        held = [open(f"log{{i}}", "w+") for i in range(100)]
        pairs = [socket.socketpair() for _ in range(20)]
        time.sleep(0.3)
        assert not tracker.running and tracker.n_samples >= 0
        memory = get_process_stats(os.getpid(), schema="0.5")["memory_mib"]
        assert memory > 1 and get_system_stats()["processes"] > 1
        tracker.mark("not here")
        tracker.stop()
        tracker.totals(), tracker.snapshot()
        tracker.cleanup()
        del tracker
        assert [os.fstat(file.fileno()).st_size for file in held] == [0] * 100
        for pair in pairs:
            for end in pair:
                end.setblocking(False)
                try:
                    raise SystemExit(f"{{end.recv(100)}} came to a socket of the job")
                except BlockingIOError:
                    pass
        print("child", flush=True)
        os._exit(0)
    """, env={**os.environ, "TRACKER_NO_DISCOVERY": "1"})
    assert out.split() == (["child", "parent"] if forks else ["child"])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_of_multiprocessing_leaves_no_recording(script, method):
    """A forked worker ends without the exit handlers of the interpreter."""
    out = script.output(f"""
        import multiprocessing, os
        from resource_tracker import ResourceTracker

        def work(stops):
            global kept
            kept = ResourceTracker(interval=0.05, discover_cloud=False)
            kept.wait_for_samples(2, timeout=120)
            if stops:
                kept.stop()
            return kept._tracker.recording

        if __name__ == "__main__":
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                paths = pool.map(work, [True, False], chunksize=1)
                pool.close()
                pool.join()
            print(*paths)
    """)
    end = time.monotonic() + 120
    left = out.split()
    assert len(left) == 2
    while left and time.monotonic() < end:
        left = [path for path in left if os.path.exists(os.path.dirname(path))]
        time.sleep(0.02)
    assert left == []


def test_without_proc_the_error_says_so(script):
    """An empty file system over /proc, in a mount namespace of its own."""
    code, out, err = script.run("""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(0x00020000) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0
        assert libc.mount(b"none", b"/proc", b"tmpfs", 0, None) == 0
        from resource_tracker import ResourceTracker, track

        @track
        def work():
            return 42

        assert work() == 42 and work.tracker is None
        ResourceTracker()
    """)
    assert code == 1 and "FileNotFoundError: [Errno 2] /proc does not show this process" in err, out + err


def test_import_is_cheap_and_loads_nothing(script):
    out = script.output("""
        import sys
        before = set(sys.modules)
        import resource_tracker
        assert resource_tracker.__all__
        print(sorted(set(sys.modules) - before))
    """)
    assert out.strip() == "['resource_tracker']"


def test_every_public_name(script):
    out = script.output("""
        import resource_tracker
        for name in dir(resource_tracker):
            getattr(resource_tracker, name)
        from resource_tracker import *
        from resource_tracker import (cloud_info, column_maps, dummy_workloads, helpers, keeper,
                                      nvidia, report, server_info, tiny_bars, tiny_data_frame,
                                      tracker, tracker_procfs, tracker_psutil)
        assert callable(get_cloud_info) and callable(resource_tracker.get_server_info)
        assert resource_tracker.logger.name == "resource_tracker"
        try:
            resource_tracker.nothing
        except AttributeError as error:
            print(error)
    """)
    assert out.strip() == "module 'resource_tracker' has no attribute 'nothing'"


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_interpreter_leaves_no_sampler(script, sign):
    process = script.start("""
        import time
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(2, timeout=120)
        print(t._tracker.recording, flush=True)
        time.sleep(60)
    """)
    folder = pathlib.Path(process.stdout.readline().strip()).parents[1]
    assert folder.parent == pathlib.Path("/tmp") and list(folder.glob("runs/*.rtrk"))
    assert len(samplers(process.pid)) == 1
    process.send_signal(sign)
    # Its pipes close with it: the sampler holds none of them.
    assert process.communicate(timeout=120)[0] == ""
    assert process.returncode == -sign
    assert gone(process.pid, workers=True)
    assert not folder.exists()


def test_a_command_substitution_ends_with_the_job():
    out = subprocess.run(
        ["sh", "-c", f'x=$({sys.executable} -c "from resource_tracker import ResourceTracker;'
         'import os, signal; t = ResourceTracker(); os.kill(os.getpid(), signal.SIGKILL)"); '
         'echo ended'],
        capture_output=True, text=True, timeout=120, check=True)
    assert out.stdout == "ended\n"


def test_a_recording_that_has_a_place_stays_when_its_interpreter_is_killed(script, tmp_path):
    process = script.start(f"""
        import time
        from resource_tracker import _engine
        t = _engine._core.Tracker(program=_engine.program(), interval=0.05, dir={str(tmp_path)!r})
        t.wait(3, 120)
        print("ready", flush=True)
        time.sleep(60)
    """)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    assert gone(process.pid)
    from resource_tracker import _core

    (recording,) = tmp_path.glob("runs/*.rtrk")
    assert _core.Recording(str(recording)).rows >= 2


def test_ctrl_c_that_the_job_handles_does_not_end_sampling(script):
    process = script.start("""
        import time
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(2, timeout=120)
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
        before = t.n_samples
        t.wait_for_samples(before + 3, timeout=120)
        t.stop()
        print(t.n_samples >= before + 3)
    """, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out == "True\n", err


def test_ctrl_c_interrupts_waiting(script):
    process = script.start("""
        from resource_tracker import ResourceTracker
        t = ResourceTracker()
        print("ready", flush=True)
        try:
            t.wait_for_samples(10**6, timeout=600)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "interrupted\n"


def test_the_job_has_no_strange_children_threads_or_descriptors(script):
    out = script.output("""
        import json, multiprocessing, os, threading
        before = set(os.listdir("/proc/self/fd"))
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(3, timeout=120)
        try:
            os.waitpid(-1, os.WNOHANG)
            children = "some"
        except ChildProcessError:
            children = "none"
        fds = set(os.listdir("/proc/self/fd")) - before
        inheritable = [fd for fd in fds if os.path.exists(f"/proc/self/fd/{fd}")
                       and os.get_inheritable(int(fd))]
        t.stop()
        t.cleanup()
        print(json.dumps([children, threading.active_count(), len(os.listdir("/proc/self/task")),
                          len(multiprocessing.active_children()), len(fds) <= 2, inheritable,
                          max(t.process_metrics["children"])]))
    """)
    assert json.loads(out) == ["none", 1, 1, 0, True, [], 0]


def test_nothing_stays_in_the_temporary_folder(script):
    out = script.output("""
        import os
        from resource_tracker import ResourceTracker
        a, b = ResourceTracker(interval=0.05), ResourceTracker(interval=0.05)
        a.wait_for_samples(2, timeout=120)
        a.stop()
        print(a._tracker.recording, b._tracker.recording)
    """)
    for path in out.split():
        assert path.startswith("/tmp/") and not os.path.exists(os.path.dirname(path))


def age(folder, age_s):
    """As a folder of a recording that was last written then."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "runs" / "1.rtrk").write_text("x")
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (time.time() - age_s,) * 2)
    return folder


def left_over(age_s, place="/tmp"):
    return age(pathlib.Path(_engine.new_folder(str(place))), age_s)


def sweep(script, place):
    script.output(f"""
        from resource_tracker import ResourceTracker, _engine
        assert _engine._temporary() == "/tmp"
        _engine._temporary = lambda: {str(place)!r}
        ResourceTracker().stop()
    """)


def test_what_a_killed_interpreter_left_is_removed_a_day_later(script, tmp_path):
    old, new = (left_over(hours * 3600, tmp_path) for hours in (25, 23))
    busy = left_over(25 * 3600, tmp_path)
    (busy / "runs" / "2.rtrk").write_text("x")
    sweep(script, tmp_path)
    assert new.exists() and busy.exists() and not old.exists()


def test_the_library_marks_its_temporary_folder(script):
    out = script.output("""
        import os
        from resource_tracker import ResourceTracker
        with ResourceTracker(interval=0.05) as t:
            t.wait_for_samples(1, timeout=120)
            folder = os.path.dirname(os.path.dirname(t._tracker.recording))
            with open(os.path.join(folder, ".temporary")) as mark:
                print(mark.read() == os.path.basename(folder))
    """)
    assert out == "True\n"


def test_folders_of_the_user_are_kept(script, tmp_path):
    """RESOURCE_TRACKER_DIR=/tmp/resource-tracker-thesis, the folder of a user without a home, a copy of a
    temporary folder, and one whose mark is a link."""
    folders = [age(tmp_path / f"resource-tracker-{name}", 48 * 3600) for name in ("thesis", "12345678", os.getuid())]
    made = left_over(48 * 3600, tmp_path)
    folders.append(tmp_path / "resource-tracker-copied")
    shutil.copytree(made, folders[-1])
    age(folders[-1], 48 * 3600)
    (folders[0] / ".temporary").symlink_to(tmp_path / "mark")
    (tmp_path / "mark").write_text(folders[0].name)
    age(folders[0], 48 * 3600)
    sweep(script, tmp_path)
    assert all((folder / "runs/1.rtrk").exists() for folder in folders) and not made.exists()


def test_after_a_fork_the_tracker_is_the_parents(script):
    out = script.output("""
        import os
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(2, timeout=120)
        pid = os.fork()
        if pid == 0:
            assert not t.running
            t.stop()
            assert len(t.process_metrics) >= 2
            with ResourceTracker(interval=0.05) as own:
                own.wait_for_samples(2, timeout=120)
            assert set(own.process_metrics["pid"]) == {os.getpid()}
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        n = t.n_samples
        t.wait_for_samples(n + 2, timeout=120)
        t.stop()
        print(status, t.n_samples > n)
    """)
    assert out == "0 True\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_in_multiprocessing_workers(script, method):
    out = script.output(f"""
        import multiprocessing, os, warnings
        warnings.simplefilter("error")
        from resource_tracker import ResourceTracker

        def work(n):
            with ResourceTracker(interval=0.05) as t:
                t.wait_for_samples(2, timeout=120)
            return t.n_samples >= 2 and set(t.process_metrics["pid"]) == {{os.getpid()}}

        if __name__ == "__main__":
            t = ResourceTracker(interval=0.05)
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                print(pool.map(work, range(4)))
            t.stop()
    """)
    assert out == "[True, True, True, True]\n"


def test_in_threads_at_once(script):
    out = script.output("""
        from concurrent.futures import ThreadPoolExecutor
        from resource_tracker import ResourceTracker
        shared = ResourceTracker(interval=0.05)

        def work(n):
            t = ResourceTracker(interval=0.05)
            t.wait_for_samples(2, timeout=120)
            shared.n_samples, shared.get_combined_metrics(), shared.mark(str(n))
            t.stop()
            return t.n_samples >= 2

        with ThreadPoolExecutor(6) as pool:
            print(all(pool.map(work, range(12))))
        shared.stop()
        print(shared.n_samples > 2)
    """)
    assert out == "True\nTrue\n"


def test_stop_is_bounded_when_the_sampler_hangs(script):
    process = script.start("""
        import logging, sys, time
        logging.basicConfig(stream=sys.stdout, format="%(message)s")
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(2, timeout=120)
        print("ready", flush=True)
        sys.stdin.readline()
        t.stop()
        print(t.n_samples >= 2, flush=True)
        t.cleanup()
    """, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    (pid,) = samplers(process.pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("The sampler did not end in time")
        assert process.stdout.readline() == "True\n"
    finally:
        os.kill(pid, signal.SIGKILL)
        process.kill()
        process.communicate()


def test_a_killed_sampler_is_told_and_keeps_what_was_sampled(script):
    process = script.start("""
        import logging, sys
        logging.basicConfig(stream=sys.stdout, format="%(levelname)s")
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(3, timeout=120)
        print("ready", flush=True)
        sys.stdin.readline()
        print(t.running, flush=True)
        t.stop()
        print(t.n_samples >= 3, flush=True)
    """, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    os.kill(samplers(process.pid)[0], signal.SIGKILL)
    assert gone(process.pid)
    out = process.communicate("\n", timeout=120)[0].splitlines()
    assert out[0] == "False" and out[-1] == "True"


# ---- where nothing can be executed ----

FALLBACK = """
    import logging, os, sys
    logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message).36s")
    {setup}
    from resource_tracker import ResourceTracker, _engine
    t = ResourceTracker(interval=0.05)
    end = os.times().user + 0.3
    while os.times().user < end:
        pass
    t.wait_for_samples(4, timeout=120)
    t.stop()
    stats = t.stats()
    print(type(t._tracker).__module__, t.n_samples >= 4, stats["process_cpu_usage"]["max"] > 0.02,
          0.2 < sum(t.process_metrics["utime"]) < 3, t.system_metrics["memory_used"][0] > 1000,
          t.process_metrics["memory"][0] > 1000, len(t.get_combined_metrics().columns),
          t.server_info["allocation"] in ("shared", "dedicated"), len(t.report()) > 1000)
"""


IN_A_THREAD = ["WARNING Sampling in a thread of this process",
               "resource_tracker._core True True True True True 32 True True"]
IN_PYTHON = "resource_tracker._pure True True True True True 32 True True"


@pytest.mark.parametrize("content, mode", [
    (b"", 0o644),                           # may not be executed
    (b"#!/nowhere/ld-musl.so.1\n", 0o755),  # of a C library that is not here
    (b"\x7fELF" + b"\0" * 100, 0o755),      # of another machine
    (b"#!/bin/false\n", 0o755),             # ends at once
    (None, 0),                              # not there
])
def test_without_a_program_a_thread_samples(script, tmp_path, content, mode):
    program = tmp_path / "program"
    if content is not None:
        program.write_bytes(content)
        program.chmod(mode)
    out = script.output(FALLBACK.format(
        setup=f"os.environ['RESOURCE_TRACKER_BIN'] = '{program}'")).splitlines()
    assert out == IN_A_THREAD


# execve() and execveat() are refused by a filter of system calls, as in a sandbox.
SECCOMP = """import ctypes, platform, struct
    first, second = (59, 322) if platform.machine() == "x86_64" else (221, 281)
    load, if_equal, answer = 0x20, 0x15, 0x06
    code = [(load, 0, 0, 0), (if_equal, 2, 0, first), (if_equal, 1, 0, second),
            (answer, 0, 0, 0x7fff0000), (answer, 0, 0, 0x00050001)]   # allow; EPERM
    words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(words))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
    try:
        os.execv("/bin/true", ["true"])
    except PermissionError:
        pass
"""


def test_where_no_program_may_be_executed_a_thread_samples(script):
    out = script.output(FALLBACK.format(setup=SECCOMP)).splitlines()
    assert out == IN_A_THREAD


def test_without_the_library_python_samples(script):
    out = script.output(FALLBACK.format(
        setup="sys.modules['resource_tracker._core'] = None")).splitlines()
    assert out[-1] == IN_PYTHON


def copy_of_the_package(folder):
    import resource_tracker

    shutil.copytree(pathlib.Path(resource_tracker.__file__).parent, folder / "resource_tracker")
    return f"sys.path.insert(0, {str(folder)!r})"


def test_a_package_of_another_machine_samples_in_python(script, tmp_path):
    setup = copy_of_the_package(tmp_path)
    native = tmp_path / "resource_tracker/native"
    (native / os.uname().machine).rename(native / "other")
    out = script.output(FALLBACK.format(setup=setup), env={**os.environ, "PATH": "/nowhere"})
    assert out.splitlines()[-1] == IN_PYTHON


def test_a_package_on_a_mount_without_exec_samples_in_python(script, tmp_path):
    import textwrap

    folder = tmp_path / "mount"
    folder.mkdir()
    (tmp_path / "package").mkdir()
    copy_of_the_package(tmp_path / "package")
    (tmp_path / "script.py").write_text(textwrap.dedent(
        FALLBACK.format(setup=f"sys.path.insert(0, {str(folder)!r})")))
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c",
         'mount -t tmpfs -o noexec none "$1" && cp -R "$2"/. "$1" && PATH=/nowhere exec "$0" "$3"',
         sys.executable, folder, tmp_path / "package", tmp_path / "script.py"],
        capture_output=True, text=True, timeout=120, check=False)
    if "Operation not permitted" in done.stderr or "permission denied" in done.stderr:
        return  # no right to a name space here
    assert done.stdout.splitlines()[-1:] == [IN_PYTHON], done.stderr


@pytest.mark.parametrize("folders", [["/tmp"], ["/tmp", "/dev/shm", "/var/tmp"]])
def test_without_a_temporary_folder_sampling_goes_on(folders):
    """/tmp is not writable, as it is in a mount name space of its own. Then none is."""
    text = """
        import sys
        from resource_tracker import ResourceTracker
        t = ResourceTracker(interval=0.05)
        t.wait_for_samples(3, timeout=120)
        t.stop()
        print(t.n_samples >= 3)
    """
    import textwrap

    # The interpreter may lie below one of them: they stay as they are, but read-only.
    seal = "".join(f"mount --bind {f} {f} && mount -o remount,bind,ro {f} && " for f in folders)
    home = "export HOME=/proc && " if len(folders) > 1 else ""
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{seal}{home}exec "$0" -c "$1"', sys.executable,
         textwrap.dedent(text)],
        capture_output=True, text=True, timeout=120, check=False)
    if "Operation not permitted" in done.stderr or "permission denied" in done.stderr:
        return  # no right to a name space here
    assert done.stdout == "True\n", done.stderr


def test_python_dash_m(tmp_path):
    out = subprocess.run([sys.executable, "-m", "resource_tracker", "run", "--quiet", "--recording",
                          tmp_path, "--", "sh", "-c", "exit 3"], capture_output=True, text=True,
                         timeout=120, check=False)
    assert out.returncode == 3, out.stderr
    out = subprocess.run([sys.executable, "-m", "resource_tracker", "version"],
                         capture_output=True, text=True, timeout=120, check=True)
    import resource_tracker

    assert resource_tracker.__version__ in out.stdout
    script = pathlib.Path(sys.executable).parent / "resource-tracker"
    assert subprocess.run([script, "version"], capture_output=True, text=True, timeout=120,
                          check=True).stdout == out.stdout


SOMEBODY_ELSE = """
import sys
from resource_tracker import ResourceTracker
from resource_tracker.tracker_procfs import get_process_stats

pid = int(sys.argv[1])
now = get_process_stats(pid)
tracker = ResourceTracker(pid=pid, interval=0.05)
tracker.wait_for_samples(3, timeout=120)
tracker.stop()
print(now["utime"] + now["stime"] > 0, now["memory"] > 1000, now["read_bytes"], now["write_bytes"],
      tracker.stats()["process_memory"]["max"] > 1000, max(tracker.process_metrics["utime"]) > 0,
      tracker.process_metrics["read_bytes"][-1])
"""


def test_a_process_of_somebody_else_has_what_the_kernel_tells(burner):
    """Its CPU time and resident memory, and not its bytes."""
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/",
              "env": {**os.environ, "HOME": "/", "TMPDIR": "/tmp"}}
    if os.getuid() != 0 or subprocess.run([sys.executable, "-c", "import resource_tracker"],
                                          stderr=subprocess.DEVNULL, **nobody).returncode != 0:
        return  # nobody else may be, or may run what is installed here
    out = subprocess.run([sys.executable, "-c", SOMEBODY_ELSE, str(burner.pid)], check=True,
                         stdout=subprocess.PIPE, encoding="utf-8", timeout=120, **nobody).stdout
    assert out.split() == ["True", "True", "None", "None", "True", "True", "None"]


def test_a_limit_ends_all_processes_of_a_command(tmp_path):
    """They hold the pipe, also those that leave the session."""
    from resource_tracker import _core
    from resource_tracker._engine import program

    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    job = "(setsid sh -c 'trap \"\" TERM; sleep 100' &) & sleep 100"
    tracker = _core.Tracker(argv=[b"sh", b"-c", job.encode()], dir=str(tmp_path), program=program(), interval=0.1,
                            options=[b"--no-discovery", b"--timeout", b"1s", b"--grace", b"50ms"])
    os.close(writer)
    tracker.stop()
    assert os.WEXITSTATUS(tracker.wait_command()) == 124
    os.set_blocking(reader, False)
    assert os.read(reader, 1) == b""  # its end; else BlockingIOError
    os.close(reader)
