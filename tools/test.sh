#!/usr/bin/env bash
# Builds and runs every test, and counts them.
#
#   tools/test.sh           each behaviour once; the last line is "N passed, N failed"
#   tools/test.sh STAGE…    only these stages: build, unit, cli, e2e, python, sanitizers,
#                           threads, valgrind, kernel, lint, and those of `prove`
#   tools/test.sh check     the quick loop, under 3 minutes: build, unit, law, format and the tests
#                           of the program that take seconds
#   tools/test.sh prove     what takes longer, before a release: all cases on the plain program, under the sanitizers
#                           and under valgrind, tests with the mark `prove`, other systems, all wheels, all kernels,
#                           clang-tidy on all files
#
# A case is a cmocka case, a parser's fuzz corpus, a pytest case, or one check of lint or build.
#
# Without a stage, unit tests and the tests of the program that read foreign files run under the sanitizers only, the
# other tests of the program only without, and valgrind sees the programs that write structures. Two lanes of stages run
# at the same time, because tests wait for most of their time. A background process at the lowest priority does the
# builds that later stages need, and lint, in the CPU time that the lanes leave. The output of a stage is shown when the
# stage has ended.
#
# BUILD is the build folder (default: build), JOBS the number of processes. KERNELS are the versions of Linux that the
# stage `kernel` boots (default: 6.1; `make kernels` boots all).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export BUILD=${BUILD:-build} JOBS=${JOBS:-$(nproc)}
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3 # Debian's Python, which has pytest, independent of PATH
mkdir -p "$BUILD/test-logs"
logs=$(realpath "$BUILD/test-logs")
asan=$(realpath "$BUILD")/asan
tsan=$(realpath "$BUILD")/tsan

stage_passed=0 stage_failed=0 stage_skipped=0 stage_start=0 stage_cpu=0
failures=$logs/tests.failures # of this lane
beside=                       # pid of the background process for builds and lint

# --- processes --------------------------------------------------------------------------------

# Every process of this run has TEST_RUN in its environment, even if it has left the process group or the session.
export TEST_RUN=$$-tests

# signal_run SIGNAL LANE: sends a signal to every process of this run. LANE is beside (background), or .* for all.
signal_run() {
	local file
	for file in $(grep -slzx "TEST_RUN=$$-$2" /proc/[0-9]*/environ); do
		kill -s "$1" "${file//[^0-9]/}" 2>/dev/null
	done
}

# together COMMAND…: runs a first attempt, which may run at the same time as that of the other lane.
together() {
	flock --shared --close "$logs/lock" "$@"
}

# alone COMMAND…: runs a command after the attempt of the other lane has ended, and while the background process is
# stopped.
alone() {
	local rc=0 lock
	exec {lock}>"$logs/lock"
	flock "$lock"
	signal_run STOP beside
	"$@" {lock}>&- || rc=$?
	signal_run CONT beside
	exec {lock}>&-
	return $rc
}

# --- counting ---------------------------------------------------------------------------------

# Sets cpu_s to the CPU time in s of all commands of this lane that have ended. Linux counts in 1/100 s.
read_cpu() {
	local stat
	read -ra stat <"/proc/$BASHPID/stat"
	cpu_s=$(((stat[15] + stat[16]) / 100))
}

begin() {
	printf '== %s\n' "$1"
	read_cpu
	stage_passed=0 stage_failed=0 stage_skipped=0 stage_start=$SECONDS stage_cpu=$cpu_s
}

# end NAME: writes the counts of the stage to a file.
end() {
	local line
	if [ $((stage_passed + stage_failed)) -eq 0 ]; then
		echo "   no case ran, which counts as a failure"
		stage_failed=1
	fi
	read_cpu
	line=$(printf '%-12s %4d passed, %d failed, %d skipped (%d s, %d s of CPU)' "$1" \
		$stage_passed $stage_failed $stage_skipped $((SECONDS - stage_start)) $((cpu_s - stage_cpu)))
	printf '%s\n' "$stage_passed $stage_failed $stage_skipped" "$line" >"$logs/$1.counts"
	printf '   %s\n' "$line"
}

