"""Advice from histories that are imported from `sacct`: what one more run changes, and what it does not."""

HEAD = "JobID|JobName|State|ExitCode|Elapsed|TotalCPU|MaxRSS|ReqMem|AllocCPUS|Start|Timelimit"


class Sacct:
    """A job's runs, a day apart, as `sacct -P` prints them."""

    def __init__(self, job="job", memory="16G", cores=4, limit="1-00:00:00"):
        self.job, self.memory, self.cores, self.limit, self.lines = job, memory, cores, limit, [HEAD]

    def add(self, state="COMPLETED", hours=1.0, mib=1024, cpu_hours=None, exit_code="0:0"):
        n = len(self.lines) // 2
        clock, cpu = (f"{int(h):02}:{int(h * 60) % 60:02}:{round(h * 3600) % 60:02}"
                      for h in (hours, hours * self.cores if cpu_hours is None else cpu_hours))
        start = f"2026-{1 + n // 28:02}-{1 + n % 28:02}T01:00:00"
        row = f"{state}|{exit_code}|{clock}|{cpu}"
        self.lines.append(f"{n}|{self.job}|{row}||{self.memory}|{self.cores}|{start}|{self.limit}")
        self.lines.append(f"{n}.batch|batch|{row}|{mib * 1024}K||{self.cores}|{start}|")
        return self

    def imported(self, rt):
        assert rt.run("import", "/dev/stdin", stdin="\n".join(self.lines) + "\n").rc == 0
        return self


def advice(rt, job="job", *arguments):
    return rt.run("recommend", job, "--json", "--no-servers", *arguments).json()["advice"]


# --- time limits ----------------------------------------------------------------------------------


def hours_of(rt, *newest, **settings):
    """The advised limit in hours after nine runs of ten hours and one more, and the run time to expect."""
    job = Sacct(**settings)
    for _ in range(9):
        job.add(hours=10)
    if newest:
        job.add(*newest)
    job.imported(rt)
    time = advice(rt, job.job)["time"]
    lines = rt.run("recommend", job.job, "--for", "slurm").stdout
    clock = [line for line in lines.splitlines() if "--time=" in line][0].split("=")[1].split(":")
    assert int(clock[0]) * 3600 + int(clock[1]) * 60 == time["limit_s"]
    return time["limit_s"] / 3600, time["expected_s"] / 3600


def test_one_short_run_lowers_no_time_limit(rt):
    limit, expected = hours_of(rt, "COMPLETED", 1 / 6)
    assert 10 < limit < 20 and expected == 10


def test_a_run_that_did_not_end_well_lowers_no_time_limit(rt):
    before = hours_of(rt, job="before")
    for i, state in enumerate(("CANCELLED", "FAILED", "OUT_OF_MEMORY", "NODE_FAIL")):
        assert hours_of(rt, state, 1 / 60, job=f"job{i}") == before


def test_predicted_times_and_costs_are_those_of_runs_that_ended_well(rt):
    hours_of(rt, "CANCELLED", 1 / 60)
    answer = rt.run("recommend", "job", "--json").json()
    point = answer["advice"]["cpu"]["points"][-1]
    assert point["run_time_s"] == 36000
    assert answer["servers"][0]["run_seconds"] > 10000


def test_the_retry_after_a_time_limit_gets_more_than_that(rt):
    limit, _ = hours_of(rt, "TIMEOUT", 24)
    assert limit > 24 * 1.3
    text = rt.run("recommend", "job", "--no-servers").stdout
    assert "a time limit ended the newest run after 24 h 0 m: the retry gets more" in text


def test_a_limit_that_was_not_requested_is_not_needed(rt):
    hours_of(rt, limit="")
    assert "where a limit is needed: none was requested" in rt.run("recommend", "job", "--no-servers").stdout
    hours_of(rt, job="stated")
    assert "none was requested" not in rt.run("recommend", "stated", "--no-servers").stdout


def test_a_failed_run_alone_says_nothing_about_time(rt):
    Sacct(limit="").add("FAILED", 1 / 60, exit_code="1:0").imported(rt)
    assert advice(rt)["time"]["limit_s"] is None
    assert "--time" not in rt.run("recommend", "job", "--for", "slurm").stdout
    assert "unknown: no run has ended well" in rt.run("recommend", "job", "--no-servers").stdout


# --- cores ----------------------------------------------------------------------------------------


def test_cores_come_from_all_good_runs_and_not_from_one_that_failed(rt):
    job = Sacct(cores=16)
    for _ in range(4):
        job.add(hours=1, cpu_hours=15.5)
    job.imported(rt)
    assert advice(rt)["cpu"]["cores"] == 16
    # A run that did little of the work before it ended badly, and one good run with half of the work.
    job.add("FAILED", hours=0.1, cpu_hours=0.1, exit_code="1:0").imported(rt)
    assert advice(rt)["cpu"]["cores"] == 16
    job.add(hours=1, cpu_hours=7).imported(rt)
    assert advice(rt)["cpu"]["cores"] == 16 and advice(rt)["cpu"]["mean_cores"] > 13


def test_of_totals_only_the_mean_is_known(rt):
    job = Sacct(cores=2)
    for _ in range(4):
        job.add(hours=1, cpu_hours=1)
    job.imported(rt)
    cpu = advice(rt)["cpu"]
    assert cpu["cores"] == 2  # it may have kept both cores busy for half of the time
    assert cpu["reasons"][:2] == ["1 core of 2 busy on average; only the mean is known",
                                  "2 cores: fewer may take longer"]
    assert cpu["points"][0] == {"cores": 1, "run_time_s": 5400, "quality": "at_most"}


