# Memory peaks of jobs, each in a separate group.
peak() {
	local name=$1
	shift
	group "peak/$name"
	track "peak/$name" "$name" -- "$@"
	keep "peak/$name" "$name" memory.peak memory.stat
}
peak anon job alloc 150 2
peak short job alloc 150 0
peak both sh -c 'job alloc 80 2 & job alloc 80 2 & wait'
# Memory that no process maps, held for more than 2 s, after which the kernel updates memory.stat.
peak memfd job memfd 150 5
peak files sh -c 'dd if=/dev/zero of=/dev/shm/file bs=1M count=150 2>/dev/null; sleep 5; exit 0'
rm /dev/shm/file
peak sockets job sockets 60 5
resource-tracker recommend --no-servers memfd >recommend.txt
# The same until the kernel kills somebody: not the tracker, and the job has the priority that it had before.
group peak/full memory.max 100M memory.swap.max 0
track peak/full full -- job memfd 300 1
keep peak/full full memory.events
track peak/full full_files -- sh -c 'dd if=/dev/zero of=/dev/shm/file bs=1M count=300; exit 3'
rm /dev/shm/file
track peak/full adjustment -- sh -c 'cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj'
