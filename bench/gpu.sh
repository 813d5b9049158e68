#!/bin/sh
# Counts the instructions of one poll of 8 GPUs with 50 processes on each. Only the tracker's code counts, not that of
# the simulated NVIDIA library and of libc: bench/gpu.sh [BUILD]
set -eu
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpu=0
while [ $gpu -lt 8 ]; do
	echo "device name=H100 uuid=GPU-$gpu minor=$gpu total=85899345920 used=1073741824 util=50" \
		"memutil=9 temp=60 power=300000 energy=1 clock=1980 memclock=2619 throttle=0 sm=40"
	pid=1000
	while [ $pid -lt 1050 ]; do
		echo "process device=$gpu pid=$pid memory=1048576 lists=cg"
		echo "sample device=$gpu pid=$pid sm=1 age_ms=100"
		pid=$((pid + 1))
	done
	gpu=$((gpu + 1))
done >"$work/script"
export TRK_STANDIN_NVML="$work/script" LD_LIBRARY_PATH="$build/tests/gpu"
valgrind --tool=callgrind --callgrind-out-file="$work/out" "$build/bench/bench_gpu" 20 2>/dev/null
callgrind_annotate --auto=no --threshold=100 "$work/out" 2>/dev/null | awk '
	/src\/probe\/gpu\/.*:[a-z_]+/ { count = $1; gsub(",", "", count); own += count }
	END { printf "%d instructions a poll in src/probe/gpu\n", own / 20 }'
