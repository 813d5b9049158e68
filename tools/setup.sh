#!/usr/bin/env bash
# Installs what building, testing and linting need: Debian packages, and only those that are
# missing. When nothing is missing it touches neither apt nor the network.
#
#   tools/setup.sh           packages
#   tools/setup.sh --bench   also build/venv-bench, a Python environment with the peers that the
#                            benchmarks compare with
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
	# build
	build-essential meson ninja-build pkg-config make git
	# unit tests, sanitizers, fuzzers (the runtime's name carries the compiler's version)
	libcmocka-dev clang libclang-rt-14-dev
	# memcheck: libc6-dbg lets it see into the loader
	valgrind libc6-dbg
	# lint
	clang-tidy clang-format cppcheck pmccabe
	# tests of the real program
	python3 python3-pytest procps iproute2 strace tmux groff-base time postgresql
	# tests of the report in a browser
	chromium fonts-dejavu-core
)
# A node of one's own, in whatever way it was installed, is as good.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	packages+=(nodejs npm)
fi
# For --bench only.
bench_packages=(python3-venv)
bench_modules=(resource-tracker psutil)

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

# Sets `missing` to those of the arguments that dpkg does not know as installed.
find_missing() {
	local installed package
	installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^.i[^a-z]*//p' || true)
	missing=()
	for package in "$@"; do
		grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
	done
}

install_packages() {
	local log sudo=()
	find_missing "$@"
	if [ ${#missing[@]} -eq 0 ]; then
		return
	fi
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "run it as root, or install sudo: packages are missing: ${missing[*]}"
		sudo=(sudo)
	fi
	echo "setup: installing ${missing[*]}"
	log=$(mktemp)
	# Lists that cannot be refreshed may still be good enough for the installation.
	"${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 || true
	if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
		-o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
		install -y --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "apt-get could not install: ${missing[*]}"
	fi
	rm -f "$log"
}

# The environment is complete when the list of modules that it was made with is today's.
make_bench_venv() {
	local venv=build/venv-bench stamp=build/venv-bench/modules
	if [ "$(cat "$stamp" 2>/dev/null)" = "${bench_modules[*]}" ]; then
		return
	fi
	echo "setup: making $venv with ${bench_modules[*]}"
	rm -rf "$venv"
	mkdir -p build
	/usr/bin/python3 -m venv "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${bench_modules[@]}" ||
		die "pip could not install: ${bench_modules[*]}"
	echo "${bench_modules[*]}" >"$stamp"
}

# esbuild for the build, playwright and axe for the tests: what web/package-lock.json says, no script
# of theirs is run.
install_web() {
	local stamp=web/node_modules/lock
	if cmp -s web/package-lock.json "$stamp"; then
		return
	fi
	echo "setup: installing the packages of web/package-lock.json"
	npm ci --prefix web --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null ||
		die "npm could not install the packages of web/package-lock.json"
	cp web/package-lock.json "$stamp"
}

bench=no
case "${1-}" in
'') ;;
--bench) bench=yes ;;
*) die "unknown argument $1. Try: tools/setup.sh [--bench]" ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	die "needs Debian or a relative of it (dpkg, apt-get); elsewhere install: ${packages[*]}"
fi

install_packages "${packages[@]}"
install_web
if [ "$bench" = yes ]; then
	install_packages "${bench_packages[@]}"
	make_bench_venv
fi
