#include "sample/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/perf_sampler.h"
#include "probe/linux/pid_schedstat.h"
#include "probe/stack/elf_symbol.h"
#include "sample/stack_charge.h"
#include "sample/stacks.h"

enum {
	THREADS_MAX = 64,
	NODES_FIRST = 2048, /* nodes of the stack tree for native code at the start, */
	NODES_PER_S = 2,    /* more of them for each second of the run, */
	NODES_MAX = 16384,  /* and in all */
	SLICES_OPEN = 2000, /* context switches per second of CPU time that prevent */
	SLICES_MAX = 4000,  /* the sampling of a thread, or end it */
	STRIDE_MAX = 64,
	TASKS_MAX = 1024,                   /* threads of a process that are looked at */
	NAMES_MAX_BYTES = 32 * 1024 * 1024, /* of all processes, before one more is read */
};

#define LOOK_NS     (250 * TRK_NS_PER_MS)
#define LOOK_MAX_NS (8 * TRK_NS_PER_S)
#define BUSY_NS     (20 * TRK_NS_PER_MS) /* of CPU time since the last look */
#define REREAD_NS   TRK_NS_PER_S
/* Share of a core: less than half of the budget of all sampling (BUDGET_SHARE in stacks.c). */
#define COST_SHARE    0.0004
#define FIRST_NS      (10 * TRK_NS_PER_S)
#define FIRST_BUDGETS 4
/* Mappings and names may take this share of a core, and this long at once. */
#define READ_SHARE    0.002
#define READ_BURST_NS (50.0 * TRK_NS_PER_MS)

struct thread {
	struct trk_sampled_process *process;
	pid_t tid;
	struct trk_perf_sampler sampler;
	struct trk_pid_schedstat used;
	uint32_t lane; /* 0: not known yet */
	bool seen, is_idle;
};

struct trk_native {
	struct trk_native_options options;
	struct trk_lines *lines; /* borrowed */
	struct thread thread[THREADS_MAX];
	size_t threads;
	size_t nodes; /* used by native code */
	uint64_t start_ns, now_ns;
	uint64_t cost_ns, settled_cost_ns, settle_ns;
	double read_saved_ns;      /* remaining CPU time for mappings and names, */
	uint64_t read_ns;          /* at this time */
	unsigned int stride, turn; /* one in `stride` samples is evaluated */
	bool is_refused;
	/* State of the current drain. */
	struct thread *drained;
	struct trk_lines_sums *window;
};

/* ---- processes ---- */

void trk__native_exec(struct trk_sampled_process *w)
{
	struct trk_native_process *p = &w->native;

	trk__mappings_release(&p->maps);
	trk__perf_map_release(&p->names);
	p->maps_ns = p->names_ns = 0;
}

static void close_thread(struct trk_native *n, size_t i)
{
	trk__perf_sampler_close(&n->thread[i].sampler);
	n->thread[i] = n->thread[--n->threads];
}

void trk__native_drop(struct trk_native *n, struct trk_sampled_process *w)
{
	for (size_t i = n ? n->threads : 0; i-- > 0;)
		if (n->thread[i].process == w)
			close_thread(n, i);
	trk__native_exec(w);
	trk__lines_sums_release(&w->native.below);
}

static bool is_file_named(const char *path, const char *start)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash + 1, start, strlen(start));
}

/* Whether there is time and memory to read mappings and names of one more process. */
static bool may_read(struct trk_native *n)
{
	size_t bytes = 0;

	n->read_saved_ns += READ_SHARE * (double) (n->now_ns - n->read_ns);
	if (n->read_saved_ns > READ_BURST_NS)
		n->read_saved_ns = READ_BURST_NS;
	n->read_ns = n->now_ns;
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++) {
		const struct trk_native_process *p = &n->options.processes[i].native;

		bytes += p->maps.bytes + trk__perf_map_bytes(&p->names);
	}
	return n->read_saved_ns > 0 && bytes < NAMES_MAX_BYTES;
}

static void pay_read(struct trk_native *n, uint64_t cpu_ns_before)
{
	n->read_saved_ns -= (double) (trk__clock_thread_cpu_ns() - cpu_ns_before);
}

