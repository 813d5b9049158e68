# Jobs that change their group, and limits that change, during the run.
enter='echo 0 >/sys/fs/cgroup/moves/small/cgroup.procs'
group moves/start
group moves/small memory.max 100M memory.swap.max 0
# The whole job, or a part of it, is killed in the group that it has entered.
track moves/start late -- sh -c "sleep 1.5; $enter; exec job alloc 200 1"
track moves/start part -- sh -c "sleep 1.5; ($enter; exec job alloc 200 1); exit 7"
# The job continues in the other group.
track moves/start stays -- sh -c "sleep 1; $enter; exec job alloc 60 2"
keep moves/small stays memory.max
# The limit is raised before the job needs more.
put $CG/moves/start/memory.max 100M
(sleep 1.5; put $CG/moves/start/memory.max 300M) &
track moves/start raised -- sh -c 'sleep 2.5; exec job alloc 200 1'
wait
keep moves/start raised memory.max
