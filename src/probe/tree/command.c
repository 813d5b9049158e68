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

void trk__tree_take_command(struct trk_tree *t, struct process *p, const char *cmdline, size_t len)
{
	bool is_strict = t->options.redaction == TRK_REDACT_STRICT,
	     is_cut = len == TRK_CMDLINE_MAX - 1;
	char masked[TRK_CMDLINE_MAX];
	size_t kept;

	/* The program is named after the masked command line, too. */
	if (t->options.redaction <= TRK_REDACT_STRICT) {
		len = trk__mask_command(cmdline, len, is_strict, is_cut, masked, sizeof(masked));
		cmdline = masked;
	}
	kept = len < TRK_COMMAND_SIZE ? len : TRK_COMMAND_SIZE - 1;
	memcpy(p->command, cmdline, kept);
	p->command[kept] = '\0';
	for (size_t i = 0; i + 1 < kept; i++)
		if (p->command[i] == '\0')
			p->command[i] = ' ';
	if (t->options.redaction == TRK_REDACT_ALL && strchr(p->command, ' '))
		redact(p->command, sizeof(p->command));
	trk__programs_command(t, p, cmdline, t->options.redaction == TRK_REDACT_ALL ? 0 : len);
}
