# memory.high and swap.
group high/still memory.high 100M memory.swap.max 0
track high/still still --timeout 60s -- job cycle 130 5
keep high/still still memory.events memory.pressure
group high/swaps memory.high 150M
track high/swaps swaps -- job alloc 250 3
keep high/swaps swaps memory.events
resource-tracker recommend --no-servers swaps >swaps.recommend
resource-tracker export --format csv swaps >swaps.csv
# The same without a group of the job's own: the figure is that of its processes.
within high/swaps sleep 60 &
neighbour=$!
track high/swaps forks --cgroup never -- sh -c 'job alloc 250 3; exit 0'
kill $neighbour
