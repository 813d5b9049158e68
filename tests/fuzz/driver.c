/* Replaces libFuzzer in a normal build: it runs the fuzzer on every file of a corpus and on cheap
 * mutations of each file: truncated at every byte, bits flipped, bytes replaced, blocks removed or
 * doubled. All mutations are deterministic, so a failure is reproducible. Inputs that a fuzzer has
 * found (kept-…, see tools/fuzz.py --keep) are not mutated.
 *
 * usage: fuzzers NAME DIRECTORY-OR-FILE…
 *
 * If the parser crashes, the input is named on stderr and written to crash-fuzz_NAME in the current
 * directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define FUZZ_IS_DRIVER
#include "fuzz.h"

enum {
	SEED_BYTES_MAX = 1 << 20,  /* a larger seed is an error: keep corpora small */
	CUTS_MAX = 4096,           /* a longer seed is cut at this many evenly spread places */
	MUTATIONS = 1000,          /* of each seed, besides the cuts */
	WORK_BYTES_MAX = 12 << 20, /* fed to the parser for each seed, cuts and mutations each */
	WITHOUT_SANITIZER = 4,     /* a quarter of both, as most faults do not show */
};

bool fuzz_in_turns;

static struct fuzz_parser *parsers;

static fuzz_function *run_parser;

static size_t work_bytes_max = WORK_BYTES_MAX, mutations = MUTATIONS;

/* The input that runs now, for the crash handler. */
static const uint8_t *current_data;
static size_t current_size;
static char current_name[4096];
static char crash_path[256];

/* An endless loop is a crash, too: so much CPU time for one input. */
static const struct itimerval endless = {.it_value = {.tv_sec = 20}}, off;

static void report_crash(void)
{
	size_t left = current_size;
	const uint8_t *at = current_data;
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	(void) dprintf(STDERR_FILENO, "fuzz: crashed on %s; input written to %s\n", current_name,
		       crash_path);
	while (fd >= 0 && left > 0) {
		ssize_t n = write(fd, at, left);

		if (n <= 0)
			break;
		at += n;
		left -= (size_t) n;
	}
}

static void crashed(int signal)
{
	report_crash();
	(void) raise(signal); /* SA_RESETHAND: now with the default action */
}

/* The sanitizers call this before they end the process; without them it is not there. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_crashes(const char *name)
{
	const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
	struct sigaction action = {.sa_handler = crashed, .sa_flags = (int) SA_RESETHAND};

	(void) snprintf(crash_path, sizeof(crash_path), "crash-fuzz_%s", name);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(report_crash);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* A sanitizer tells more about a bad access than we do. */
		if (__sanitizer_set_death_callback && signals[i] != SIGABRT &&
		    signals[i] != SIGPROF)
			continue;
		(void) sigaction(signals[i], &action, NULL);
	}
}

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? (size_t) (next_random(state) % limit) : 0;
}

/* Run a copy of exactly `size` bytes, so that the sanitizer sees a read past its end. */
static void run_one(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	current_data = copy;
	current_size = size;
	(void) setitimer(ITIMER_PROF, &endless, NULL);
	(void) run_parser(copy, size);
	(void) setitimer(ITIMER_PROF, &off, NULL);
	free(copy);
}

static size_t run_cuts(const char *path, const uint8_t *seed, size_t size)
{
	size_t cuts = size < CUTS_MAX ? size : CUTS_MAX;
	size_t runs = 0;

	/* On average a cut leaves half of the seed. */
	if (size > 1 && cuts > work_bytes_max / (size / 2))
		cuts = work_bytes_max / (size / 2);
	for (size_t i = 0; i < cuts; i++) {
		size_t length = size * i / cuts;

		(void) snprintf(current_name, sizeof(current_name), "%s cut to %zu bytes", path,
				length);
		run_one(seed, length);
		runs++;
	}
	return runs;
}

/* Change `work` (room for twice SEED_BYTES_MAX) in one to four places; returns the new size. */
static size_t mutate(uint8_t *work, size_t size, uint64_t *random)
{
	static const uint8_t interesting[] = {0, '\n', ' ', '0', '9', '-', ':', '"', 0x7f, 0xff};
	size_t changes = 1 + below(random, 4);

	while (changes-- > 0 && size > 0) {
		size_t at = below(random, size);
		size_t length = 1 + below(random, size - at < 32 ? size - at : 32);

		switch (below(random, 8)) {
		case 0: /* replace a byte by one that parsers care about */
			work[at] = interesting[below(random, sizeof(interesting))];
			break;
		case 1: /* remove a block */
			memmove(work + at, work + at + length, size - at - length);
			size -= length;
			break;
		case 2: /* double a block */
			if (size + length > 2 * (size_t) SEED_BYTES_MAX)
				break;
			memmove(work + at + length, work + at, size - at);
			size += length;
			break;
		case 3: /* grow a number or a length */
			work[at] = (uint8_t) (work[at] + 1 + below(random, 16));
			break;
		default:
			work[at] ^= (uint8_t) (1u << below(random, 8));
			break;
		}
	}
	return size;
}

