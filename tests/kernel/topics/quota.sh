# CPU quotas.
group quota/leaf cpu.max "50000 100000"
keep quota/leaf before cpu.stat
track quota/leaf leaf -- job threads 2 12
keep quota/leaf leaf cpu.stat cpu.max
# The quota of an ancestor, as in a pod or a batch job: the group itself does not count throttling.
put $CG/quota/leaf/cpu.max max
put $CG/quota/cpu.max "50000 100000"
keep quota above_before cpu.stat
track quota/leaf above -- job threads 2 18
keep quota above cpu.stat
resource-tracker recommend --no-servers above >above.recommend
# A quota that is lowered while the job runs.
put $CG/quota/cpu.max max
(sleep 2; put $CG/quota/leaf/cpu.max "30000 100000") &
track quota/leaf tightened -- job threads 2 7
wait
