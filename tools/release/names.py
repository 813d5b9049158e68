#!/usr/bin/env python3
"""Lists the names that a release promises to keep (docs/versioning.md): verbs and options, keys of JSON, columns, parts
of the C API and of the Python package, environment variables, record types.

    tools/release/names.py [PROGRAM]      default: $BUILD/resource-tracker

writes tests/names/VERSION.txt with one line "KIND NAME" per name. tests/cli/test_promises.py requires the names of
every list of this major version. Run the program once before a release. Keys of JSON and columns are taken from the
output of PROGRAM, which tracks small jobs in a temporary folder; all other names from its help, the header and the
sources. The jobs run TIMES times. A key that is missing in one of the runs is left out.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The job is busy for 0.3 s, so that lines are sampled, and has two phases.
JOB = """
import subprocess, time
end = time.process_time() + 0.3
while time.process_time() < end:
    sum(range(1000))
subprocess.run(["resource-tracker", "mark", "rest"])
time.sleep(0.1)
"""
TIMES = 10
# Each of these commands prints one JSON document, or one per line.
DOCUMENTS = ["show --stats --json", "recommend --json", "compare --json", "history --json",
             "fleet --json", "fleet --json --what jobs", "catalog search --json --limit 1", "catalog info --json",
             "machine --json", "machine --cloud --json", "top --json", "top --json job", "lines --json", "alerts --json",
             "alerts digest --json", "doctor --json", "export --format jsonl --what programs",
             "export --format jsonl --what processes"]
# Maps whose keys the user chooses, and maps by column. In paths, "*" stands for any column.
FREE, BY_COLUMN = {"tags"}, {"stats"}


class Program:
    """The program in a temporary folder, in which it tracks runs of one job."""

    def __init__(self, path, folder):
        self.path = path
        self.env = {"HOME": str(folder), "RESOURCE_TRACKER_DIR": f"{folder}/state", "TRACKER_NO_DISCOVERY": "1",
                    "PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        (folder / "bin").mkdir()
        (folder / "bin/resource-tracker").symlink_to(path)
        (folder / "job.py").write_text(JOB, encoding="utf-8")
        self.folder = folder

    def run(self, *words):
        return subprocess.run([self.path, *words], env=self.env, cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout

    def documents(self):
        """{command: list of the JSON documents that it prints}"""
        for _ in range(2):
            summary = self.run("run", "--quiet", "--summary-json", "-", "--job", "job", "--tag", "a=b", "--interval", "0.05",
                               "--lines", "200", "--request", "cpu=1,mem=1GiB,time=1h", "--", "/usr/bin/python3", "job.py")
        found = {"run --summary-json": [json.loads(summary)]}
        for command in DOCUMENTS:
            text = self.run(*command.split())
            found[command] = [json.loads(line) for line in text.splitlines()] if "jsonl" in command else [json.loads(text)]
        return found


def paths(value, path=""):
    """The paths of all keys in a document, such as "/run/exit/code". "[]" stands for any element of a list."""
    last = path.rpartition("/")[2]
    if isinstance(value, list):
        return {name for item in value for name in paths(item, f"{path}/[]")}
    if not isinstance(value, dict) or last in FREE:
        return set()
    if last in BY_COLUMN:
        value = {"*": item for item in value.values()}
    return {name for key, item in value.items() for name in {f"{path}/{key}"} | paths(item, f"{path}/{key}")}


def has(value, path):
    """Whether a document has this path. A null or empty value on the path counts as a match, because its keys are not
    known."""
    step, _, rest = path.removeprefix("/").partition("/")
    if not step or value is None or value in ([], {}):
        return True
    if isinstance(value, list):
        return step == "[]" and any(has(item, rest) for item in value)
    if not isinstance(value, dict):
        return False
    if step == "*":
        return all(has(item, rest) for item in value.values())
    return step in value and has(value[step], rest)


def commands(program):
    """Names of verbs, options, and the values of options that take one of a list."""
    found = set()
    for verb in re.findall(r"^  ([a-z][a-z -]*?)  ", program.run("help", "all").split("\n\n")[0], re.M):
        found.add(f"verb {verb}")
        for short, name, values in re.findall(r"^ {2}(?: {4}|(-\w), )--([a-z-]+)(?:\[?[= ]([a-z0-9.|-]+\|[a-z0-9.|-]+))?",
                                              program.run("help", "all", *verb.split()), re.M):
            found |= {f"option {verb} {option}" for option in filter(None, (short, f"--{name}"))}
            found |= {f"value {verb} --{name} {value}" for value in values.split("|") if value}
    kinds = re.search(r"--for KIND +.*?: (.*)", program.run("help", "recommend"))[1]
    found |= {f"value recommend --for {kind}" for kind in kinds.split(", ")}
    return found


def c_api():
    text = (ROOT / "include/resource_tracker.h").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {f"function {name}" for name in re.findall(r"\b(trk_[a-z0-9_]+)\(", text)}
    found |= {f"macro {name} {value}".rstrip() for name, value in
              re.findall(r"^#define (TRK_[A-Z0-9_]+)\b(?!\()[ \t]*([\w-]*)", text, re.M)}
    for name, body in re.findall(r"^struct (trk_\w+) \{\n(.*?)^\};", text, re.M | re.S):
        found.add(f"struct {name}")
        fields = [field for line in re.findall(r"([^;]+);", body) for field in line.split(",")]
        for place, field in enumerate(fields):  # the position is part of the binary interface
            member = re.search(r"(\w+)(?:\[\w*\])?\s*$|\(\*(\w+)\)", field)
            found.add(f"field {name} {place} {member[2] or member[1]}")
    return found


def python_names():
    """Names that the package exports, and documented functions and classes with their methods and parameters."""
    folder = ROOT / "bindings/python/resource_tracker"
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    documented = re.findall(r"^::: resource_tracker\.(\w+)\.(\w+)$", pages, re.M)
    documented += [("recording", name) for name in re.findall(r"\brecording\.([a-z_]+)\(", pages)]
    exported = next(node.value for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
                    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    found = {f"python {name.value}" for name in exported.elts}
    for module, name in documented:
        for node in ast.parse((folder / f"{module}.py").read_text(encoding="utf-8")).body:
            if getattr(node, "name", "") == name:
                found |= {f"python {module}.{part}" for part in names_of(node)}
    return found


def names_of(node, prefix=""):
    """Names of a function and its parameters, or of a class and its methods, except private names (with a leading
    underscore)."""
    name = getattr(node, "name", "_")
    if name.startswith("_") and name != "__init__" or not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return set()
    if isinstance(node, ast.ClassDef):
        return {name}.union(*(names_of(item, f"{name}.") for item in node.body))
    arguments = node.args
    taken = [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return {f"{prefix}{name}"} | {f"{prefix}{name}({argument}=)" for argument in taken
                                  if argument not in ("self", "cls") and not argument.startswith("_")}


def variables():
    """Names of environment variables that the documentation mentions and the sources read."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    sources = "\n".join(path.read_text(encoding="utf-8") for folder in ("src", "bindings/python/resource_tracker")
                        for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".py"))
    found = set(re.findall(r"\"((?:RESOURCE_)?TRACKER_[A-Z_]+|RT_[A-Z]+)\"", sources))
    return {f"variable {name}" for name in found if re.search(rf"\b{name}\b", pages)}


