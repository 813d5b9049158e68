#!/usr/bin/env bash
# Runs the benchmarks and writes docs/performance.md. Called by `make bench`.
#
#   bench/run.sh             all chapters
#   bench/run.sh CHAPTER…    only these chapters (samples, totals, peaks …); the rest of the page stays as it is
#
# BENCH_PAGE is the path of another page to write. `tools/setup.sh build test bench` installs the peers.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
page=${BENCH_PAGE:-docs/performance.md}
export BENCH_PAGE=$page
status=0
ninja --quiet -C "$build" bench/bench_tick tests/e2e/make_recordings
[ $# -gt 0 ] || tools/python_wheel.sh
/usr/bin/python3 bench/bench.py "$build/resource-tracker" "$build/bench/bench_tick" \
	build/venv-bench/bin/python build/bench-cargo/bin/resource-tracker "$@" || status=$?
if [ $# -gt 0 ]; then
	exit "$status"
fi
{
	echo
	/usr/bin/python3 bench/report/bench.py "$build/resource-tracker" \
		"$build/tests/e2e/make_recordings" build/venv-bench/bin/python
	echo
	/usr/bin/python3 bench/python_stats.py
} >>"$page"
exit "$status"
