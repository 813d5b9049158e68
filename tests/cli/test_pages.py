"""Tests that the commands in the documentation work. Each block marked `sh`, and each job script of a scheduler
(`slurm`, `bash`), of every page runs in order, in a folder with the small jobs that the pages mention, after one
tracked run. The steps of the pipelines in the guide for CI run as well. Commands that a test cannot run (they need a
network, a terminal or a person) are in blocks without a mark; their verbs and options must exist."""

import hashlib
import importlib.util
import json
import re
import stat
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

import pytest
import yaml

from conftest import ROOT

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
# Compiled and run by test_install.py, with its examples in C.
ELSEWHERE = {"docs/c-api.md"}
# Pages that lead to no other page of this folder.
ENDS = {"docs/columns.md", "docs/dependencies.md", "docs/performance.md"}

# What the pages' commands work on.
FILES = {
    "train.py": "total = sum(i * i for i in range(8_000_000))\nprint(total)\n",
    "align.sh": "#!/bin/sh\ni=0; while [ $i -lt 1000 ]; do i=$((i+1)); done\n",
    "Makefile": "all:\n\t@echo made\n",
    "prices.csv": "vendor,region,type,price\naws,eu-central-1,m6i.large,0.11\n",
    "samples.csv": '"timestamp","pid","children","utime","stime","cpu_usage","memory","read_bytes","write_bytes",'
                   '"gpu_usage","gpu_vram","gpu_utilized"\n'
                   "1700000000.1,7,0,0.5,0.1,0.6,1000,0,0,0,0,0\n1700000001.1,7,0,0.5,0.1,0.6,2000,0,0,0,0,0\n",
    "sacct.txt": "JobID|JobName|State|ExitCode|Elapsed|TotalCPU|MaxRSS|ReqMem|AllocCPUS|Start\n"
                 "7|align|COMPLETED|0:0|00:01:00|00:00:50||2G|2|2026-01-01T00:00:00\n"
                 "7.batch|batch|COMPLETED|0:0|00:01:00|00:00:50|100M||2|2026-01-01T00:00:00\n",
    "time.txt": '\tCommand being timed: "sleep 1"\n\tUser time (seconds): 0.50\n\tSystem time (seconds): 0.10\n'
                "\tPercent of CPU this job got: 60%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.00\n"
                "\tMaximum resident set size (kbytes): 2048\n\tExit status: 0\n",
}
# Stand for what the scheduler puts in place, and for a repository.
PROGRAMS = {"srun": '#!/bin/sh\nexec "$@"\n', "git": "#!/bin/sh\necho 8f3c2ad\n"}
# What a scheduler sets for a script with its directives.
SCHEDULERS = {"#SBATCH": {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "align", "SLURM_CPUS_PER_TASK": "2"},
              "#PBS": {"PBS_JOBID": "7.host", "PBS_JOBNAME": "align", "PBS_O_WORKDIR": ".", "NCPUS": "2"},
              "#BSUB": {"LSB_JOBID": "7", "LSB_JOBNAME": "align", "LSB_DJOB_NUMPROC": "2"},
              "#$ ": {"JOB_ID": "7", "JOB_NAME": "align", "NSLOTS": "2"}}


def blocks_of(page):
    return re.findall(r"^```(sh|slurm|bash)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def name_of(page):
    return str(page.relative_to(ROOT))


def scheduler_of(kind, text):
    """The environment of a job script."""
    if kind == "sh":
        return {}
    return next((env for directive, env in SCHEDULERS.items() if f"\n{directive}" in text), SCHEDULERS["#SBATCH"])


def prepare(rt, tmp_path):
    """The folder with the small jobs, and an environment in which the pages' programs are found."""
    folder, programs = tmp_path / "work", tmp_path / "bin"
    for place, files in ((folder, FILES), (programs, PROGRAMS)):
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                (place / name).chmod((place / name).stat().st_mode | stat.S_IXUSR)
    (programs / "resource-tracker").symlink_to(rt.path)
    return folder, {**rt.env, "PATH": f"{programs}:{rt.env['PATH']}"}


def run_script(text, folder, env):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=240, check=False)
    assert done.returncode == 0, f"{text}\n{done.stdout}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page) and name_of(page) not in ELSEWHERE],
                         ids=name_of)
def test_its_commands_run(rt, tmp_path, page):
    folder, env = prepare(rt, tmp_path)
    if not any(" lines" in text for _, text in blocks_of(page)):  # a run that is long enough to be sampled takes a second
        (folder / "train.py").write_text(FILES["train.py"].replace("8_000_000", "2_000_000"))
    rt.run("run", "-q", "--job", "train", "--", "python3", "train.py", cwd=folder)
    for kind, text in blocks_of(page):
        run_script(text, folder, {**env, **scheduler_of(kind, text)})


