# Out-of-memory kills by the kernel, and other ends that look similar.
group oom/leaf memory.max 100M memory.swap.max 0
track oom/leaf job -- job alloc 200 1
keep oom/leaf job memory.events
track oom/leaf child_bad -- sh -c 'job alloc 200 1; exit 3'
track oom/leaf child_good -- sh -c 'job alloc 200 1; exit 0'
track oom/leaf shell -- sh -c 'job alloc 200 1; exit $?'
keep oom/leaf before_kill memory.events
track oom/leaf kill -- sh -c 'job alloc 60 1; kill -9 $$'
keep oom/leaf kill memory.events
put $CG/oom/leaf/memory.max max
put $CG/oom/memory.max 100M
put $CG/oom/memory.swap.max 0
track oom/leaf above -- job alloc 200 1
keep oom above memory.events
# Neighbours: in the same group, in one beside it, and one that ends before the job is killed by somebody else.
put $CG/oom/memory.max max
put $CG/oom/leaf/memory.max 100M
(sleep 1; within oom/leaf job alloc 200 1) &
track oom/leaf neighbour -- sh -c 'sleep 4; exit 1'
wait
keep oom/leaf neighbour memory.events
put $CG/oom/leaf/memory.max max
put $CG/oom/memory.max 100M
group oom/beside memory.swap.max 0
(sleep 1; within oom/beside job alloc 200 1) &
track oom/leaf beside -- sh -c 'sleep 4; exit 1'
wait
keep oom/beside beside memory.events
resource-tracker history >history.txt
# The tracker is outside of the group. With rows that far apart no sample sees how large the job gets.
put $CG/oom/memory.max max
put $CG/oom/leaf/memory.max 100M
for interval in 200ms 60s; do
	sh -c "echo 0 >$CG/oom/leaf/cgroup.procs; sleep 3; exec job alloc 200 1" &
	until grep -q "^$!\$" $CG/oom/leaf/cgroup.procs; do
		sleep 0.1
	done
	resource-tracker attach -i $interval --no-discovery --plain --summary-json attach$interval.json $! \
		>attach$interval.txt 2>&1
	wait
done
# All processes of the group at once, the tracker as well.
put $CG/oom/leaf/memory.oom.group 1
track oom/leaf together -- sh -c 'sleep 1; job alloc 200 1'
keep oom/leaf together memory.events
resource-tracker show --plain >together.show
resource-tracker recommend --no-servers together >together.recommend
resource-tracker report --format md -o together.md
resource-tracker history >history.after
# The group has gone: what is above it tells.
rmdir $CG/oom/leaf
resource-tracker show --json >gone.json
