#!/usr/bin/env bash
# Builds and runs every test, and counts them.
#
#   tools/test.sh           everything; the last line is "N passed, N failed"
#   tools/test.sh STAGE…    only these: build, unit, cli, e2e, python, sanitizers,
#                           threads, valgrind, kernel, lint
#   tools/test.sh check     the quick loop, under 3 minutes: build, unit, law, format and the tests
#                           of the program that take seconds
#
# A case is a cmocka case, a parser's fuzz corpus, a pytest case, or one check of lint or build.
# What runs again under the sanitizers or valgrind is counted again, and the summary says how much
# of the total that is.
#
# BUILD is the build folder (default: build), JOBS the number of processes. KERNELS are the versions of
# Linux that the stage `kernel` boots (default: 6.1; `make kernels` takes all).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export BUILD=${BUILD:-build} JOBS=${JOBS:-$(nproc)}
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3 # Debian's, which has pytest; not what stands first in PATH
mkdir -p "$BUILD/test-logs"
logs=$(realpath "$BUILD/test-logs")
asan=$(realpath "$BUILD")/asan
tsan=$(realpath "$BUILD")/tsan

passed=0 failed=0 skipped=0 again=0
stage_passed=0 stage_failed=0 stage_skipped=0 stage_start=0
summary=()

# --- counting ---------------------------------------------------------------------------------

begin() {
	printf '== %s\n' "$1"
	stage_passed=0 stage_failed=0 stage_skipped=0 stage_start=$SECONDS
}

# end NAME [again]: `again` marks cases that another stage has counted before.
end() {
	local line
	if [ $((stage_passed + stage_failed)) -eq 0 ]; then
		echo "   no case ran, which counts as a failure"
		stage_failed=1
	fi
	passed=$((passed + stage_passed))
	failed=$((failed + stage_failed))
	skipped=$((skipped + stage_skipped))
	if [ "${2-}" = again ]; then
		again=$((again + stage_passed + stage_failed))
	fi
	line=$(printf '%-12s %4d passed, %d failed, %d skipped (%d s)' "$1" \
		$stage_passed $stage_failed $stage_skipped $((SECONDS - stage_start)))
	summary+=("$line")
	printf '   %s\n' "$line"
}

# check NAME COMMAND…: one case; its output is shown when it fails.
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
		} | tee -a "$logs/failures"
		return 1
	fi
}