def test_job_scripts_are_recorded_under_the_name_of_their_job(rt, tmp_path):
    """Of each scheduler of the guide, with the CPUs that it sets."""
    folder, env = prepare(rt, tmp_path)
    scripts = [text for kind, text in blocks_of(ROOT / "docs/guide/hpc.md") if kind != "sh"]
    assert all(any(f"\n{directive}" in text for text in scripts) for directive in SCHEDULERS)
    for text in scripts:
        run_script(text, folder, {**env, **scheduler_of("bash", text)})
    runs = rt.run("history", "--json").json()["runs"]
    assert len(runs) == len(scripts) and {run["job"] for run in runs} == {"align"}
    assert {run["request_cpu"] for run in runs} == {2}


def pipelines():
    """The pipelines of the guide for CI: name -> the commands of their steps, in order."""
    text = (ROOT / "docs/guide/ci.md").read_text(encoding="utf-8")
    github, gitlab = (yaml.safe_load(next(block for block in re.findall(r"^```yaml\n(.*?)^```", text, re.S | re.M) if name in block))
                      for name in (".github/workflows", ".gitlab-ci.yml"))
    jenkins = re.search(r"^```groovy\n(.*?)^```", text, re.S | re.M)[1]
    return {"github": [step["run"] for job in github["jobs"].values() for step in job["steps"] if "run" in step],
            "gitlab": ["\n".join(job.get("before_script", []) + job["script"]) for job in gitlab.values()],
            "jenkins": [found[1] for found in re.findall(r"sh (['\"])(.*?)\1", jenkins)]}