def recording():
    text = (ROOT / "src/recording/format.h").read_text(encoding="utf-8")
    body = re.sub(r"/\*.*?\*/", "", re.search(r"enum trk_record_type \{(.*?)\};", text, re.S)[1], flags=re.S)
    found, number = {f"signature {re.search(r'TRK_RECORDING_SIGNATURE (.*)', text)[1]}"}, 0
    for name, value in re.findall(r"(TRK_RECORD_\w+)(?: = (\d+))?", body):
        number = int(value) if value else number + 1
        found.add(f"record {name} {number}")
    return found


def columns(program):
    return {f"column {chosen} {name}" for chosen in ("full", "0.5", "0.4")
            for name in program.run("export", "--columns", chosen).splitlines()[0].split(",")}


def collect(path):
    """(all names except keys of JSON, the JSON documents by command)"""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(path, Path(folder))
        documents = program.documents()
        return (commands(program) | c_api() | python_names() | variables() | recording() | columns(program), documents)


def main():
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / os.environ.get("BUILD", "build") / "resource-tracker").resolve()
    collected = [collect(path) for _ in range(TIMES)]
    names = set.intersection(*(names for names, _ in collected))
    for command in collected[0][1]:
        tries = [documents[command] for _, documents in collected]
        keys = {key for found in tries for document in found for key in paths(document)}
        names |= {f"json {command}: {key}" for key in keys
                  if all(any(has(document, key) for document in found) for found in tries)}
    version = re.search(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M)[1]
    out = ROOT / f"tests/names/{version}.txt"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(sorted(names)) + "\n", encoding="utf-8")
    print(f"{len(names)} names in {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
