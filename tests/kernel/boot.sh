#!/usr/bin/env bash
# Boots a kernel in QEMU, with cgroup v2 only, and runs topics of tests in it.
#
#   boot.sh PROGRAM KERNEL OUT TOPIC…
#
# PROGRAM is resource-tracker. KERNEL is an unpacked kernel package (tools/kernel_packages.sh). OUT is an empty folder
# for the results of the guest: console.log and one folder per topic. TOPIC is the name of a file in topics/. The guest
# has no network. QEMU emulates the CPU, because nested virtualisation is not available everywhere. LIMIT_S is the
# longest time that the guest may run, in s (default: 900).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") kernel=$(realpath "$2") out=$(realpath "$3")
shift 3
image=("$kernel"/boot/vmlinuz-*)
release=${image[0]##*/vmlinuz-}
export PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# A program with the libraries that it is linked to.
copy_program() {
	local library
	cp -L "$1" "$root/bin/$2"
	{ ldd "$1" || true; } | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -Lu "$library" "$root$library"
	done
}

copy_programs() {
	local applet sqlite
	copy_program "$program" resource-tracker
	cp -L "$(command -v busybox)" "$root/bin/busybox"
	for applet in $(busybox --list); do
		[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
	done
	gcc -std=gnu11 -O1 -Wall -Wextra -static -pthread -o "$root/bin/job" "$here/jobs.c"
	# For the history; loaded by name.
	sqlite=$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && !n++ { print $NF }')
	if [ -n "$sqlite" ]; then
		copy_program "$sqlite" libsqlite3
		mkdir -p "$root$(dirname "$sqlite")"
		mv "$root/bin/libsqlite3" "$root$sqlite"
	fi
}

# The modules of the disks, under names that sort in the order in which they are loaded.
copy_modules() {
	local module file n=100
	for module in virtio_pci virtio_blk; do
		modprobe --dirname "$kernel" --set-version "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/modules"
	while read -r file; do
		n=$((n + 1))
		case $file in
		*.xz) xz -dc "$file" >"$root/modules/$n.ko" ;;
		*) cp "$file" "$root/modules/$n.ko" ;;
		esac
	done <"$work/modules"
}

mkdir -p "$root"/{bin,dev,etc,data,home,lib,lib64,modules,out,proc,root,run,sys,tmp,topics}
copy_programs
copy_modules
cp "$here/init.sh" "$root/init"
cp "$here/guest.sh" "$root/guest.sh"
cp "$here"/topics/*.sh "$root/topics/"
printf '%s\n' "$@" >"$root/topics/list"
printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >"$root/etc/passwd"
chmod 755 "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initrd"

truncate -s 256M "$work/data" "$work/swap"
truncate -s 64M "$work/out"

# QEMU 7.2 emulates neither several CPUs in parallel nor cmpxchg16b well enough for Linux 6.12.
machine=(-accel tcg,thread=multi -cpu max)
if [ "$(printf '%s\n' 6.11 "$release" | sort -V | head -n 1)" = 6.11 ]; then
	machine=(-accel tcg,thread=single -cpu max,-cx16)
fi
drives=()
for disk in data out swap; do
	drives+=(-drive "file=$work/$disk,if=virtio,format=raw,cache=unsafe")
done
timeout "${LIMIT_S:-900}" qemu-system-x86_64 "${machine[@]}" "${drives[@]}" -m 2048 -smp 2 -nic none \
	-nographic -no-reboot -kernel "${image[0]}" -initrd "$work/initrd" \
	-append 'console=ttyS0 panic=-1 quiet loglevel=3' </dev/null 2>&1 | tr -d '\r' >"$out/console.log" ||
	echo "boot.sh: QEMU ended with ${PIPESTATUS[0]} (124: it took longer than ${LIMIT_S:-900} s)" >&2
tar -xf "$work/out" -C "$out" 2>/dev/null || true
cat "$out/console.log"
grep -q '^all topics have run$' "$out/console.log"
