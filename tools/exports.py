#!/usr/bin/env python3
"""Prints the functions of the public header as a module-definition file: what resource_tracker.dll exports.

    tools/exports.py include/resource_tracker.h
"""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"\b(trk_[a-z0-9_]+)\(")

names = FUNCTION.findall(COMMENT.sub("", Path(sys.argv[1]).read_text(encoding="utf-8")))
print("EXPORTS", *sorted(set(names)), sep="\n")
