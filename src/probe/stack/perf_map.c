#include "probe/stack/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/parse.h"

enum { MAP_MAX_BYTES = 16 * 1024 * 1024, STATUS_MAX = 4096 };

static int compare(const void *a, const void *b)
{
	const struct trk_perf_map_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* "7f12a0 1c fib"; ends the name with a NUL. */
static bool parse_line(char *line, struct trk_perf_map_symbol *ret)
{
	const char *at = line;
	uint64_t size;

	line[strcspn(line, "\r")] = '\0';
	if (!trk__scan_hex(&at, &ret->start) || *at != ' ' || !trk__scan_hex(&at, &size) ||
	    *at != ' ' || size == 0 || size > UINT64_MAX - ret->start)
		return false;
	ret->end = ret->start + size;
	ret->name = trk__skip_blanks(at);
	return *ret->name != '\0';
}

int trk__perf_map_take(struct trk_perf_map *m, char *text)
{
	struct trk_perf_map_symbol *symbol = malloc(TRK_PERF_MAP_SYMBOLS * sizeof(*symbol));
	char *line = text, *next;

	if (!symbol) {
		free(text);
		return -ENOMEM;
	}
	free(m->text);
	free(m->symbol);
	*m = (struct trk_perf_map){.text = text, .symbol = symbol, .bytes = m->bytes};
	for (int i = 0; i < TRK_PERF_MAP_SYMBOLS; i++, line = next) {
		next = strchr(line, '\n');
		if (!next)
			break; /* it may be half written */
		*next++ = '\0';
		symbol[m->symbols].order = m->symbols;
		m->symbols += parse_line(line, &symbol[m->symbols]);
	}
	qsort(symbol, m->symbols, sizeof(*symbol), compare);
	return 0;
}

/* The pid of the process in its innermost namespace. */
static uint64_t own_number(const struct trk_env *env, pid_t pid)
{
	char text[STATUS_MAX];
	const char *at;
	uint64_t number = (uint64_t) pid;

	if (trk__read_at(env->proc_fd, TRK_PATH("%d/status", (int) pid), text, sizeof(text)) < 0)
		return number;
	at = strstr(text, "\nNSpid:");
	if (at)
		for (at += 7; trk__scan_u64(&at, &number); at += *at == '\t')
			;
	return number;
}

static uid_t owner_of(const struct trk_env *env, pid_t pid)
{
	struct stat st;

	return fstatat(env->proc_fd, TRK_PATH("%d", (int) pid), &st, 0) == 0 ? st.st_uid : 0;
}

int trk__perf_map_read(struct trk_perf_map *m, const struct trk_env *env, pid_t pid)
{
	TRK_FD_CLEANUP int fd = openat(env->proc_fd,
				       TRK_PATH("%d/root/tmp/perf-%llu.map", (int) pid,
						(unsigned long long) own_number(env, pid)),
				       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	struct stat st;
	ssize_t len;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != owner_of(env, pid)))
		return -EPERM;
	if (st.st_size == m->bytes)
		return 0;
	len = trk__read_all_fd(fd, MAP_MAX_BYTES, &text);
	if (len < 0)
		return (int) len;
	m->bytes = st.st_size;
	return trk__perf_map_take(m, text);
}

void trk__perf_map_release(struct trk_perf_map *m)
{
	free(m->text);
	free(m->symbol);
	memset(m, 0, sizeof(*m));
}

size_t trk__perf_map_bytes(const struct trk_perf_map *m)
{
	return (m->text ? (size_t) m->bytes : 0) + m->symbols * sizeof(*m->symbol);
}

const char *trk__perf_map_find(const struct trk_perf_map *m, uint64_t address)
{
	size_t low = 0, high = m->symbols;

	while (low < high) { /* find the first symbol that starts after the address */
		size_t middle = low + (high - low) / 2;

		if (m->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < m->symbol[low - 1].end ? m->symbol[low - 1].name : NULL;
}
