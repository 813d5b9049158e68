# Limits of the group itself and of its ancestors.
group limits/leaf memory.max 200M
track limits/leaf leaf -- job alloc 60 1
keep limits/leaf leaf memory.max
put $CG/limits/memory.max 150M
track limits/leaf above -- job alloc 60 1
keep limits above memory.max
put $CG/limits/memory.max max
put $CG/limits/leaf/cpuset.cpus 0
track limits/leaf cpuset -- job threads 2 2
keep limits/leaf cpuset cpuset.cpus.effective
put $CG/limits/pids.max 12
track limits/leaf pids -- job forks 50 1
keep limits pids pids.max pids.events
