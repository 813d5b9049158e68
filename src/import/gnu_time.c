/* The report of GNU time -v. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/parse.h"
#include "import/private.h"
#include "import/values.h"

struct time_block {
	struct trk_imp_totals t;
	char command[TRK_RUN_TEXT_SIZE];
	int code, signal;
	bool open;
};

static void block_clear(struct time_block *b)
{
	*b = (struct time_block){.t = TRK_IMP_TOTALS_UNKNOWN, .code = -1};
}

/* "python train.py --fast" as the job's name: program and script, as `run` derives it. */
static void job_of_command(const char *command, char *job, size_t size)
{
	char word[TRK_RUN_TEXT_SIZE];
	size_t n = 0;

	job[0] = '\0';
	for (int k = 0; k < 2; k++) {
		size_t len;
		const char *slash;

		command += strspn(command, " ");
		len = strcspn(command, " ");
		if (len == 0 || len >= sizeof(word) || (k > 0 && *command == '-'))
			return;
		memcpy(word, command, len);
		word[len] = '\0';
		command += len;
		if (k > 0 && !strchr(word, '.'))
			return;
		slash = strrchr(word, '/');
		n += (size_t) snprintf(job + n, size - n, "%s%s", k > 0 ? " " : "",
				       slash ? slash + 1 : word);
		if (n >= size)
			return;
	}
}

static int block_end(struct trk_importing *i, struct time_block *b)
{
	char job[TRK_RUN_TEXT_SIZE];

	if (!b->open)
		return 0;
	if (!(b->t.duration_s >= 0)) {
		i->result->skipped++;
		return 0;
	}
	job_of_command(b->command, job, sizeof(job));
	trk__imp_clear(i, job);
	trk__imp_ends_with_file(i, b->t.duration_s);
	(void) snprintf(i->run.command, sizeof(i->run.command), "%s", b->command);
	i->run.command_len = strlen(i->run.command) + 1;
	b->t.peak_is = TRK_PEAK_OF_PROCESS;
	b->t.code = b->signal ? -1 : b->code;
	b->t.signal = b->signal;
	b->t.end = b->signal ? TRK_END_SIGNALLED : TRK_END_EXITED;
	trk__imp_key(i, &b->t.duration_s, sizeof(b->t.duration_s));
	trk__imp_key(i, &b->t.user_s, sizeof(b->t.user_s));
	trk__imp_key(i, &b->t.peak_mib, sizeof(b->t.peak_mib));
	trk__imp_key(i, b->command, strlen(b->command));
	return trk__imp_totals(i, &b->t);
}

static void take_time_line(struct time_block *b, const char *line)
{
	static const struct {
		const char *key;
		size_t offset;
		double factor;
	} numbers[] = {
		{"User time (seconds): ", offsetof(struct trk_imp_totals, user_s), 1},
		{"System time (seconds): ", offsetof(struct trk_imp_totals, system_s), 1},
		{"Maximum resident set size (kbytes): ", offsetof(struct trk_imp_totals, peak_mib),
		 1 / 1024.0},
		{"File system inputs: ", offsetof(struct trk_imp_totals, read_bytes), 512},
		{"File system outputs: ", offsetof(struct trk_imp_totals, write_bytes), 512},
	};
	static const char elapsed[] = "Elapsed (wall clock) time (h:mm:ss or m:ss): ";
	static const char status[] = "Exit status: ", killed[] = "Command terminated by signal ";
	double value;

	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		if (!strncmp(line, numbers[k].key, strlen(numbers[k].key)) &&
		    trk__parse_decimal(line + strlen(numbers[k].key), &value) == 0 && value >= 0) {
			value *= numbers[k].factor;
			memcpy((char *) &b->t + numbers[k].offset, &value, sizeof(value));
		}
	if (!strncmp(line, elapsed, sizeof(elapsed) - 1))
		b->t.duration_s = trk__value_clock(line + sizeof(elapsed) - 1);
	if (!strncmp(line, status, sizeof(status) - 1) &&
	    trk__parse_decimal(line + sizeof(status) - 1, &value) == 0 && value >= 0 && value < 256)
		b->code = (int) value;
	if (!strncmp(line, killed, sizeof(killed) - 1) &&
	    trk__parse_decimal(line + sizeof(killed) - 1, &value) == 0 && value > 0 && value < 65)
		b->signal = (int) value;
}

/* "Command being timed: "sort -u"": the text between the first and the last quote, masked as a
 * recorded command line is by default. */
static void take_command(struct time_block *b, char *line)
{
	char *from = strchr(line, '"'), *to = strrchr(line, '"');
	struct trk_mask mask = {.strict = false};

	if (from && to > from) {
		*to = '\0';
		(void) trk__mask_argument(&mask, from + 1, b->command, sizeof(b->command));
	}
	b->open = true;
}

int trk__imp_gnu_time(struct trk_importing *i, char *text, size_t len)
{
	struct time_block b;
	int signal = 0, r = 0;

	block_clear(&b);
	for (char *line = text, *next; *line && r == 0; line = next) {
		size_t size = strcspn(line, "\r\n");

		next = line + size + strspn(line + size, "\r\n");
		line[size] = '\0';
		line += strspn(line, " \t");
		if (!strncmp(line, "Command being timed: ", 21)) {
			r = block_end(i, &b);
			block_clear(&b);
			b.signal = signal; /* the signal is reported before the block */
			signal = 0;
			take_command(&b, line);
			continue;
		}
		if (!b.open || !strncmp(line, "Command terminated by signal ", 29)) {
			struct time_block before = {.signal = 0};

			take_time_line(&before, line);
			signal = before.signal ? before.signal : signal;
		} else {
			take_time_line(&b, line);
		}
	}
	return r < 0 ? r : block_end(i, &b);
}
