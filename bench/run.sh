#!/usr/bin/env bash
# Runs the benchmarks and writes docs/performance.md. Called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
ninja --quiet -C "$build" bench/bench_tick
exec /usr/bin/python3 bench/bench.py "$build/resource-tracker" "$build/bench/bench_tick" \
	build/venv-bench/bin/python