static size_t run_mutations(const char *path, const uint8_t *seed, size_t size, uint8_t *work)
{
	uint64_t random = 0x9e3779b97f4a7c15ull;
	size_t runs = mutations;

	if (size == 0)
		return 0;
	if (runs > work_bytes_max / size)
		runs = work_bytes_max / size;
	for (size_t i = 0; i < runs; i++) {
		size_t length;

		memcpy(work, seed, size);
		length = mutate(work, size, &random);
		(void) snprintf(current_name, sizeof(current_name), "%s mutation %zu", path, i);
		run_one(work, length);
	}
	return runs;
}

/* Returns the bytes read into `seed`, or -1 after telling why. */
static ssize_t read_seed(const char *path, uint8_t *seed)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n = 0;

	while (fd >= 0 && size < SEED_BYTES_MAX) {
		n = read(fd, seed + size, SEED_BYTES_MAX - size);
		if (n <= 0)
			break;
		size += (size_t) n;
	}
	if (fd < 0 || n < 0 || size == SEED_BYTES_MAX) {
		(void) fprintf(stderr, "fuzz: %s: %s\n", path,
			       size == SEED_BYTES_MAX ? "seed too large" : strerror(errno));
		if (fd >= 0)
			(void) close(fd);
		return -1;
	}
	(void) close(fd);
	return (ssize_t) size;
}

static bool is_kept(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "kept-", 5) == 0;
}

static bool run_file(const char *path, size_t *runs)
{
	static uint8_t seed[SEED_BYTES_MAX];
	static uint8_t work[2 * SEED_BYTES_MAX];
	ssize_t size = read_seed(path, seed);

	if (size < 0)
		return false;
	(void) snprintf(current_name, sizeof(current_name), "%s", path);
	run_one(seed, (size_t) size);
	*runs += 1;
	if (!is_kept(path)) {
		fuzz_in_turns = true;
		*runs += run_cuts(path, seed, (size_t) size) +
			 run_mutations(path, seed, (size_t) size, work);
		fuzz_in_turns = false;
	}
	return true;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool run_directory(const char *path, size_t *files, size_t *runs)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, not_hidden, alphasort);
	bool ok = count > 0;

	if (!ok)
		(void) fprintf(stderr, "fuzz: %s: %s\n", path,
			       count < 0 ? strerror(errno) : "no seed in it");
	for (int i = 0; i < count; i++) {
		char name[4096];

		(void) snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		ok = run_file(name, runs) && ok;
		*files += 1;
		free(entries[i]);
	}
	free(entries);
	return ok;
}

void fuzz_add(struct fuzz_parser *parser)
{
	parser->next = parsers;
	parsers = parser;
}

/* NULL if there is no NAME.c. */
static fuzz_function *find_parser(const char *name)
{
	char file[256];

	(void) snprintf(file, sizeof(file), "%s.c", name);
	for (const struct fuzz_parser *p = parsers; p; p = p->next) {
		const char *slash = strrchr(p->file, '/');

		if (strcmp(slash ? slash + 1 : p->file, file) == 0)
			return p->run;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t files = 0, runs = 0;
	bool ok = true;

	run_parser = argc > 2 ? find_parser(argv[1]) : NULL;
	if (!run_parser) {
		(void) fprintf(stderr, "usage: fuzzers NAME DIRECTORY-OR-FILE...\n");
		return EXIT_FAILURE;
	}
	catch_crashes(argv[1]);
	if (!__sanitizer_set_death_callback) {
		work_bytes_max /= WITHOUT_SANITIZER;
		mutations /= WITHOUT_SANITIZER;
	}
	for (int i = 2; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
			ok = run_file(argv[i], &runs) && ok;
			files++;
		} else {
			ok = run_directory(argv[i], &files, &runs) && ok;
		}
	}
	(void) printf("%zu seeds, %zu runs\n", files, runs);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