static void read_maps(struct trk_native *n, struct trk_sampled_process *w)
{
	struct trk_native_process *p = &w->native;
	uint64_t before = trk__clock_thread_cpu_ns();
	struct trk_mappings maps;
	int r;

	if (!may_read(n))
		return;
	p->maps_ns = n->now_ns;
	r = trk__mappings_read(&n->options.files->env, w->pid, &maps);
	pay_read(n, before);
	if (r < 0)
		return;
	trk__mappings_release(&p->maps);
	p->maps = maps;
	trk__process_note_user(n->options.files, w->pid, n->lines);
	p->has_libpython = false;
	for (size_t i = 0; i < maps.count; i++)
		p->has_libpython |= is_file_named(maps.mapping[i].path, "libpython");
}

/* ---- threads ---- */

static struct thread *find_thread(struct trk_native *n, const struct trk_sampled_process *w,
				  pid_t tid)
{
	for (size_t i = 0; i < n->threads; i++)
		if (n->thread[i].process == w && n->thread[i].tid == tid)
			return &n->thread[i];
	return NULL;
}

/* Make room for another thread where one has not run for a while. */
static bool has_room(struct trk_native *n)
{
	for (size_t i = 0; n->threads == THREADS_MAX && i < n->threads; i++)
		if (n->thread[i].is_idle)
			close_thread(n, i);
	return n->threads < THREADS_MAX;
}

/* Whether the kernel refuses all sampling, or that of one process. */
static void note_refusal(struct trk_native *n, struct trk_native_process *p, int error)
{
	struct trk_perf_sampler own;
	int r;

	if (error == -ESRCH)
		return;
	if (error == -ENOMEM || error == -EMFILE || error == -ENFILE) {
		if (n->lines->native.why != TRK_NATIVE_READ)
			n->lines->native.why = TRK_NATIVE_NO_ROOM;
		return;
	}
	p->is_refused = true;
	r = trk__perf_sampler_open(&own, 0, TRK_NATIVE_HZ);
	if (r == 0) {
		trk__perf_sampler_close(&own);
	} else if (r != -ENOMEM && r != -EMFILE) {
		n->is_refused = true;
		n->lines->native.why =
			r == -EACCES || r == -EPERM ? TRK_NATIVE_DENIED : TRK_NATIVE_ABSENT;
	}
}

static void open_thread(struct trk_native *n, struct trk_sampled_process *w, pid_t tid,
			const struct trk_pid_schedstat *used)
{
	struct thread t = {.process = w, .tid = tid, .used = *used, .seen = true};
	int r;

	if (!has_room(n))
		return;
	if (!w->native.maps_ns) { /* the process may have ended when its samples are taken */
		read_maps(n, w);
		if (!w->native.maps.count)
			return;
	}
	r = trk__perf_sampler_open(&t.sampler, tid, TRK_NATIVE_HZ);
	if (r < 0) {
		note_refusal(n, &w->native, r);
		return;
	}
	n->lines->native.why = TRK_NATIVE_READ;
	n->thread[n->threads++] = t;
}

static bool read_used(const struct trk_native *n, pid_t pid, pid_t tid,
		      struct trk_pid_schedstat *ret)
{
	char text[128];
	ssize_t len = trk__read_once_at(n->options.files->env.proc_fd,
					TRK_PATH("%d/task/%d/schedstat", (int) pid, (int) tid),
					text, sizeof(text));

	return len > 0 && trk__pid_schedstat_parse(text, (size_t) len, ret) == 0;
}

static bool switches_often(uint64_t run_ns, uint64_t slices, uint64_t max)
{
	return slices > 100 && slices * (TRK_NS_PER_S / max) > run_ns;
}

static void look_at_thread(struct trk_native *n, struct trk_sampled_process *w, pid_t tid)
{
	struct thread *t = find_thread(n, w, tid);
	struct trk_pid_schedstat used;
	uint64_t run_ns;

	if (t)
		t->seen = true;
	if (!read_used(n, w->pid, tid, &used))
		return;
	if (!t) {
		if (used.run_ns >= BUSY_NS &&
		    !switches_often(used.run_ns, used.slices, SLICES_OPEN))
			open_thread(n, w, tid, &used);
		return;
	}
	run_ns = used.run_ns - t->used.run_ns;
	t->is_idle = run_ns < TRK_NS_PER_MS;
	t->seen = t->is_idle || !switches_often(run_ns, used.slices - t->used.slices, SLICES_MAX);
	t->used = used;
}

