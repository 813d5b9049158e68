#!/usr/bin/env bash
# Packs the wheel of the Python package from the module and the program of the build folder, and installs it into the
# virtual environment of the tests. `pip wheel .` would compile all sources once more; `make release-prove`
# installs with it.
#
#   tools/python_wheel.sh           $BUILD/wheel/*.whl, installed into build/venv-python
#
# BUILD is the build folder (default: build). tools/setup.sh creates the virtual environment.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
python=build/venv-python/bin/python

[ -x "$python" ] || {
	echo "python_wheel: $python is missing. Try: tools/setup.sh" >&2
	exit 1
}
ninja --quiet -C "$build" resource-tracker bindings/python/_core.abi3.so
rm -rf "$build/wheel"
mkdir -p "$build/wheel"
strip -o "$build/wheel/program" "$build/resource-tracker"
strip -o "$build/wheel/module" "$build/bindings/python/_core.abi3.so"
PYTHONPATH=bindings/python "$python" - "$build/wheel" "$(uname -m)" <<'END'
import pathlib
import sys

import pure

folder, machine = pathlib.Path(sys.argv[1]), sys.argv[2]
names = {"program": "resource-tracker-program", "module": "_core.abi3.so"}
pure.build(folder, f"cp39-abi3-linux_{machine}", {
    f"{pure.NAME}/native/{machine}/{names[path.name]}": path.read_bytes() for path in folder.iterdir()})
END
rm "$build/wheel/program" "$build/wheel/module"
"$python" -m pip install --quiet --force-reinstall --no-deps "$build"/wheel/*.whl
