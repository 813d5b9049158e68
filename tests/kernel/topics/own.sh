# The control group that `run --cgroup below` makes for a job.
group own/plain # gives the memory controller to the children of the root group
keep . before cgroup.subtree_control
# In the machine's root group: a child of it.
track . root --cgroup below -- sh -c 'cat /proc/self/cgroup; job alloc 150 1'
keep . after cgroup.subtree_control
# In another group, with a neighbour, only a sibling is possible: none.
within own/plain sleep 60 &
neighbour=$!
track own/plain plain --cgroup below -- cat /proc/self/cgroup
track own/plain beside --cgroup auto -- cat /proc/self/cgroup
kill $neighbour
wait
# A run inside the group of another run stays in it, so that the outer run counts it.
track . outer --cgroup below -- resource-tracker run --no-discovery -q --job inner --cgroup auto -- sh -c 'cat /proc/self/cgroup; job alloc 100 1'
# The job leaves its group: its own figures are used.
group own/other
track . leaves --cgroup below -- sh -c "sleep 0.5; echo 0 >$CG/own/other/cgroup.procs; exec job alloc 120 1"
# The tracker is killed: the next run removes the group when it is empty.
within . resource-tracker run --no-discovery -q --cgroup below -- sleep 3 &
until set -- $CG/resource-tracker-* && grep -q . "$1/cgroup.procs" 2>/dev/null; do sleep 0.1; done
name=${1#$CG/resource-tracker-}
kill -9 "${name%%-*}"
wait
track . next --cgroup below -- sh -c "ls -d $CG/resource-tracker-*"
sleep 3
track . last --cgroup below -- true
ls $CG >left.txt