static void look_at_threads(struct trk_native *n, struct trk_sampled_process *w)
{
	TRK_DIR_CLEANUP DIR *dir =
		trk__list_dir_at(n->options.files->env.proc_fd, TRK_PATH("%d/task", (int) w->pid));
	struct dirent *e;
	int tasks = 0;

	if (!dir)
		return;
	for (size_t i = 0; i < n->threads; i++)
		n->thread[i].seen = n->thread[i].process != w;
	while (tasks++ < TASKS_MAX && (e = trk__next_entry(dir)) && !n->is_refused &&
	       !w->native.is_refused) {
		const char *at = e->d_name;
		uint64_t tid;

		if (trk__scan_u64(&at, &tid))
			look_at_thread(n, w, (pid_t) tid);
	}
	for (size_t i = n->threads; i-- > 0;)
		if (!n->thread[i].seen)
			close_thread(n, i);
}

/* Choose the stride that keeps the cost within its share. */
static void adapt(struct trk_native *n)
{
	uint64_t over_ns = n->now_ns - n->settle_ns;
	double budget = COST_SHARE * (double) over_ns;
	double cost = (double) (n->cost_ns - n->settled_cost_ns);

	if (over_ns < TRK_NS_PER_S)
		return;
	if (n->now_ns - n->start_ns < FIRST_NS)
		budget *= FIRST_BUDGETS;
	if (cost > budget && n->stride < STRIDE_MAX)
		n->stride *= 2;
	else if (cost < budget / 3 && n->stride > 1)
		n->stride /= 2;
	n->settled_cost_ns = n->cost_ns;
	n->settle_ns = n->now_ns;
}

void trk__native_look(struct trk_native *n, struct trk_sampled_process *w, uint64_t now_ns)
{
	struct trk_native_process *p = &w->native;
	uint64_t before, cpu_ns;

	if (!n || n->is_refused || p->is_refused || now_ns < p->look_ns ||
	    trk__clock_pid_cpu_ns(w->pid, &cpu_ns) < 0)
		return;
	if (cpu_ns < p->cpu_ns) /* another process with the same number */
		p->cpu_ns = 0;
	if (cpu_ns - p->cpu_ns < BUSY_NS)
		return;
	before = trk__clock_thread_cpu_ns();
	n->now_ns = now_ns;
	p->cpu_ns = cpu_ns;
	p->wait_ns = p->wait_ns ? p->wait_ns * 2 : LOOK_NS;
	if (p->wait_ns > LOOK_MAX_NS)
		p->wait_ns = LOOK_MAX_NS;
	p->look_ns = now_ns + p->wait_ns;
	look_at_threads(n, w);
	n->cost_ns += trk__clock_thread_cpu_ns() - before;
}

/* ---- from an address to a place ---- */

static uint32_t function_of(struct trk_native *n, const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	return trk__lines_function_of(n->lines, n->options.base_names && slash ? slash + 1 : file,
				      true, name, 0);
}

/* The function that stands for a mapped file. */
static uint32_t function_of_file(struct trk_native *n, pid_t pid, struct trk_mapping *m)
{
	char id[TRK_ELF_ID_SIZE] = "", name[TRK_LINES_NATIVE_SIZE];

	if (m->user)
		return m->user - 1;
	if (m->path[0] != '/') {
		m->user = 1 + function_of(n, "", m->path);
		return m->user - 1;
	}
	if (may_read(n)) {
		uint64_t before = trk__clock_thread_cpu_ns();

		*n->options.remote_pid = pid;
		trk__remote_begin(n->options.remote);
		trk__elf_mapped_id(n->options.remote, m->base, id);
		pay_read(n, before);
	}
	trk__lines_native_name(name, id);
	m->user = 1 + function_of(n, m->path, name);
	return m->user - 1;
}