# check NAME COMMAND…: runs a command as one case, and prints its output if it fails.
check() {
	local name=$1 log=$logs/${1// /-}.log
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		stage_passed=$((stage_passed + 1))
	else
		stage_failed=$((stage_failed + 1))
		{
			printf -- '--- %s\n' "$name"
			tail -n 100 "$log"
		} | tee -a "$failures"
		return 1
	fi
}

# count KIND FILE… RC: adds the cases of one run of meson or pytest. If the run ended with an error and no case failed
# (for example, it could not start), that counts as one failure.
count() {
	local out p=0 f=0 s=0 before=$stage_failed rc=${!#}
	out=$("$python" tools/tally.py "${@:1:$#-1}" 2>&1) || out+=$'\n0 1 0'
	read -r p f s < <(tail -n 1 <<<"$out")
	[ "$f" -eq 0 ] || sed '$d' <<<"$out" | tee -a "$failures"
	stage_passed=$((stage_passed + p))
	stage_failed=$((stage_failed + f))
	stage_skipped=$((stage_skipped + s))
	if [ "$rc" -ne 0 ] && [ "$stage_failed" -eq "$before" ]; then
		stage_failed=$((stage_failed + 1))
		return 1
	fi
}

# run_meson NAME FOLDER [TEST…] [OPTION…]: runs `meson test`. NAME is the name of the log (meson appends the name of a
# wrapper). Up to five failed programs run a second time without other load, because the machine may have been busy.
# They are printed.
run_meson() {
	local name=$1 folder=$2 rc=0 failed first second=()
	shift 2
	rm -f "$folder/meson-logs/$name"*.json "$folder/meson-logs/again-$name"*.json
	together meson test -C "$folder" --no-rebuild --num-processes "$JOBS" --logbase "$name" "$@" \
		>"$logs/$name.log" 2>&1 </dev/null || rc=$?
	first=("$folder/meson-logs/$name"*.json)
	failed=$("$python" tools/tally.py failed "${first[0]}")
	if [ -n "$failed" ] && [ "$(wc -w <<<"$failed")" -le 5 ]; then
		echo "   second attempt: $failed"
		while [ $# -gt 0 ] && [[ $1 != -* ]]; do
			shift
		done
		rc=0
		alone meson test -C "$folder" --no-rebuild --num-processes 1 --logbase "again-$name" $failed "$@" \
			>>"$logs/$name.log" 2>&1 </dev/null || rc=$?
		second=("$folder/meson-logs/again-$name"*.json)
	fi
	count meson "${first[0]}" "${second[@]}" $rc || tail -n 40 "$logs/$name.log"
}

# run_pytest NAME MARKS ARGUMENT…: runs the tests with these marks (as of `pytest -m`), in twice JOBS processes, because
# most tests wait most of the time. tests/conftest.py distributes the tests. Up to twelve failed tests run a second time, one after the other without
# other load, because the machine may have been busy. They are printed.
run_pytest() {
	local name=$1 marks=$2 rc=0 failed options reports
	shift 2
	options=(-q --tb=short -m "$marks" -o "cache_dir=$logs/$name.cache")
	reports=("$logs/$name.xml")
	rm -rf "$logs/$name.cache" "$logs/$name.xml" "$logs/$name-again.xml"
	together timeout 2400 "$python" -m pytest "${options[@]}" -n "$((2 * JOBS))" --dist loadfile \
		--junitxml="${reports[0]}" "$@" >"$logs/$name.log" 2>&1 </dev/null || rc=$?
	failed=$(sed -n 's/^\(FAILED\|ERROR\) \([^ ]*\).*/   second attempt: \2/p' "$logs/$name.log")
	if [ "$rc" -eq 1 ] && [ "$(wc -l <<<"$failed")" -le 12 ]; then
		echo "$failed"
		rc=0
		reports+=("$logs/$name-again.xml")
		alone timeout 1200 "$python" -m pytest "${options[@]}" -n 0 --last-failed --last-failed-no-failures none \
			--junitxml="${reports[1]}" "$@" >>"$logs/$name.log" 2>&1 </dev/null || rc=$?
	fi
	count junit "${reports[@]}" $rc || tail -n 40 "$logs/$name.log"
}

# --- builds -----------------------------------------------------------------------------------

build_asan() {
	check "sanitizers configure" tools/configure.sh asan &&
		check "sanitizers build" ninja --quiet -C "$asan" -j "$JOBS"
}

build_wheel() {
	check "python wheel" tools/python_wheel.sh
}

# The macOS wheel is built with the program for macOS on x86_64.
build_systems() {
	check "macOS build" build/venv-python/bin/python tools/macos.py --check aarch64
	check "Windows build" build/venv-python/bin/python tools/windows.py program library wheel
	check "macOS wheel" build/venv-python/bin/python tools/python_portable.py --libc macos "$(uname -m)"
	check "portable wheel" build/venv-python/bin/python tools/python_portable.py "$(uname -m)"
}

build_tsan() {
	check "threads configure" tools/configure.sh tsan &&
		check "threads build" ninja --quiet -C "$tsan" -j "$JOBS" resource-tracker \
			tests/unit/unit_{api,probe_gpu} tests/gpu/{,old/}libnvidia-ml.so.1
}

# built NAME: runs build_NAME, or waits until the background process has run it. Succeeds if the build did.
built() {
	if [ -z "$beside" ]; then
		"build_$1"
		return
	fi
	while [ ! -e "$logs/$1.built" ] && kill -s 0 "$beside" 2>/dev/null; do
		sleep 1
	done
	[ "$(cat "$logs/$1.built" 2>&1)" = 0 ]
}

# --- stages -----------------------------------------------------------------------------------

configure_with_tests() {
	tools/configure.sh && meson configure "$BUILD" -Dtests=enabled
}

stage_build() {
	begin "build"
	check configure configure_with_tests &&
		check build ninja --quiet -C "$BUILD" -j "$JOBS"
	end build
}

stage_unit() {
	begin "unit tests and fuzz corpora"
	run_meson unit "$BUILD"
	end unit
}

# Files in tests/cli whose subject is reading files of others.
foreign=(bad_input catalog_prices catalog_update config history import lines_input live_report old_recordings outputs
	recording security servers strangers strangers_configuration strangers_fleet strangers_history
	strangers_recordings strangers_state top)
foreign=("${foreign[@]/#/tests/cli/test_}")
foreign=("${foreign[@]/%/.py}")

# Tests marked `native` cannot run under the sanitizers.
stage_cli() {
	begin "tests of the real program"
	export RESOURCE_TRACKER_BIN
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker")
	run_pytest cli 'not prove' "${foreign[@]/#/--ignore=}" tests/cli
	run_pytest cli-native 'native and not prove' "${foreign[@]}"
	end cli
}

stage_quick() {
	local name files=()
	for name in bad_input config import limits live_report outputs recording report run security servers \
		sibling signals strangers terminal; do
		files+=("tests/cli/test_$name.py")
	done
	begin "quick tests of the program, law, format"
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest quick 'not prove' "${files[@]}"
	check law tools/lint.sh law
	check format tools/lint.sh format
	end quick
}

# in_browser NAME FILE…: runs tests in a browser. E2E_PICTURES=FOLDER saves a screenshot of each state.
in_browser() {
	local name=$1 rc=0
	shift
	rm -f "$logs/$name.xml"
	if check "recordings for the browser" ninja --quiet -C "$BUILD" -j "$JOBS" \
		tests/e2e/make_recordings tests/e2e/make_history; then
		RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") \
			MAKE_RECORDINGS=$(realpath "$BUILD/tests/e2e/make_recordings") \
			MAKE_HISTORY=$(realpath "$BUILD/tests/e2e/make_history") \
			together timeout 2400 node --test --test-concurrency="$JOBS" --test-reporter=junit \
			--test-reporter-destination="$logs/$name.xml" "$@" >"$logs/$name.log" 2>&1 </dev/null || rc=$?
		count junit "$logs/$name.xml" $rc || tail -n 40 "$logs/$name.log"
	fi
}

stage_e2e() {
	begin "the report in a browser"
	in_browser e2e tests/e2e/*.test.mjs
	end e2e
}

# test_wheel NAME MARKS ARGUMENT…: tests of the Python package, which is installed from the wheel into a separate environment.
test_wheel() {
	TRK_NEEDS_ALL_MODULES=1 python=$PWD/build/venv-python/bin/python run_pytest "$@"
}

# Tests of wheels for other systems and of a release, each of which builds the program several times.
artefacts=(tests/python/test_portable.py tests/python/test_release.py)

stage_python() {
	begin "tests of the Python package"
	if build_wheel; then
		test_wheel python 'not prove' "${artefacts[@]/#/--ignore=}" tests/python
	fi
	end python
}

# Sanitizers write their reports to files, so that a test cannot hide them.
no_reports() {
	! cat "$logs"/sanitizer-report.* 2>/dev/null
}

# sanitized FILE…: runs tests of the program that has the sanitizers.
sanitized() {
	local options=exitcode=99:log_path=$logs/sanitizer-report
	rm -f "$logs"/sanitizer-report.*
	ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1:$options \
		RESOURCE_TRACKER_BIN=$asan/resource-tracker \
		run_pytest sanitizers-cli 'not native and not prove' "$@"
	check "sanitizer reports" no_reports
}

stage_sanitizers() {
	begin "unit tests, fuzz corpora and foreign files under the address and undefined-behaviour sanitizers (clang)"
	if built asan; then
		UBSAN_OPTIONS=print_stacktrace=1 run_meson sanitizers "$asan" --timeout-multiplier 4
		sanitized "${foreign[@]}"
	fi
	end sanitizers
}

# Code with threads: concurrent use of the C API, and queries of GPUs.
stage_threads() {
	begin "what has threads under the thread sanitizer (clang)"
	if built tsan; then
		run_meson threads "$tsan" --suite threads --timeout-multiplier 4
	fi
	end threads
}

# under_valgrind TEST…: with TRK_VALGRIND set, cases that examine their own process skip themselves, because valgrind
# changes it.
under_valgrind() {
	TRK_VALGRIND=1 run_meson valgrind "$BUILD" "$@" --suite unit --timeout-multiplier 10 \
		--wrapper 'valgrind --quiet --error-exitcode=99 --leak-check=full'
}

# Valgrind finds bytes that were never set, which the sanitizers do not see: here, in what is written to files and
# sockets.
stage_valgrind() {
	begin "what writes structures, under valgrind"
	under_valgrind gpu_poller history message programs reader recording sampler
	end valgrind
}

# judge_topics FOLDER: runs the tests on what the guest has left. Prints the topics with a failed test, and the output
# of the tests to stderr.
judge_topics() {
	local words
	words=$(KERNEL_OUT=$1 "$python" -m pytest -q -p no:cacheprovider tests/kernel)
	printf '%s\n' "$words" >&2
	sed -n 's,^\(FAILED\|ERROR\) tests/kernel/test_\([a-z]*\)\.py.*,\2,p' <<<"$words" | sort -u
}

# boot_kernel VERSION FOLDER TOPIC…: boots a kernel and runs the topics. If the boot or a test of a topic fails, the
# failed topics run in a second boot, because the machine may have been busy. A topic that the second boot does not
# reach keeps the files of the first one.
boot_kernel() {
	local version=$1 out=$2 failed topic
	shift 2
	if together tests/kernel/boot.sh "$BUILD/resource-tracker" "build/kernel/$version" "$out" "$@"; then
		failed=$(judge_topics "$out")
	else
		failed=$*
	fi
	[ -n "$failed" ] || return 0
	echo "second attempt:" $failed
	mkdir "$out/again"
	# shellcheck disable=SC2086
	alone tests/kernel/boot.sh "$BUILD/resource-tracker" "build/kernel/$version" "$out/again" $failed || return
	for topic in $failed; do
		rm -rf "${out:?}/$topic"
		mv "$out/again/$topic" "$out/$topic"
	done
}

# Boots each kernel once or twice. The tests then examine the files that the guest has left.
stage_kernel() {
	local version out topics
	topics=$(cd tests/kernel/topics && printf '%s ' *.sh | sed 's/\.sh / /g')
	begin "the program in a virtual machine with cgroup v2 (Linux ${KERNELS:-6.1})"
	for version in ${KERNELS:-6.1}; do
		out=$logs/kernel-$version
		rm -rf "$out"
		mkdir -p "$out"
		# shellcheck disable=SC2086
		if check "kernel package $version" tools/kernel_packages.sh "$version"; then
			check "kernel $version" boot_kernel "$version" "$out" $topics
			sed -n 's/^second attempt/   &/p' "$logs/kernel-$version.log"
			KERNEL_OUT=$out run_pytest "kernel-$version-tests" 'not prove' tests/kernel
		fi
	done
	end kernel
}

stage_lint() {
	local name
	begin "lint"
	for name in law law-self-test format shell tidy-changed cppcheck; do
		check "$name" tools/lint.sh "$name"
	done
	end lint
	tools/lint.sh complexity
}

# --- what takes longer ------------------------------------------------------------------------

# The cases of `sanitizers` on the plain program, and those of `cli` under the sanitizers.
stage_again() {
	begin "the unit tests on the plain program, and the rest of the program under the sanitizers"
	run_meson unit "$BUILD"
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest again-cli 'not native and not prove' "${foreign[@]}"
	if built asan; then
		sanitized "${foreign[@]/#/--ignore=}" tests/cli
	fi
	end again
}

stage_all-valgrind() {
	begin "all unit tests under valgrind"
	under_valgrind
	end all-valgrind
}

# Builds for macOS and Windows, and tests of the latter under Wine.
stage_systems() {
	begin "other systems"
	if built systems; then
		RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest windows 'not prove' tests/windows
	fi
	if build_wheel; then
		test_wheel artefacts 'not prove' "${artefacts[@]}"
	fi
	end systems
}

# Tests with the mark `prove`, most of them of frameworks that take seconds to start, and every page of the site.
stage_marked() {
	begin "tests that only prove runs"
	EVERY_PAGE=1 in_browser marked-e2e tests/e2e/site.test.mjs
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest marked prove tests/cli
	if build_wheel; then
		test_wheel marked-python prove "${artefacts[@]/#/--ignore=}" tests/python
	fi
	end marked
}

stage_tidy() {
	begin "clang-tidy on all files"
	check tidy tools/lint.sh tidy
	end tidy
}

# --- all of it --------------------------------------------------------------------------------

# The builds are in the order in which the tests need them.
stage_builds() {
	local name
	begin "builds for later stages"
	for name in asan tsan; do
		"build_$name"
		echo $? >"$logs/$name.new"
		mv "$logs/$name.new" "$logs/$name.built"
	done
	end builds
}

# run_lane LANE STAGE…: runs stages one after the other. The output of a stage is collected, so that the outputs of two
# lanes do not mix.
run_lane() {
	local name lane=$1
	export TEST_RUN=$$-$lane
	failures=$logs/$lane.failures
	shift
	for name in "$@"; do
		"stage_$name" >"$logs/stage-$name.log" 2>&1
		cat "$logs/stage-$name.log"
	done
}

run_beside() {
	renice -n 19 -p "$BASHPID" >/dev/null 2>&1 # some containers do not permit it
	run_lane beside builds lint
}

run_everything() {
	local lanes=()
	stage_build
	if [ "$stage_failed" -gt 0 ]; then
		echo "   the other stages need the build and are left out"
		stages=(build)
		return
	fi
	run_beside &
	beside=$!
	run_lane program cli sanitizers &
	lanes+=($!)
	run_lane others e2e kernel python threads valgrind &
	lanes+=($!)
	wait "${lanes[@]}" "$beside"
}

# Prints the lines of all stages, and sets the totals. A stage without counts did not finish.
sum_up() {
	local name p f s line
	passed=0 failed=0 skipped=0
	for name in "${stages[@]}"; do
		p=0 f=1 s=0 line="$name did not finish"
		[ ! -s "$logs/$name.counts" ] || { read -r p f s && read -r line; } <"$logs/$name.counts"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		printf '   %s\n' "$line"
	done
}

run_stages() {
	local name line passed failed skipped
	rm -f "$BUILD/test-summary" "$logs"/*.{failures,built,counts}
	if "$everything"; then
		run_everything
	else
		for name in "${stages[@]}"; do
			"stage_$name"
			if [ "$name" = build ] && [ "$stage_failed" -gt 0 ]; then
				echo "   the other stages need the build and are left out"
				stages=(build)
				break
			fi
		done
	fi

	if cat "$logs"/*.failures >"$logs/failures" 2>/dev/null; then
		echo "== failures, repeated"
		tail -n 200 "$logs/failures"
	fi
	echo "== summary ($SECONDS s)"
	sed -n 's/^--- /   failed: /p' "$logs/failures"
	sum_up
	line="$passed passed, $failed failed"
	if [ "$skipped" -gt 0 ]; then
		line+=", $skipped skipped"
	fi
	echo "$line" | tee "$BUILD/test-summary"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

stages=(build cli sanitizers e2e kernel python threads valgrind)
slow=(build again marked all-valgrind systems tidy kernel)
known="check, prove, or ${stages[*]} unit lint ${slow[*]:1:5}"
everything=false
case $* in
'') everything=true stages+=(builds lint) ;;
check) stages=(build unit quick) ;;
prove)
	stages=("${slow[@]}")
	KERNELS=${KERNELS-5.10 6.1 6.12}
	export LIMIT_S=${LIMIT_S-600}
	;;
*) stages=("$@") ;;
esac
for name in "${stages[@]}"; do
	if [ "$(type -t "stage_$name")" != function ]; then
		echo "test: unknown stage $name. Try: $known" >&2
		exit 2
	fi
done

# The stages run in a separate process group, so that this shell handles a signal at once and ends all processes.
stop() {
	kill -s TERM -- "-$group" 2>/dev/null
	signal_run TERM '.*'
	sleep 1
	signal_run KILL '.*'
}
set -m
run_stages </dev/null &
set +m
group=$!
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM HUP
wait "$group"
