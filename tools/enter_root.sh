#!/usr/bin/env bash
# Runs a command in a root folder of this machine, or of another one by qemu-user.
#
#   tools/enter_root.sh MACHINE ROOT COMMAND…
#
# MACHINE: x86_64, aarch64. What is mounted and registered is seen nowhere else, and ends with the command.
# /proc, /dev, /sys and an empty /tmp are there; the folder that SOURCE names is /src. The environment is
# that of the arguments: env -i with PATH, HOME and LC_ALL, then what ENTER_ENV has (words NAME=VALUE).
# Wants root; for another machine qemu-user-static and a kernel that has binfmt_misc for each user namespace
# (6.7), as what the command starts is started through it.
set -euo pipefail
if [ $# -lt 3 ]; then
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2
	exit 2
fi
machine=$1 root=$2
shift 2
spaces=(--mount --pid --fork --kill-child)
if [ "$machine" != "$(uname -m)" ]; then
	spaces+=(--user --map-root-user)
	QEMU=$(command -v "qemu-$machine-static") || {
		echo "enter_root: qemu-$machine-static is missing. Try: apt install qemu-user-static" >&2
		exit 2
	}
	export QEMU QEMU_MACHINE=$machine
fi
export ROOT=$root SOURCE=${SOURCE-} ENTER_ENV=${ENTER_ENV-}
exec unshare "${spaces[@]}" bash -c '
	set -euo pipefail
	if [ -n "${QEMU-}" ]; then
		mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
		# ELF of 64 bits for aarch64 (183 is b7), executables and shared ones; F: the interpreter is
		# opened now, so that the root need not have it.
		printf "%s" ":qemu-$QEMU_MACHINE:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$QEMU:F" \
			>/proc/sys/fs/binfmt_misc/register
	fi
	mkdir -p "$ROOT"/{dev,sys,proc,tmp}
	mount --rbind /dev "$ROOT/dev"
	mount --rbind /sys "$ROOT/sys"
	mount -t proc proc "$ROOT/proc"
	mount -t tmpfs tmpfs "$ROOT/tmp"
	if [ -n "$SOURCE" ]; then
		mkdir -p "$ROOT/src"
		mount --bind "$SOURCE" "$ROOT/src"
	fi
	# This shell stays: the first process gets the orphans, which the command must not be.
	# shellcheck disable=SC2086
	env=$(command -v env) chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
	"$env" -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 $ENTER_ENV \
		"$chroot" "$ROOT" "$@" &
	wait $!
' bash "$@"