static uint32_t generated_function(struct trk_native *n, struct trk_sampled_process *w,
				   uint64_t address)
{
	struct trk_native_process *p = &w->native;
	const char *name = trk__perf_map_find(&p->names, address);

	if (!name && n->now_ns >= p->names_ns + REREAD_NS && may_read(n)) {
		uint64_t before = trk__clock_thread_cpu_ns();
		int r = trk__perf_map_read(&p->names, &n->options.files->env, w->pid);

		p->names_ns = n->now_ns;
		pay_read(n, before);
		if (r == 0)
			name = trk__perf_map_find(&p->names, address);
	}
	return trk__lines_function_of(n->lines, "", !name, name ? name : "[generated code]", 0);
}

struct place {
	uint32_t function;
	int line;
};

static struct trk_mapping *mapping_of(struct trk_native *n, struct trk_sampled_process *w,
				      uint64_t address, bool is_first)
{
	struct trk_native_process *p = &w->native;
	struct trk_mapping *m = trk__mappings_find(&p->maps, address);

	if (!m && is_first && n->now_ns >= p->maps_ns + REREAD_NS) { /* a library loaded since */
		read_maps(n, w);
		m = trk__mappings_find(&p->maps, address);
	}
	return m;
}

/* Whether the code belongs to the interpreter, whose time belongs to the Python line itself. */
static bool is_interpreter(const struct trk_native_process *p, const struct trk_mapping *m)
{
	if (p->has_libpython)
		return is_file_named(m->path, "libpython");
	return m->path[0] == '/' && !strcmp(m->path, p->maps.mapping[0].path);
}

/* The places of a chain, innermost first, up to the interpreter where there is one. Returns how
 * many; 0: none that is known. */
static unsigned int find_places(struct trk_native *n, const struct trk_perf_sample *s,
				bool is_python, struct place place[TRK_PERF_DEPTH])
{
	struct trk_sampled_process *w = n->drained->process;
	unsigned int count = 0;

	for (unsigned int i = 0; i < s->depth; i++) {
		/* A return address may belong to the line after the call, or to the next
		 * function. */
		uint64_t address = s->address[i] - (i > 0), offset;
		struct trk_mapping *m = mapping_of(n, w, address, i == 0);

		if (!m || (is_python && is_interpreter(&w->native, m)))
			break; /* no code: a wrong address */
		offset = address - m->start + m->offset;
		if (m->path[0])
			place[count].function = function_of_file(n, w->pid, m);
		else
			place[count].function = generated_function(n, w, address);
		place[count].line = m->path[0] == '/' && offset <= INT32_MAX ? (int) offset : 0;
		count++;
	}
	return count;
}

/* ---- samples ---- */

static bool has_nodes(const struct trk_native *n)
{
	uint64_t max = NODES_FIRST + (n->now_ns - n->start_ns) / TRK_NS_PER_S * NODES_PER_S;

	return n->nodes < max && n->nodes < NODES_MAX;
}

static uint32_t node_of(struct trk_native *n, uint32_t node, const struct place *place,
			unsigned int count)
{
	size_t before = n->lines->nodes;

	if (!has_nodes(n)) /* which file it is in at least */
		return trk__lines_node(n->lines, node, place[0].function, 0);
	for (unsigned int i = count; i-- > 0;)
		node = trk__lines_node(n->lines, node, place[i].function, place[i].line);
	n->nodes += n->lines->nodes - before;
	return node;
}

static uint32_t lane_of(struct trk_native *n, struct thread *t)
{
	if (!t->lane)
		t->lane = trk__lines_lane(n->lines, t->process->pid, t->tid, t->process->name);
	return t->lane;
}

static void take_sample(void *data, const struct trk_perf_sample *s)
{
	struct trk_native *n = data;
	struct trk_sampled_process *w = n->drained->process;
	uint64_t us = s->period_ns * n->stride / 1000;
	uint32_t lane = 0, line = TRK_LINES_ROOT, node;
	struct place place[TRK_PERF_DEPTH];
	struct trk_lines_amounts *sum;
	unsigned int count;
	bool is_python;

	if (n->turn++ % n->stride != 0)
		return;
	is_python = trk__charge_line_at(w, s->tid, s->time_ns, &lane, &line);
	count = find_places(n, s, is_python, place);
	n->lines->native.samples += count > 0 || is_python;
	n->lines->native.lost += count == 0 && !is_python;
	if (count == 0)
		return;
	if (!is_python)
		lane = lane_of(n, n->drained);
	node = node_of(n, line, place, count);
	sum = trk__lines_sum(is_python ? &w->native.below : n->window, lane, node);
	if (!sum)
		return;
	sum->samples++;
	sum->cpu_us += us;
	sum->wall_us += us;
	if (is_python)
		sum->sure_bytes = line;
}

