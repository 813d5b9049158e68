#!/usr/bin/env python3
"""Prints the functions of the public header that a library has as a module-definition file: what resource_tracker.dll
exports. The library for Windows has none of the functions that track.

    tools/exports.py include/resource_tracker.h libresource_tracker.a
"""

import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"\b(trk_[a-z0-9_]+)\(")
NM = "x86_64-w64-mingw32-nm"

declared = set(FUNCTION.findall(COMMENT.sub("", Path(sys.argv[1]).read_text(encoding="utf-8"))))
symbols = subprocess.run([NM, "--defined-only", sys.argv[2]], check=True, capture_output=True, text=True).stdout
defined = {line.split()[2] for line in symbols.splitlines() if " T " in line}
print("EXPORTS", *sorted(declared & defined), sep="\n")
