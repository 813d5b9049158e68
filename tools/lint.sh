#!/usr/bin/env bash
# Static checks of the code.
#
#   tools/lint.sh            all of them, then the ten most complex functions
#   tools/lint.sh NAME…      only these: law, law-self-test, format, shell, tidy, tidy-changed,
#                            cppcheck, complexity
#
# BUILD is the build folder (default: build), JOBS the number of processes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}

c_files() {
	find src include tests bindings -name '*.[ch]' | LC_ALL=C sort
}

check_law() {
	/usr/bin/python3 tools/check_law.py
}

check_law-self-test() {
	/usr/bin/python3 tools/check_law.py --self-test
}

# Prints what `make format` would change.
check_format() {
	local file
	c_files | xargs -P "$jobs" -n 50 clang-format --dry-run --Werror 2>/dev/null && return
	while read -r file; do
		clang-format "$file" | diff -u --label "$file" --label "make format" "$file" -
	done < <(c_files)
	return 1
}

check_shell() {
	local script bad=0
	while read -r script; do
		bash -n "$script" || bad=1
	done < <(find tools tests bench .ci -name '*.sh' -o -path .ci/run 2>/dev/null)
	return $bad
}

# tidy_files: runs clang-tidy on the files of stdin. It reads the compiler flags from the build folder that is configured
# for clang. Large files come first, so that all processes finish at about the same time.
tidy_files() {
	tools/configure.sh asan </dev/null || return 1
	xargs -r ls -S -- | xargs -r -n 1 -P "$jobs" clang-tidy -p "$build/asan" --quiet \
			--warnings-as-errors='*' 2>&1 |
		grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed |^Use -header-filter'
	return "${PIPESTATUS[1]}"
}

check_tidy() {
	find src -name '*.c' | tidy_files
}

# The C files that the last 30 commits changed, or those since the commit TIDY_SINCE.
check_tidy-changed() {
	local since=${TIDY_SINCE:-$(git rev-list --first-parent --max-count=31 HEAD | tail -n 1)}
	git diff --name-only --diff-filter=d "$since" -- 'src/*.c' | tidy_files
}

# shiftTooManyBitsSigned is suppressed, because gcc and clang define >> of a negative number (it copies the sign).
check_cppcheck() {
	cppcheck --quiet --error-exitcode=1 -j "$jobs" --std=c11 --language=c \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned \
		-D__linux__ -D_GNU_SOURCE -I include -I src src
}

check_complexity() {
	echo "complexity, lines, function:"
	find src -name '*.c' -print0 | xargs -0 -r pmccabe | sort -rn | awk -F '\t' '
		NR <= 10 { printf "  %3d %4d  %s\n", $1, $5, $6 }'
}

if [ $# -eq 0 ]; then
	set -- law law-self-test format shell tidy cppcheck complexity
fi
failed=()
for name in "$@"; do
	if [ "$(type -t "check_$name")" != function ]; then
		echo "lint: unknown check $name" >&2
		exit 2
	fi
	[ $# -eq 1 ] || echo "== $name"
	"check_$name" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
	echo "lint: failed: ${failed[*]}" >&2
	exit 1
fi
