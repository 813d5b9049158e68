# Disk bytes of jobs, each in a separate group.
io() {
	local name=$1
	shift
	group "io/$name"
	track "io/$name" "$name" -- "$@"
	sync
	keep "io/$name" "$name" io.stat
}
io write job write /data/a 64
echo 3 >/proc/sys/vm/drop_caches
io read job read /data/a 64
io children sh -c 'job write /data/b 16; (job write /data/c 16 &); sleep 2'
rm /data/[abc]
# Removed before the disk sees it.
io removed sh -c 'dd if=/dev/zero of=/data/d bs=1M count=32 2>/dev/null; rm /data/d; sleep 1'