# count KIND FILE… RC: add the cases of one run of meson or pytest. A run that ended badly without a
# failed case (it could not start, say) is a failure too.
count() {
	local out p=0 f=0 s=0 before=$stage_failed rc=${!#}
	out=$("$python" tools/tally.py "${@:1:$#-1}" 2>&1) || out+=$'\n0 1 0'
	read -r p f s < <(tail -n 1 <<<"$out")
	[ "$f" -eq 0 ] || sed '$d' <<<"$out" | tee -a "$logs/failures"
	stage_passed=$((stage_passed + p))
	stage_failed=$((stage_failed + f))
	stage_skipped=$((stage_skipped + s))
	if [ "$rc" -ne 0 ] && [ "$stage_failed" -eq "$before" ]; then
		stage_failed=$((stage_failed + 1))
		return 1
	fi
}

# run_meson NAME FOLDER [TEST…] [OPTION…]: `meson test`, with the log under NAME (meson adds the name of a
# wrapper to it). Programs that fail run once more, alone, in case the machine was busy; they are listed.
run_meson() {
	local name=$1 folder=$2 rc=0 failed first second=()
	shift 2
	rm -f "$folder/meson-logs/$name"*.json "$folder/meson-logs/again-$name"*.json
	meson test -C "$folder" --no-rebuild --num-processes "$JOBS" --logbase "$name" "$@" \
		>"$logs/$name.log" 2>&1 </dev/null || rc=$?
	first=("$folder/meson-logs/$name"*.json)
	failed=$("$python" tools/tally.py failed "${first[0]}")
	if [ -n "$failed" ] && [ "$(wc -w <<<"$failed")" -le 5 ]; then
		echo "   second attempt: $failed"
		while [ $# -gt 0 ] && [[ $1 != -* ]]; do
			shift
		done
		rc=0
		meson test -C "$folder" --no-rebuild --num-processes 1 --logbase "again-$name" $failed "$@" \
			>>"$logs/$name.log" 2>&1 </dev/null || rc=$?
		second=("$folder/meson-logs/again-$name"*.json)
	fi
	count meson "${first[0]}" "${second[@]}" $rc || tail -n 40 "$logs/$name.log"
}

# run_pytest NAME ARGUMENT… In JOBS + 1 processes, as tests/conftest.py shares the tests. Tests that fail run
# once more, one after the other with nothing beside them, in case the machine was busy; they are listed.
run_pytest() {
	local name=$1 rc=0 failed options reports
	shift
	options=(-q --tb=short -o "cache_dir=$logs/$name.cache")
	reports=("$logs/$name.xml")
	rm -rf "$logs/$name.cache" "$logs/$name.xml" "$logs/$name-again.xml"
	timeout 2400 "$python" -m pytest "${options[@]}" -n "$((JOBS + 1))" --dist loadfile \
		--junitxml="${reports[0]}" "$@" >"$logs/$name.log" 2>&1 </dev/null || rc=$?
	failed=$(sed -n 's/^\(FAILED\|ERROR\) \([^ ]*\).*/   second attempt: \2/p' "$logs/$name.log")
	if [ "$rc" -eq 1 ] && [ "$(wc -l <<<"$failed")" -le 12 ]; then
		echo "$failed"
		rc=0
		reports+=("$logs/$name-again.xml")
		timeout 1200 "$python" -m pytest "${options[@]}" -n 0 --last-failed --last-failed-no-failures none \
			--junitxml="${reports[1]}" "$@" >>"$logs/$name.log" 2>&1 </dev/null || rc=$?
	fi
	count junit "${reports[@]}" $rc || tail -n 40 "$logs/$name.log"
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

stage_cli() {
	begin "tests of the real program"
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest cli tests/cli
	end cli
}

stage_quick() {
	local name files=()
	for name in bad_input config import limits live_report outputs recording report run security servers \
		sibling signals strangers terminal; do
		files+=("tests/cli/test_$name.py")
	done
	begin "quick tests of the program, law, format"
	RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest quick "${files[@]}"
	check law tools/lint.sh law
	check format tools/lint.sh format
	end quick
}

# E2E_PICTURES=FOLDER keeps a screenshot of each state.
stage_e2e() {
	local rc=0
	begin "the report in a browser"
	rm -f "$logs/e2e.xml"
	if check "recordings for the browser" ninja --quiet -C "$BUILD" -j "$JOBS" \
		tests/e2e/make_recordings tests/e2e/make_history; then
		RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") \
			MAKE_RECORDINGS=$(realpath "$BUILD/tests/e2e/make_recordings") \
			MAKE_HISTORY=$(realpath "$BUILD/tests/e2e/make_history") \
			timeout 1200 node --test --test-concurrency=1 --test-reporter=junit \
			--test-reporter-destination="$logs/e2e.xml" tests/e2e/*.test.mjs \
			>"$logs/e2e.log" 2>&1 </dev/null || rc=$?
		count junit "$logs/e2e.xml" $rc || tail -n 40 "$logs/e2e.log"
	fi
	end e2e
}

# What is built for other systems, that for Windows under Wine, and the package as users have it: the wheel,
# installed into an environment of its own.
stage_python() {
	begin "the builds for macOS and Windows, and tests of the Python package"
	check "macOS build" build/venv-python/bin/python tools/macos.py
	if check "Windows build" build/venv-python/bin/python tools/windows.py program library wheel; then
		RESOURCE_TRACKER_BIN=$(realpath "$BUILD/resource-tracker") run_pytest windows tests/windows
	fi
	if check "python wheel" tools/python_wheel.sh &&
		check "portable wheel" build/venv-python/bin/python tools/python_portable.py "$(uname -m)"; then
		TRK_NEEDS_ALL_MODULES=1 python=$PWD/build/venv-python/bin/python \
			run_pytest python tests/python
	fi
	end python
}

# A sanitizer's report goes to a file, so that no test can swallow it.
no_reports() {
	! cat "$logs"/sanitizer-report.* 2>/dev/null
}

stage_sanitizers() {
	local options=exitcode=99:log_path=$logs/sanitizer-report
	begin "the same under the address and undefined-behaviour sanitizers (clang)"
	rm -f "$logs"/sanitizer-report.*
	if check "sanitizers configure" tools/configure.sh asan &&
		check "sanitizers build" ninja --quiet -C "$asan" -j "$JOBS"; then
		UBSAN_OPTIONS=print_stacktrace=1 run_meson sanitizers "$asan" --timeout-multiplier 4
		ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1:$options \
			RESOURCE_TRACKER_BIN=$asan/resource-tracker \
			run_pytest sanitizers-cli -m 'not native' tests/cli
		check "sanitizer reports" no_reports
	fi
	end sanitizers again
}

# What has threads: the C API, used by several at once, and what asks GPUs.
stage_threads() {
	local tests=(threads tracker counters gpu gpu_container gpu_poller)
	begin "what has threads under the thread sanitizer (clang)"
	if check "threads configure" tools/configure.sh tsan &&
		check "threads build" ninja --quiet -C "$tsan" -j "$JOBS" resource-tracker \
			"${tests[@]/#/tests/unit/test_}" tests/gpu/{,old/}libnvidia-ml.so.1; then
		run_meson threads "$tsan" "${tests[@]}" --timeout-multiplier 4
	fi
	end threads again
}

# With TRK_VALGRIND a case that looks at its own process, which valgrind changes, skips itself.
stage_valgrind() {
	begin "unit tests under valgrind"
	TRK_VALGRIND=1 run_meson valgrind "$BUILD" --suite unit --timeout-multiplier 10 \
		--wrapper 'valgrind --quiet --error-exitcode=99 --leak-check=full'
	end valgrind again
}

# judge_topics FOLDER: prints the topics of which a test fails, and the tests' own words to stderr.
judge_topics() {
	local words
	words=$(KERNEL_OUT=$1 "$python" -m pytest -q -p no:cacheprovider tests/kernel)
	printf '%s\n' "$words" >&2
	sed -n 's,^\(FAILED\|ERROR\) tests/kernel/test_\([a-z]*\)\.py.*,\2,p' <<<"$words" | sort -u
}

# boot_kernel VERSION FOLDER TOPIC…: what fails in the first boot, the boot itself or topics of which a test
# fails, gets a second one, in case the machine was busy. Topics that the second boot does not reach keep
# what the first has left.
boot_kernel() {
	local version=$1 out=$2 failed topic
	shift 2
	if tests/kernel/boot.sh "$BUILD/resource-tracker" "build/kernel/$version" "$out" "$@"; then
		failed=$(judge_topics "$out")
	else
		failed=$*
	fi
	[ -n "$failed" ] || return 0
	echo "second attempt:" $failed
	mkdir "$out/again"
	# shellcheck disable=SC2086
	tests/kernel/boot.sh "$BUILD/resource-tracker" "build/kernel/$version" "$out/again" $failed || return
	for topic in $failed; do
		rm -rf "${out:?}/$topic"
		mv "$out/again/$topic" "$out/$topic"
	done
}

# One or two boots of each kernel, for at most four minutes each; the tests judge what the guest has left.
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
			KERNEL_OUT=$out run_pytest "kernel-$version-tests" tests/kernel
		fi
	done
	end kernel
}

stage_lint() {
	local name
	begin "lint"
	for name in law law-self-test format shell tidy cppcheck; do
		check "$name" tools/lint.sh "$name"
	done
	end lint
	tools/lint.sh complexity
}

# --- all of it --------------------------------------------------------------------------------

stages=(build unit cli e2e python sanitizers threads valgrind kernel lint)
[ "$*" != check ] || set -- build unit quick
if [ $# -gt 0 ]; then
	for name in "$@"; do
		if [ "$(type -t "stage_$name")" != function ]; then
			echo "test: unknown stage $name. Try: check, or ${stages[*]}" >&2
			exit 2
		fi
	done
	stages=("$@")
fi
rm -f "$BUILD/test-summary" "$logs/failures"
for name in "${stages[@]}"; do
	"stage_$name"
	if [ "$name" = build ] && [ "$failed" -gt 0 ]; then
		echo "   the other stages need the build and are left out"
		break
	fi
done

if [ -s "$logs/failures" ]; then
	echo "== what failed, once more"
	tail -n 200 "$logs/failures"
fi
echo "== summary ($SECONDS s)"
[ ! -s "$logs/failures" ] || sed -n 's/^--- /   failed: /p' "$logs/failures"
printf '   %s\n' "${summary[@]}"
printf '   %d cases in all, of which %d repeat others under the sanitizers or valgrind\n' \
	$((passed + failed)) "$again"
line="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then
	line+=", $skipped skipped"
fi
echo "$line" | tee "$BUILD/test-summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
