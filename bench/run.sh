#!/usr/bin/env bash
# Runs the benchmarks and writes docs/performance.md. Called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."
exec /usr/bin/python3 bench/bench.py "${BUILD:-build}/resource-tracker" build/venv-bench/bin/python
