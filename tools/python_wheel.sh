#!/usr/bin/env bash
# Builds the wheel of the Python package, and installs it into the virtual environment of the tests.
#
#   tools/python_wheel.sh           $BUILD/wheel/*.whl, installed into build/venv-python
#
# BUILD is the build folder (default: build). tools/setup.sh creates the virtual environment.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
venv=build/venv-python
python=$venv/bin/python

[ -x "$python" ] || {
	echo "python_wheel: $venv is missing. Try: tools/setup.sh" >&2
	exit 1
}
rm -rf "$build/wheel"
mkdir -p "$build/wheel"
PATH=$PWD/$venv/bin:$PATH "$python" -m pip wheel --quiet --no-build-isolation --no-deps \
	--wheel-dir "$build/wheel" --config-settings=build-dir="$build/wheel-build" .
"$python" -m pip install --quiet --force-reinstall --no-deps "$build"/wheel/*.whl