@pytest.mark.parametrize("service", ["github", "gitlab", "jenkins"])
def test_the_steps_of_a_pipeline_run(rt, tmp_path, service):
    """Twice, as the first pipeline has no earlier run to compare with. The tracker comes from the tarball."""
    folder, env = prepare(rt, tmp_path)
    if service != "jenkins":
        (tmp_path / "bin/resource-tracker").unlink()
        with tarfile.open(tmp_path / "release.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(rt.path, "release/bin/resource-tracker")
    for attempt in ("first", "second"):
        (tmp_path / attempt).touch()
        path = env["PATH"]
        for command in pipelines()[service]:
            run_script(command, folder, {**env, "PATH": path, "TRACKER_URL": f"file://{tmp_path}/release.tar.gz",
                                         "GITHUB_PATH": f"{tmp_path}/{attempt}", "GITHUB_STEP_SUMMARY": f"{tmp_path}/summary.md",
                                         "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "a/b", "GITHUB_WORKFLOW": "ci",
                                         "GITHUB_JOB": "build-and-test"})
            path = ":".join([*(tmp_path / attempt).read_text().split(), env["PATH"]])
    runs = rt.run("history", "--json").json()["runs"]
    assert [run["job"] for run in runs].count("test") == 2 and (folder / "test.html").exists()


def test_each_page_is_in_the_site_and_leads_on():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        if page.name != "README.md":
            assert f" {page.relative_to(ROOT / 'docs')}\n" in site
        if page.parent.name != "api" and name_of(page) not in ENDS:
            assert re.search(r"\]\([\w./#-]+\.md", page.read_text(encoding="utf-8")), page


def test_commands_that_the_pages_name_exist(rt):
    """Verbs and options in code, also where a line cannot be run here."""
    verbs = set(re.findall(r"^  ([a-z][a-z -]*[a-z]) ", rt.run("help", "all").stdout.split("\n\n")[0], re.M))
    options = {}
    for page in PAGES:
        for line in re.findall(r"resource-tracker ((?:[a-z][a-z-]+) [^`\n|]*)", page.read_text(encoding="utf-8")):
            two = " ".join(line.split()[:2])
            verb = two if two in verbs else line.split()[0]
            if verb not in verbs:
                continue
            if verb not in options:
                shown = rt.run("help", "all", *verb.split()).stdout
                options[verb] = {"--help", *re.findall(r"(--[a-z][a-z-]*)", shown)}
            own = re.sub(r"\$\([^)]*\)", "", line).split(" -- ")[0]
            for option in re.findall(r"(?<= )(--[a-z][a-z-]+)", own):
                assert option in options[verb], f"{page.name}: resource-tracker {line}"


def test_targets_and_scripts_that_the_pages_name_exist():
    """`make bench`, `tools/setup.sh`: in code of the pages, and of those for contributors."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        text = page.read_text(encoding="utf-8")
        code = "\n".join([*re.findall(r"^```.*?^```", text, re.M | re.S), *re.findall(r"`([^`\n]+)`", text)])
        for target in re.findall(r"(?:^|[ ;&])make ([a-z][a-z-]*)(?=[ \n]|$)", code, re.M):
            assert target in targets, f"{page.name}: make {target}"
        for script in re.findall(r"(?<![\w/.])((?:tools|bench)/[\w/-]+\.(?:sh|py|md))", code):
            assert (ROOT / script).exists(), f"{page.name}: {script}"


def test_functions_in_c_that_the_pages_name_exist():
    header = (ROOT / "include/resource_tracker.h").read_text(encoding="utf-8")
    for page in PAGES:
        for name in re.findall(r"\btrk_[a-z_]+(?=\()", page.read_text(encoding="utf-8")):
            assert f"{name}(" in header, f"{page.name}: {name}"


def test_the_first_report_explains_each_part_of_the_time():
    code = (ROOT / "src/advise/verdict.c").read_text(encoding="utf-8")
    labels = set(re.findall(r'\[TRK_WALL_\w+\] = "([^"]+)"', code))
    page = (ROOT / "docs/first-report.md").read_text(encoding="utf-8")
    table = page.split("## Where the time went")[1].split("\n## ")[0]
    assert labels and {row for row in re.findall(r"^\| ([^|]+) \|", table, re.M)} == {"label", *labels}


def row_of(page, head, name):
    """The cells of a row of the table below a heading."""
    table = re.search(rf"^## {head}$(.*?)(?=^## |\Z)", page, re.M | re.S)[1]
    return [cell.strip() for cell in re.search(rf"^\| {re.escape(name)} \|(.*)\|$", table, re.M)[1].split("|")]


def largest(cells):
    """Of "+0.4 %" and the like, the one that is farthest from 0."""
    return max((float(cell.split(" ")[0]) for cell in cells), key=abs)


def test_the_figures_of_how_it_works_are_those_of_the_benchmark():
    """Written by hand there; `make bench` may have measured again."""
    measured = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    page = (ROOT / "docs/how-it-works.md").read_text(encoding="utf-8")
    whole = [row_of(measured, "The programs as a whole, at 1 Hz", name)[0] for name in ("1", "1000")]
    assert f"| {float(whole[0]):.1f} ms a second for one process, {float(whole[1]):.1f} ms for 1000 |" in page
    ends = row_of(measured, "Start and end of a run", "ours, with a recording")
    assert f"| {float(ends[2]):.1f} ms together, recording included |" in page
    for job, name in (("2000 x /bin/true", "2000 short children"), ("double-forked, 1.5 s", "a daemon"),
                      ("SIGCHLD ignored, 20 x 0.1 s", "children that nobody waits for")):
        cells = row_of(measured, "CPU totals", job)
        assert f"| CPU time of {name} | {largest(cells[1:4]):+.1f} % |" in page


def labels_of(summary):
    return set(re.findall(r"^([A-Z][A-Za-z]+) {2,}", summary, re.M))


def test_the_samples_of_pages_are_what_a_summary_looks_like(rt, tmp_path):
    """Captured from real runs: they have the rows that a summary of today has, and no other."""
    program = "import time\nend = time.process_time() + 1.5\nwhile time.process_time() < end:\n    sum(range(1000))\n"
    (tmp_path / "burn.py").write_text(program, encoding="utf-8")
    done = rt.run("run", "--no-discovery", "--summary", "auto", "--job", "sample", "--", "python3", "burn.py", cwd=tmp_path)
    for page in "README.md", "docs/index.md":
        text = (ROOT / page).read_text(encoding="utf-8")
        sample = labels_of(re.search(r"^```\n(\$ resource-tracker run .*?)^```", text, re.M | re.S)[1])
        assert {"CPU", "Lines", "Memory", "Time"} <= sample
        assert sample - {"Phases", "Disk"} <= labels_of(done.stderr), done.stderr


def test_the_recording_of_a_terminal_is_whole():
    """The picture of the home page: well-formed, with frames that follow each other, and its words as text."""
    path = ROOT / "docs/images/demo.svg"
    assert path.stat().st_size < 200_000
    picture = xml.etree.ElementTree.parse(path)
    space = "{http://www.w3.org/2000/svg}"
    frames = picture.find(f".//{space}g[@id='film']")
    style = picture.find(f"{space}style").text
    assert len(frames) > 50 and style.count("%{transform") == len(frames) + 1
    lines = {group.get("id"): "".join(group.itertext()) for group in picture.find(f"{space}defs")}
    shown = ["\n".join(lines[use.get("href")[1:]] for use in frame.iter(f"{space}use")) for frame in frames]
    for words in ("Next time request", "went to", "#SBATCH --mem="):
        assert any(words in text for text in shown)
    assert "images/demo.svg" in (ROOT / "docs/index.md").read_text(encoding="utf-8")


def prove_module():
    spec = importlib.util.spec_from_file_location("prove", ROOT / "tools/release/prove.py")
    prove = importlib.util.module_from_spec(spec)
    sys.modules["prove"] = prove  # dataclasses look there
    spec.loader.exec_module(prove)
    return prove


def test_the_table_of_proofs_has_each_proof():
    """What tools/release/prove.py wrote into docs/install.md when it ran last."""
    prove = prove_module()
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    for proof in prove.PROOFS:
        assert f"| {proof.channel} | {proof.where} | runs | " in page
    assert "| failed |" not in page


ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| runs \| [\d.]+ s \| ([\d.]+) s \| ([^|]+) \| ([^|]+) \|$", re.M)


def test_each_channel_reaches_its_first_summary_in_30_s():
    """Of CPU time, as the wall time of the rows depends on what else the machine did; under qemu all is slower, and a
    compiler is no installation."""
    rows = ROW.findall((ROOT / "docs/install.md").read_text(encoding="utf-8"))
    assert len(rows) >= len(prove_module().PROOFS)
    assert [row for row in rows if float(row[2]) > 30 and "aarch64" not in row[1] and "source" not in row[0]] == []


def test_each_proof_names_the_build_that_it_proved():
    """Rows from before the build was recorded say so."""
    for row in ROW.findall((ROOT / "docs/install.md").read_text(encoding="utf-8")):
        assert row[3:] == ("not recorded", "-") or (
            re.fullmatch(r"\d+\.\d+\.\d+, [0-9a-f]{10}", row[3]) and re.fullmatch(r"[0-9a-f]{12}( [0-9a-f]{12})*", row[4])), row


def a_release(folder, commit, text):
    (folder / "x.deb").write_text(text, encoding="utf-8")
    digest = hashlib.sha256(b"built").hexdigest()
    (folder / "release.json").write_text(json.dumps({"version": "1.0.0", "commit": commit, "artefacts": [
        {"file": "x.deb", "sha256": digest}]}), encoding="utf-8")
    return digest


def test_a_proof_names_the_files_that_it_used(tmp_path):
    digest = a_release(tmp_path, "0123456789abcdef", "built")
    release = prove_module().Release(tmp_path, "0123456789abcdef")
    assert release.one("*.deb") == release.one("x*") == tmp_path / "x.deb"
    assert release.build() == ("1.0.0, 0123456789", digest[:12])


def test_a_file_that_was_not_built_is_not_proved(tmp_path):
    a_release(tmp_path, "0123456789abcdef", "changed later")
    release = prove_module().Release(tmp_path, "0123456789abcdef")
    with pytest.raises(RuntimeError, match="is not the file that release.json lists"):
        release.one("*.deb")


@pytest.mark.parametrize("commit", ["fedcba9876543210", "0123456789abcdef-changed"])
def test_a_release_of_another_commit_is_not_proved(tmp_path, commit):
    a_release(tmp_path, commit, "built")
    with pytest.raises(SystemExit, match="is of the commit"):
        prove_module().Release(tmp_path, "0123456789abcdef")


def test_a_proof_that_did_not_run_keeps_its_row(tmp_path):
    prove = prove_module()
    page = tmp_path / "page.md"
    begin, end = "<!-- proofs: written by tools/release/prove.py -->\n", "<!-- end of proofs -->"
    one, two = ("1.0.0, 0123456789", "0123456789ab"), ("1.0.0, abcdef0123", "ba9876543210")
    old = [(".deb", "A", "runs", (9.0, 3.0), one), (".rpm", "B", "runs", (2.0, 1.0), one),
           ("image", "gone", "runs", (3.0, 1.0), one)]
    page.write_text(f"head\n{begin}{prove.table(old)}{end}\ntail\n", encoding="utf-8")
    prove.write_into(page, [(".deb", "A", "runs", (1.0, 0.5), two)], [("wheel", "C"), (".deb", "A"), (".rpm", "B")])
    new = prove.table([(".deb", "A", "runs", (1.0, 0.5), two), (".rpm", "B", "runs", (2.0, 1.0), one)])
    assert page.read_text(encoding="utf-8") == f"head\n{begin}{new}{end}\ntail\n"
