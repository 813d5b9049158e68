#!/usr/bin/env bash
# Tests the wheel with the CPython of another Debian release, or of another architecture under qemu-user. It runs in a
# root folder made from Debian's packages. This system is not changed.
#
#   tools/python_elsewhere.sh SUITE MACHINE WHEEL [COMMAND…]
#
# SUITE: bullseye (CPython 3.9), trixie (3.13), sid …; MACHINE: x86_64, aarch64. WHEEL: a wheel of `make wheels`. The
# root folder is $BUILD/elsewhere/SUITE-MACHINE; in it, Python imports from /wheel, and /src is this tree. Without
# COMMAND, the core of tests/python runs. Requires root; for another architecture also qemu-user-static and Linux 6.7
# or later (see tools/enter_root.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -lt 3 ]; then
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2
	exit 2
fi
suite=$1 machine=$2 wheel=$3
shift 3
case $machine in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*)
	echo "python_elsewhere: unknown machine $machine. Known: x86_64 aarch64" >&2
	exit 2
	;;
esac
top=$(realpath -m "${BUILD:-build}/elsewhere/$suite-$machine")
root=$top/root
core=(test_resource_tracker test_stats_now test_csv_trackers test_helpers test_tiny_data_frame
	test_snapshots test_compatibility)

# Configures an apt that uses only this suite and architecture, and that considers no package as installed.
prepare_apt() {
	mkdir -p "$top"/apt/{state/lists/partial,cache/archives/partial,etc/{preferences.d,apt.conf.d},log}
	: >"$top/apt/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
		>"$top/apt/etc/sources.list"
	cat >"$top/apt/conf" <<-END
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Check-Valid-Until "false";
		Dir::State "$top/apt/state";
		Dir::State::status "$top/apt/status";
		Dir::Cache "$top/apt/cache";
		Dir::Etc "$top/apt/etc";
		Dir::Log "$top/apt/log";
	END
}

unpack() {
	local package
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{proc,sys,dev,tmp,src,wheel,root}
	for package in bin sbin lib lib64; do
		ln -sfn "usr/$package" "$root/$package"
	done
	for package in "$top"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink
	done
}

if [ ! -e "$top/ready" ]; then
	rm -rf "$top"
	prepare_apt
	export APT_CONFIG=$top/apt/conf
	apt-get -q=2 update
	apt-get -q=2 install --download-only --yes dash coreutils procps libc-bin python3 \
		python3-pytest >/dev/null
	unset APT_CONFIG
	unpack
	touch "$top/ready"
fi
rm -rf "$root/wheel"
mkdir -p "$root/wheel/site-packages"
python3 -m zipfile -e "$wheel" "$root/wheel/site-packages"
chmod +x "$root"/wheel/site-packages/resource_tracker/native/*/resource-tracker-program

if [ $# -eq 0 ]; then
	set -- "${core[@]/#//src/tests/python/}"
	# Under qemu-user an interpreter that had threads may hang at its end, so os._exit() ends it.
	set -- python3 -c 'import os, sys, pytest
code = pytest.main(sys.argv[1:])
sys.stdout.flush()
os._exit(code)' -q -p no:cacheprovider "${@/%/.py}"
fi

ENTER_ENV="PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/wheel/site-packages" SOURCE=$PWD \
	exec tools/enter_root.sh "$machine" "$root" "$@"