void trk__native_drain(struct trk_native *n, uint64_t now_ns, struct trk_lines_sums *window)
{
	uint64_t before = trk__clock_thread_cpu_ns();

	if (!n || n->threads == 0)
		return;
	n->now_ns = now_ns;
	n->window = window;
	for (size_t i = 0; i < n->threads; i++) {
		n->drained = &n->thread[i];
		trk__stacks_reading_set(n->options.reading, n->thread[i].process->pid, now_ns);
		trk__perf_sampler_drain(&n->thread[i].sampler, take_sample, n,
					&n->lines->native.lost);
	}
	trk__stacks_reading_set(n->options.reading, 0, 0);
	n->cost_ns += trk__clock_thread_cpu_ns() - before;
	adapt(n);
}

/* ---- below lines of Python ---- */

/* For each pair of lane and line of Python: in cpu_us the native code below it, in wall_us the CPU
 * time that the line has, both in ns. */
static void sum_up(struct trk_sampled_process *w, struct trk_lines_sums *ret)
{
	for (size_t i = 0; i < w->native.below.counts; i++) {
		const struct trk_lines_count *c = &w->native.below.count[i];
		struct trk_lines_amounts *sum =
			trk__lines_sum(ret, c->lane, (uint32_t) c->amounts.sure_bytes);

		if (sum)
			sum->cpu_us += c->amounts.cpu_us * 1000;
	}
	for (size_t i = 0; i < w->second.counts && ret->counts; i++) {
		const struct trk_lines_count *c = &w->second.count[i];
		struct trk_lines_amounts *sum = trk__lines_sum(ret, c->lane, c->node);

		if (sum)
			sum->wall_us = c->amounts.cpu_us;
	}
}

/* Move the part of a line's CPU time that a native place below it used. */
static void move(const struct trk_lines_count *c, struct trk_lines_sums *second,
		 struct trk_lines_sums *lines)
{
	uint32_t node = (uint32_t) c->amounts.sure_bytes;
	const struct trk_lines_amounts *line = trk__lines_sum(lines, c->lane, node);
	struct trk_lines_amounts *sum;
	uint64_t ns = c->amounts.cpu_us * 1000;

	if (line && line->cpu_us > line->wall_us)
		ns = (uint64_t) ((double) ns * ((double) line->wall_us / (double) line->cpu_us));
	if (!line || ns == 0)
		return;
	sum = trk__lines_sum(second, c->lane, c->node);
	if (!sum)
		return;
	sum->cpu_us += ns;
	sum->wall_us += ns / 1000;
	sum->samples += c->amounts.samples;
	sum = trk__lines_sum(second, c->lane, node);
	if (!sum)
		return;
	sum->cpu_us -= ns < sum->cpu_us ? ns : sum->cpu_us;
	sum->wall_us -= ns / 1000 < sum->wall_us ? ns / 1000 : sum->wall_us;
}

void trk__native_share(struct trk_sampled_process *w, bool last)
{
	struct trk_lines_sums lines = {.counts = 0}, *below = &w->native.below;

	if (below->counts == 0 || (w->second.counts == 0 && !last))
		return;
	sum_up(w, &lines);
	for (size_t i = 0; i < below->counts && lines.counts; i++)
		move(&below->count[i], &w->second, &lines);
	trk__lines_sums_release(&lines);
	trk__lines_sums_release(below);
}

/* ---- life ---- */

struct trk_native *trk__native_new(const struct trk_native_options *options, uint64_t start_ns)
{
	struct trk_native *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->options = *options;
	n->lines = options->lines;
	n->start_ns = n->settle_ns = n->now_ns = n->read_ns = start_ns;
	n->read_saved_ns = READ_BURST_NS;
	n->stride = 1;
	return n;
}

void trk__native_free(struct trk_native *n)
{
	free(n);
}
