#!/usr/bin/env bash
# Stores recordings of the version that is about to be released, and the figures that it reads from them, in
# tests/recordings/VERSION. Every later version must be able to read them (tests/cli/test_old_recordings.py).
#
#   tools/release/keep_recordings.sh        uses build/resource-tracker
#
# The jobs run in a separate UTS namespace, so that the recordings do not contain the host name of this machine.
# Requires root.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${BUILD:-build}/resource-tracker")
version=$("$program" version | cut -d ' ' -f 2)
out=$PWD/tests/recordings/$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export RESOURCE_TRACKER_DIR=$work/state TRACKER_NO_DISCOVERY=1 HOME=/ LC_ALL=C.UTF-8
unset RESOURCE_TRACKER_RUN
mkdir -p "$work/bin" "$out"
# The program is started by name through PATH, so that the recordings do not contain a path of this machine.
ln -s "$program" "$work/bin/resource-tracker"
export PATH=$work/bin:/usr/bin:/bin

track() {
	unshare --uts sh -c 'hostname example; cd /tmp; exec "$@"' sh \
		resource-tracker run --quiet --no-discovery --interval 0.1 "$@" 2>/dev/null || true
}

# keep NAME: stores the last run, and the figures that this version reads from it.
keep() {
	local recording
	recording=$(find "$work/state/runs" -name '*.rtrk' | sort | tail -n 1)
	cp "$recording" "$out/$1.rtrk"
	chmod 644 "$out/$1.rtrk"
	"$program" show --json "$out/$1.rtrk" >"$work/show.json"
	"$program" export --format jsonl "$out/$1.rtrk" | wc -l >"$work/rows"
	/usr/bin/python3 - "$work/show.json" "$work/rows" >"$out/$1.json" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		kept = {"rows": int(open(sys.argv[2]).read()),
		        "run": {name: found["run"][name] for name in (
		            "id", "job", "kind", "command", "tags", "start_time", "duration_s", "interval_s")},
		        "exit": {name: found["run"]["exit"][name] for name in ("code", "signal", "verdict")},
		        "totals": {name: {"value": total["value"], "quality": total["quality"]}
		                   for name, total in found["totals"].items()},
		        "stats": {name: {key: column[key] for key in ("mean", "min", "max", "sum")}
		                  for name, column in found["stats"].items()}}
		print(json.dumps(kept, indent=1))
	END
	rm -rf "$work/state/runs"
}

track --job phases --tag kept=yes -- sh -c '
	i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done
	resource-tracker mark children; for n in 1 2 3; do /bin/true; done
	resource-tracker mark rest; sleep 0.3'
keep phases
track --job failed -- sh -c 'sleep 0.2; exit 3'
keep failed
track --job signalled -- sh -c 'sleep 0.2; kill -9 $$'
keep signalled
track --job ended --timeout 0.5 --grace 0.1 -- sleep 60
keep ended
# A recording without an end, because the job kills the tracker.
track --job cut -- sh -c 'sleep 0.5; kill -9 $PPID'
keep cut
ls -l "$out"
