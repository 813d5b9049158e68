/* The command line of a member, with its secrets masked. */
#include <stdio.h>
#include <string.h>

#include "probe/tree/private.h"

/* Keep the first argument, up to a blank: a process that sets its own title has blanks for NULs. */
static void redact(char *command, size_t size)
{
	size_t n = strcspn(command, " ");

	if (n + sizeof(" " TRK_REDACTED) > size)
		n = size - sizeof(" " TRK_REDACTED);
	(void) snprintf(command + n, size - n, " " TRK_REDACTED);
}

/* Copy a command line, whose arguments end with NUL, with its secrets masked. The input may be
 * longer than the result, so that no secret is cut before it is recognised. If the kernel cut the
 * input (len is TRK_CMDLINE_MAX - 1), its last argument is redacted if it would be kept up to its
 * end. Returns the length. */
static size_t mask(const char *cmdline, size_t len, bool strict, char command[TRK_COMMAND_SIZE])
{
	struct trk_mask state = {.strict = strict};
	bool is_cut = len == TRK_CMDLINE_MAX - 1;
	size_t used = 0;

	for (size_t at = 0; at < len && used + 1 < TRK_COMMAND_SIZE;
	     at += strlen(cmdline + at) + 1) {
		bool is_last = at + strlen(cmdline + at) >= len;
		size_t room = TRK_COMMAND_SIZE - used;
		size_t put = trk__mask_argument(&state, cmdline + at, command + used, room);

		if (is_last && is_cut && put + 1 < room)
			put = (size_t) snprintf(command + used, room, "%s", TRK_REDACTED);
		used += put < room ? put : room - 1;
		command[used++] = '\0';
	}
	return used;
}

void trk__tree_take_command(struct trk_tree *t, struct process *p, const char *cmdline, size_t len)
{
	size_t kept;

	if (t->options.redaction <= TRK_REDACT_STRICT) {
		kept = mask(cmdline, len, t->options.redaction == TRK_REDACT_STRICT, p->command);
	} else {
		kept = len < TRK_COMMAND_SIZE ? len : TRK_COMMAND_SIZE - 1;
		memcpy(p->command, cmdline, kept);
		p->command[kept] = '\0';
	}
	for (size_t i = 0; i + 1 < kept; i++)
		if (p->command[i] == '\0')
			p->command[i] = ' ';
	if (t->options.redaction == TRK_REDACT_ALL && strchr(p->command, ' '))
		redact(p->command, sizeof(p->command));
	trk__programs_command(t, p, cmdline, t->options.redaction == TRK_REDACT_ALL ? 0 : len);
}
