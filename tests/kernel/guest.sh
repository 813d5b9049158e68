# Functions for the topics, which run in the guest. A topic writes its results to its folder, which is the working
# directory. test_TOPIC.py examines them outside of the guest.
#
#   sh /guest.sh TOPIC
CG=/sys/fs/cgroup
export RESOURCE_TRACKER_DIR=/tmp/state/$1

# put FILE VALUE: write to a file of a group.
put() {
	echo "$2" >"$1" || echo "cannot write $2 to $1"
}

# group PATH [FILE VALUE]…: make a group and set its files. All controllers are on in the groups above.
group() {
	local path=$1 above=$CG part
	shift
	for part in $(echo "$path" | tr / ' '); do
		echo "+memory +cpu +cpuset +pids +io" >"$above/cgroup.subtree_control"
		above=$above/$part
		mkdir -p "$above"
	done
	while [ $# -gt 0 ]; do
		put "$CG/$path/$1" "$2"
		shift 2
	done
}

# within PATH COMMAND…: run a command in a group.
within() {
	(
		echo 0 >"$CG/$1/cgroup.procs"
		shift
		exec "$@"
	)
}

# track PATH NAME ARGUMENT…: `run` in a group. Leaves NAME.json, NAME.txt and NAME.rc.
track() {
	local path=$1 name=$2
	shift 2
	within "$path" resource-tracker run -i 200ms --no-discovery --plain --job "$name" \
		--summary-json "$name.json" "$@" >"$name.txt" 2>&1
	echo $? >"$name.rc"
	# The tracker may have been killed as well.
	[ -s "$name.json" ] || resource-tracker show --json >"$name.json"
}

# keep PATH NAME FILE…: what files of a group say now, as NAME.FILE.
keep() {
	local path=$1 name=$2 file
	shift 2
	for file in "$@"; do
		cat "$CG/$path/$file" >"$name.$file"
	done
}

mkdir -p "/out/$1" "$RESOURCE_TRACKER_DIR"
cd "/out/$1" || exit
. "/topics/$1.sh"
