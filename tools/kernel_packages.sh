#!/usr/bin/env bash
# Unpacks Debian kernels for the tests in tests/kernel. Nothing is installed.
#
#   tools/kernel_packages.sh VERSION…    VERSION is 5.10, 6.1 or 6.12
#
# The script downloads the newest package of each version from the configured apt sources, and unpacks it to
# build/kernel/VERSION. Only Debian 11 has 5.10, so that release is looked up on the same mirrors with separate package
# lists. If build/kernel/VERSION.deb exists, it is used instead of a download.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	printf 'kernel_packages: %s\n' "$*" >&2
	exit 1
}

apt_options=()

# Makes apt use the release $1 of the configured mirrors, with package lists below build/kernel.
look_at_release() {
	local lists=$PWD/build/kernel/apt-$1 uri
	mkdir -p "$lists/lists/partial" "$lists/archives/partial"
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u | while read -r uri; do
		echo "deb $uri $1 main"
	done >"$lists/sources.list"
	apt_options=(-o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists" -o "Dir::Etc::SourceParts=/dev/null"
		-o "Dir::Etc::SourceList=$lists/sources.list" -o "APT::Sandbox::User=root")
	# Some mirrors, such as that of security updates, lack the release. That is not an error.
	apt-get -qq "${apt_options[@]}" update >/dev/null 2>&1 || true
}

# Prints the name of the newest kernel package of a version for virtual machines.
package_of() {
	apt-cache "${apt_options[@]}" --names-only search "^linux-image-${1//./\\.}\.[0-9].*-cloud-amd64$" | cut -d ' ' -f 1 |
		sort -V | tail -n 1
}

download() {
	local version=$1 name
	apt_options=()
	[ "$version" != 5.10 ] || look_at_release bullseye
	name=$(package_of "$version")
	if [ -z "$name" ] && [ ${#apt_options[@]} -eq 0 ]; then
		apt-get -qq update >/dev/null 2>&1 || true
		name=$(package_of "$version")
	fi
	if [ -z "$name" ]; then
		die "no package of Linux $version in the apt sources. Try: put one at build/kernel/$version.deb"
	fi
	rm -rf "build/kernel/$version.part"
	mkdir -p "build/kernel/$version.part"
	(cd "build/kernel/$version.part" && apt-get -qq "${apt_options[@]}" download "$name") >/dev/null 2>&1 ||
		die "apt-get could not download $name"
	mv "build/kernel/$version.part"/*.deb "build/kernel/$version.deb"
	rmdir "build/kernel/$version.part"
}

# Unpacks into a temporary folder first, so that a kernel's folder is always complete.
unpack() {
	local version=$1 root=build/kernel/$1.part release
	echo "kernel_packages: unpacking Linux $version"
	mkdir -p build/kernel
	[ -f "build/kernel/$version.deb" ] || download "$version"
	rm -rf "$root"
	dpkg-deb --extract "build/kernel/$version.deb" "$root"
	release=$(basename "$root"/boot/vmlinuz-* | sed 's/^vmlinuz-//')
	[ -d "$root/lib" ] || ln -s usr/lib "$root/lib"
	PATH=$PATH:/usr/sbin:/sbin depmod --basedir "$root" "$release"
	rm -rf "build/kernel/$version" "build/kernel/$version.deb"
	mv "$root" "build/kernel/$version"
}

[ $# -gt 0 ] || die "which version? Try: tools/kernel_packages.sh 6.1"
for version in "$@"; do
	[[ $version =~ ^[0-9]+\.[0-9]+$ ]] || die "not a version: $version"
	[ -d "build/kernel/$version" ] || unpack "$version"
done
