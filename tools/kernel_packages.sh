#!/usr/bin/env bash
# Unpacks Debian kernels for the tests in tests/kernel. Nothing is installed.
#
#   tools/kernel_packages.sh VERSION…    VERSION is 5.10, 6.1 or 6.12
#
# The newest package of that version that the configured apt sources have is downloaded and unpacked to
# build/kernel/VERSION. 5.10 is in Debian 11 alone: that release is looked up at the same mirrors, with package
# lists of its own. A package that lies there already, as build/kernel/VERSION.deb, is taken instead.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	printf 'kernel_packages: %s\n' "$*" >&2
	exit 1
}

apt_options=()

# From now on apt looks at the release $1 of the configured mirrors, in lists below build/kernel.
look_at_release() {
	local lists=$PWD/build/kernel/apt-$1 uri
	mkdir -p "$lists/lists/partial" "$lists/archives/partial"
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u | while read -r uri; do
		echo "deb $uri $1 main"
	done >"$lists/sources.list"
	apt_options=(-o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists" -o "Dir::Etc::SourceParts=/dev/null"
		-o "Dir::Etc::SourceList=$lists/sources.list" -o "APT::Sandbox::User=root")
	# A mirror that lacks the release, such as that of security updates, is no error.
	apt-get -qq "${apt_options[@]}" update >/dev/null 2>&1 || true
}

# The name of the newest kernel package of a version, for virtual machines.
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

# Into another folder first: a kernel is there as a whole or not at all.
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
