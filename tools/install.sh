#!/usr/bin/env bash
# Builds and installs the program, tracking shells, manual page, completions, scores of servers, C library, header and
# pkg-config file. It does not build the tests. The Python package is installed with pip instead.
#
#   PREFIX=/usr/local DESTDIR= tools/install.sh
#
# BUILD is the build folder, JOBS the number of processes. Relative paths start at the top folder of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
prefix=$(realpath -ms "${PREFIX:-/usr/local}")
destdir=${DESTDIR:+$(realpath -ms "$DESTDIR")}

# introspect LIST CODE: runs Python CODE, with a list that `meson introspect` prints in the variable `found`.
introspect() {
	meson introspect "$build" "$1" | /usr/bin/env python3 -c "
import json, os, sys
found = json.load(sys.stdin)
$2" "$(realpath "$build")"
}

tools/configure.sh
if [ "$(introspect --buildoptions 'print(*(o["value"] for o in found if o["name"] == "prefix"))')" != "$prefix" ]; then
	meson configure "$build" --prefix="$prefix"
fi
mapfile -t targets < <(introspect --targets "print(*(
	os.path.relpath(file, sys.argv[1])
	for target in found if target['installed'] for file in target['filename']), sep='\n')")
ninja -C "$build" -j "${JOBS:-1}" "${targets[@]}"
DESTDIR=$destdir meson install -C "$build" --no-rebuild --strip
