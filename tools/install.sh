#!/usr/bin/env bash
# Builds what is installed, without the tests, and installs it: program, tracking shells, manual page, completions,
# scores of servers, C library, header and pkg-config file. The Python package is installed by pip.
#
#   PREFIX=/usr/local DESTDIR= tools/install.sh
#
# BUILD is the build folder, JOBS the number of processes. Relative paths are relative to the top of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
prefix=$(realpath -ms "${PREFIX:-/usr/local}")
destdir=${DESTDIR:+$(realpath -ms "$DESTDIR")}

# introspect LIST CODE: what the code prints of one of the lists that meson has of the build folder.
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
