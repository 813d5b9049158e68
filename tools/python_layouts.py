#!/usr/bin/python3
"""Writes src/probe/stack/cpython_layouts.h: the offsets of the members of CPython's structures from which a stack is
read.

    tools/python_layouts.py INCLUDE...     INCLUDE: the folder with Python.h of one version, such as
                                           /usr/include/python3.11

Up to 3.12, a row contains offsets in bytes, compiled from the headers. From 3.13 on, a process contains its offsets at
the start of _PyRuntime (struct _Py_DebugOffsets), and a row contains the positions of these offsets in that struct, in
words of eight bytes. Rows of versions that are not given are kept. cpython.c checks the offsets at run time before it
uses them.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/probe/stack/cpython_layouts.h"

# Field of struct trk_cpython_layout -> (struct, member) up to 3.10, in 3.11 and 3.12, and from 3.13 on. None: the
# version has no such member.
RUNTIME, INTERPRETER, THREAD = "struct pyruntimestate", "PyInterpreterState", "PyThreadState"
OLD, FRAME, CODE = "PyFrameObject", "_PyInterpreterFrame", "PyCodeObject"
FIELDS = {
    "interpreters": [(RUNTIME, "interpreters.head")] * 2 + ["runtime_state.interpreters_head"],
    "interpreter_next": [(INTERPRETER, "next")] * 2 + ["interpreter_state.next"],
    "interpreter_threads": [(INTERPRETER, "tstate_head"), (INTERPRETER, "threads.head"),
                            "interpreter_state.threads_head"],
    "thread_next": [(THREAD, "next")] * 2 + ["thread_state.next"],
    "thread_interpreter": [(THREAD, "interp")] * 2 + ["thread_state.interp"],
    "thread_id": [(THREAD, "thread_id")] * 2 + ["thread_state.thread_id"],
    "thread_native_id": [None, (THREAD, "native_thread_id"), "thread_state.native_thread_id"],
    "thread_frame": [(THREAD, "frame"), (THREAD, "cframe"), "thread_state.current_frame"],
    "cframe_frame": [None, ("_PyCFrame", "current_frame"), None],
    "frame_back": [(OLD, "f_back"), (FRAME, "previous"), "interpreter_frame.previous"],
    "frame_code": [(OLD, "f_code"), (FRAME, "f_code"), "interpreter_frame.executable"],
    "frame_place": [(OLD, "f_lasti"), (FRAME, "prev_instr"), "interpreter_frame.instr_ptr"],
    "frame_owner": [None, (FRAME, "owner"), "interpreter_frame.owner"],
    "code_file": [(CODE, "co_filename")] * 2 + ["code_object.filename"],
    "code_name": [(CODE, "co_name"), (CODE, "co_qualname"), "code_object.qualname"],
    "code_first_line": [(CODE, "co_firstlineno")] * 2 + ["code_object.firstlineno"],
    "code_table": [(CODE, "co_linetable"), (CODE, "co_linetable"), "code_object.linetable"],
    "code_bytes": [None, (CODE, "co_code_adaptive"), "code_object.co_code_adaptive"],
    "object_type": [("PyObject", "ob_type")] * 2 + ["pyobject.ob_type"],
    "type_name": [("PyTypeObject", "tp_name")] * 2 + ["type_object.tp_name"],
    "bytes_size": [("PyVarObject", "ob_size")] * 2 + ["bytes_object.ob_size"],
    "bytes_data": [("PyBytesObject", "ob_sval")] * 2 + ["bytes_object.ob_sval"],
    "text_state": [("PyASCIIObject", "state")] * 2 + ["unicode_object.state"],
    "text_length": [("PyASCIIObject", "length")] * 2 + ["unicode_object.length"],
    "ascii_size": ["sizeof(PyASCIIObject)"] * 2 + ["unicode_object.asciiobject_size"],
}


def era(version):
    return 0 if version <= 0x30A else 1 if version <= 0x30C else 2


def version_of(include):
    text = (include / "patchlevel.h").read_text()
    major, minor = (int(re.search(rf"define PY_{part}_VERSION\s+(\d+)", text)[1])
                    for part in ("MAJOR", "MINOR"))
    return major << 8 | minor


def value_of(version, field, sources):
    source = sources[era(version)]
    if source is None:
        return "-1"
    if era(version) == 2:
        return f"(int) (offsetof(_Py_DebugOffsets, {source}) / 8)"
    if isinstance(source, str):
        return f"(int) {source}"
    struct, member = source
    if version == 0x309 and field == "code_table":
        member = "co_lnotab"
    return f"(int) offsetof({struct}, {member})"


def program_of(version):
    headers = ["Python.h", "frameobject.h", "internal/pycore_runtime.h", "internal/pycore_interp.h"]
    if era(version) == 1:
        headers.append("internal/pycore_frame.h")
    lines = ["#define Py_BUILD_CORE 1"] + [f'#include "{h}"' for h in headers]
    lines += ["#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for field, sources in FIELDS.items():
        lines.append(f'printf("{field} %d\\n", {value_of(version, field, sources)});')
    return "\n".join(lines + ["return 0;", "}", ""])


def row_of(include):
    version = version_of(include)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "layout.c", Path(folder) / "layout"
        source.write_text(program_of(version))
        paths = [f"-I{include}", f"-I{include}/internal", f"-I{include.parent}"]
        paths += [f"-I{p}" for p in include.parent.glob("*-linux-gnu")]
        subprocess.run(["cc", "-std=gnu11", "-w", *paths, str(source), "-o", str(binary)], check=True)
        output = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    values = dict(line.split() for line in output.splitlines())
    cells = [f".{field} = {value}" for field, value in values.items()]
    lines, line = [], "\t{.version = 0x%03x" % version
    for cell in cells:
        if len(line) + len(cell) > 86:
            lines.append(line + ",")
            line = "\t " + cell
        else:
            line += ", " + cell
    return version, "\n".join(lines + [line + "},"])


def main(includes):
    if not includes:
        print(__doc__, file=sys.stderr)
        return 2
    rows = {}
    if TARGET.exists():
        for row in re.findall(r"^\t\{\.version = .*?\},$", TARGET.read_text(), re.S | re.M):
            rows[int(re.search(r"0x([0-9a-f]+)", row)[1], 16)] = row
    for include in includes:
        version, row = row_of(Path(include).resolve())
        rows[version] = row
    head = ("/* Written by tools/python_layouts.py from the headers of each version: run it anew instead of\n"
            " * editing. Up to 3.12: offsets in bytes. From 3.13 on: words of struct _Py_DebugOffsets, where\n"
            " * a process has its offsets. -1: the version has no such thing. */\n"
            "/* clang-format off */\n")
    TARGET.write_text(head + "\n".join(rows[v] for v in sorted(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
