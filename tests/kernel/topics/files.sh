# Pages of a mapped file, and the same job within the memory that is advised.
group files/free
dd if=/dev/zero of=/data/mapped bs=1M count=120 2>/dev/null
sync
echo 3 >/proc/sys/vm/drop_caches
track files/free free -- job map /data/mapped 3 3
resource-tracker recommend --json --no-servers free >recommend.json
request=$(sed -n 's/.*"request_mib": *\([0-9]*\).*/\1/p' recommend.json)
echo "$request" >request.txt
group files/advised memory.max "${request}M" memory.swap.max 0
echo 3 >/proc/sys/vm/drop_caches
track files/advised advised -- job map /data/mapped 3 3
keep files/advised advised memory.events
rm /data/mapped
