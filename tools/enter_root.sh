#!/usr/bin/env bash
# Runs a command in a root folder, natively or for another architecture under qemu-user.
#
#   tools/enter_root.sh MACHINE ROOT COMMAND…
#
# MACHINE: x86_64 or aarch64. Mounts and registrations are visible to the command only, and end with it. The root has
# /proc, /dev, /sys and an empty /tmp; the folder in SOURCE is mounted at /src. The environment consists of PATH, HOME,
# LC_ALL, and the words NAME=VALUE in ENTER_ENV. Requires root; for another architecture also qemu-user-static and
# Linux 6.7 or later, because processes of that architecture start through binfmt_misc of a user namespace.
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
		# The magic matches 64-bit ELF files for aarch64 (183 = 0xb7), executables and shared objects. With
		# the flag F the interpreter is opened now, so that the root folder need not contain it.
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
	# Keep this shell as the first process of the namespace, because the first process receives orphans, and the
	# command must not.
	# shellcheck disable=SC2086
	env=$(command -v env) chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
	"$env" -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 $ENTER_ENV \
		"$chroot" "$ROOT" "$@" &
	wait $!
' bash "$@"
