# memory.high and swap.
group high/still memory.high 100M memory.swap.max 0
track high/still still --timeout 60s -- job cycle 130 5
keep high/still still memory.events memory.pressure
group high/swaps memory.high 150M
track high/swaps swaps -- job alloc 250 3
keep high/swaps swaps memory.events
resource-tracker recommend --no-servers swaps >swaps.recommend
