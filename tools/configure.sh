#!/usr/bin/env bash
# Configures a build folder that does not exist yet. BUILD is the top build folder (default: build).
#
#   tools/configure.sh          $BUILD: gcc, optimised, what `make` and the tests use
#   tools/configure.sh asan     $BUILD/asan: clang, address and undefined-behaviour sanitizers, which need names
#                               and lines alone (-g1)
#   tools/configure.sh tsan     $BUILD/tsan: clang, thread sanitizer; few tests use it, so that it is not optimised
#   tools/configure.sh fuzz     $BUILD/fuzz: clang, libFuzzer programs
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
clang=clang # with ccache, which meson finds alone for the default compiler only
if command -v ccache >/dev/null; then
	clang="ccache clang"
fi

configure() {
	local folder=$1 log
	shift
	if [ -f "$folder/build.ninja" ]; then
		return
	fi
	mkdir -p "$folder"
	log=$folder/configure.log
	if ! meson setup "$folder" "$@" >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		return 1
	fi
}

case "${1-}" in
'') configure "$build" ;;
asan) CC=$clang configure "$build/asan" -Doptimization=1 -Dc_args=-g1 -Db_lundef=false \
	-Db_sanitize=address,undefined -Dtests=enabled ;;
tsan) CC=$clang configure "$build/tsan" -Doptimization=0 -Dc_args=-g1 -Db_lundef=false -Db_sanitize=thread \
	-Dtests=enabled ;;
fuzz) CC=$clang configure "$build/fuzz" -Db_lundef=false -Dfuzz=true ;;
*)
	echo "configure: unknown kind $1. Try: tools/configure.sh [asan|tsan|fuzz]" >&2
	exit 2
	;;
esac