# --- memory ---------------------------------------------------------------------------------------


def test_one_outlier_does_not_multiply_the_request(rt):
    job = Sacct()
    for i in range(20):
        job.add(mib=950 + 37 * i % 100)
    job.add(mib=11_700).imported(rt)
    assert 11_700 <= advice(rt)["memory"]["request_mib"] <= 1.5 * 11_700 + 128


def test_kills_that_no_run_resolved_are_doubled(rt):
    job = Sacct(memory="4096M")
    for i in range(10):
        job.add(mib=1950 + 37 * i % 100).add("OUT_OF_MEMORY", 0.1, mib=4095, exit_code="0:125")
    job.imported(rt)
    memory = advice(rt)["memory"]
    assert memory["request_mib"] >= 8190
    assert any("no run has succeeded above that" in reason for reason in memory["reasons"])


def test_a_growing_job_gets_its_next_step(rt):
    job = Sacct()
    for i in range(5):
        job.add(mib=1000 + 300 * i)
    job.imported(rt)
    memory = advice(rt)["memory"]
    assert 2500 <= memory["request_mib"] < 3300
    assert not any("1 in 6" in reason for reason in memory["reasons"])


def test_a_tag_that_no_run_has_leaves_the_chance_unknown(rt):
    for _ in range(4):
        assert rt.track("true", flags=["--job", "tagged", "--tag", "kind=a"]).rc == 0
    known, typo = (advice(rt, "tagged", "--tag", f"kind={kind}")["memory"] for kind in "ab")
    assert known["chance_exceed"] is not None and known["confidence"] == "low"
    assert typo["chance_exceed"] is None and typo["confidence"] == "first estimate"
    assert any("no run did the same work" in reason for reason in typo["reasons"])


# --- peaks that are lower bounds ------------------------------------------------------------------

STEPS = """\
JobID|JobName|State|ExitCode|Elapsed|TotalCPU|MaxRSS|ReqMem|AllocCPUS|NTasks|AveRSS|TRESUsageInTot
1|mpi|COMPLETED|0:0|00:01:00|06:57.815||16000M|8|||
1.batch|batch|COMPLETED|0:0|00:01:00|00:00.034|20264K||8|1|20264K|cpu=00:00:00,mem=20264K
1.0|fit|COMPLETED|0:0|00:01:00|06:57.779|1947276K||8|{tasks}|{mean}|{total}
"""


def steps(rt, tasks="", mean="", total=""):
    text = STEPS.format(tasks=tasks, mean=mean, total=total)
    assert rt.run("import", "-n", "mpi", "/dev/stdin", stdin=text).rc == 0
    return advice(rt, "mpi")["memory"]


def test_all_tasks_of_a_step_count(rt):
    assert steps(rt, 8, "1940000K", "cpu=00:06:57,mem=15520000K")["request_mib"] >= 15520000 / 1024
    assert "largest process or task" not in rt.run("recommend", "mpi", "--for", "slurm").stdout


def test_without_their_sum_the_mean_of_all_tasks_counts(rt):
    memory = steps(rt, 8, "1940000K")
    assert memory["request_mib"] >= 8 * 1940000 / 1024 and memory["chance_exceed"] is not None


def test_the_peak_of_one_task_is_not_that_of_the_job(rt):
    memory = steps(rt, 8)
    assert memory["chance_exceed"] is None and memory["confidence"] == "first estimate"
    assert any("how much all of them held together is unknown" in reason for reason in memory["reasons"])
    assert rt.run("recommend", "mpi", "--for", "slurm").stdout.startswith(
        "# only the largest process or task was measured: all together may have held more")


def test_the_peak_of_one_process_is_not_that_of_the_job(rt):
    text = "\tCommand being timed: \"./prog x\"\n\tUser time (seconds): 60.00\n" \
           "\tSystem time (seconds): 0.01\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:00.00\n" \
           "\tMaximum resident set size (kbytes): 1638400\n\tExit status: 0\n"
    assert rt.run("import", "-n", "timed", "/dev/stdin", stdin=text).rc == 0
    assert advice(rt, "timed")["memory"]["chance_exceed"] is None
    assert "largest process or task" in rt.run("recommend", "timed").stdout


# --- GPUs -----------------------------------------------------------------------------------------


def test_video_memory_is_advised_for_each_gpu_that_was_used(rt):
    """Four GPUs hold 60 GiB together; at most three of them are busy at once."""
    rows = ["timestamp,pid,children,utime,stime,cpu_usage,memory,read_bytes,write_bytes,gpu_usage,gpu_vram,"
            "gpu_utilized"]
    rows += [f"{1795869400 + i}.000,100,2,1.00,0.01,1.000,2000000,0,0,2.800,{60 * 1024}.0,4" for i in range(60)]
    assert rt.run("import", "-n", "gpus", "/dev/stdin", stdin="\n".join(rows) + "\n").rc == 0
    said = advice(rt, "gpus")
    assert said["gpus"] == 4 and 15 * 1024 <= said["vram_mib"] <= 1.3 * 15 * 1024
    assert "GPU      4, video memory 18.125 GiB each" in rt.run("recommend", "gpus", "--no-servers").stdout
