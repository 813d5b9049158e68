#!/usr/bin/env bash
# Installs what building, testing and linting need: Debian packages, and only those that are
# missing. When nothing is missing it touches neither apt nor the network.
#
#   tools/setup.sh           packages, and build/venv-python, a Python environment that builds the
#                            wheel and has what the Python package is tested with; and for the tests
#                            of lines to paste: build/venv-snippets, build/nextflow (Nextflow, from
#                            Maven Central), build/docker (its client, where none is there)
#   tools/setup.sh --bench   also the peers that the benchmarks compare with: build/venv-bench, a
#                            Python environment, and build/bench-cargo, the Rust sibling (minutes)
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
	python3 python3-pytest python3-pytest-xdist procps iproute2 strace tmux groff-base time postgresql python3-yaml \
		slurmctld slurmd slurm-client munge
	# tests of the report in a browser
	chromium fonts-dejavu-core
	# the Python package
	python3-dev python3-venv
)
# A node of one's own, in whatever way it was installed, is as good.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	packages+=(nodejs npm)
fi
# For Nextflow, which comes from Maven Central.
if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
	packages+=(default-jre-headless maven)
fi
# What reads the lines that `recommend --for` prints. HTCondor dropped from 25 on what makes a job of a
# submit file without a server.
snippet_modules=('kubernetes-validate>=1.29' 'htcondor>=24,<25' 'snakemake>=8' 'botocore>=1.34')
python_modules=(meson-python 'meson>=1.2.3' 'wheel>=0.40' pandas polars pyarrow duckdb ipython ipykernel nbclient
	gunicorn mypy metaflow 'moto[server]' boto3 ziglang auditwheel mkdocs mkdocs-material 'mkdocstrings[python]' ruff)
# For --bench only. Without the sibling the benchmarks say so and go on.
bench_modules=(resource-tracker psutil)
bench_packages=(sysstat time)
sibling=resource-tracker@0.1.18

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

# make_venv FOLDER OPTION MODULE…: an environment of Debian's Python; complete when the list of
# modules that it was made with is today's.
make_venv() {
	local venv=$1 option=$2 stamp=$1/modules
	shift 2
	if [ "$(cat "$stamp" 2>/dev/null)" = "$*" ]; then
		return
	fi
	echo "setup: making $venv with $*"
	rm -rf "$venv"
	mkdir -p build
	/usr/bin/python3 -m venv $option "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" ||
		die "pip could not install: $*"
	echo "$*" >"$stamp"
}

install_sibling() {
	local root=build/bench-cargo
	if [ "$(cat "$root/version" 2>/dev/null)" = "$sibling" ]; then
		return
	fi
	if ! command -v cargo >/dev/null; then
		echo "setup: no cargo: the benchmarks leave the Rust sibling out"
		return
	fi
	echo "setup: building $sibling from the cargo registry"
	mkdir -p "$root"
	if cargo install --quiet --locked --force --root "$root" "$sibling" </dev/null; then
		echo "$sibling" >"$root/version"
	else
		echo "setup: $sibling does not build here: the benchmarks leave it out"
	fi
}

# esbuild for the build, playwright, axe and pyright for the tests: what web/package-lock.json says, no script
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

# Nextflow and what it needs, as tests/tools/nextflow.pom.xml says.
install_nextflow() {
	local stamp=build/nextflow/pom.xml
	if cmp -s tests/tools/nextflow.pom.xml "$stamp"; then
		return
	fi
	echo "setup: installing Nextflow"
	rm -rf build/nextflow
	mvn --quiet --batch-mode --file tests/tools/nextflow.pom.xml dependency:copy-dependencies \
		-DoutputDirectory="$PWD/build/nextflow" </dev/null >/dev/null ||
		die "mvn could not install what tests/tools/nextflow.pom.xml names"
	cp tests/tools/nextflow.pom.xml "$stamp"
}

# The client alone, out of a package that is not installed: nothing is started on this machine.
install_docker_client() {
	if command -v docker >/dev/null || [ -x build/docker/usr/bin/docker ]; then
		return
	fi
	echo "setup: unpacking the client of Docker"
	rm -rf build/docker
	mkdir -p build/docker
	(cd build/docker && apt-get -qq download docker.io >/dev/null) ||
		{ apt-get -qq update && cd build/docker && apt-get -qq download docker.io; } >/dev/null ||
		die "apt-get could not download docker.io"
	dpkg-deb --extract build/docker/docker.io_*.deb build/docker/all
	install -D build/docker/all/usr/bin/docker build/docker/usr/bin/docker
	rm -rf build/docker/all build/docker/*.deb
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
# With the system's packages: pytest is Debian's.
make_venv build/venv-python --system-site-packages "${python_modules[@]}"
make_venv build/venv-snippets '' "${snippet_modules[@]}"
install_nextflow
install_docker_client
if [ "$bench" = yes ]; then
	install_packages "${bench_packages[@]}"
	make_venv build/venv-bench '' "${bench_modules[@]}"
	install_sibling
fi
