#include "model/process.h"

#include <stdio.h>

void trk__stuck_text(const struct trk_stuck_process *s, char text[TRK_STUCK_TEXT_SIZE])
{
	unsigned long seconds = (unsigned long) (s->since_ms / 1000);

	(void) snprintf(text, TRK_STUCK_TEXT_SIZE,
			s->is_over ? "process %d (%s) was stuck in the kernel at %lu:%02lu:%02lu"
				   : "process %d (%s) is stuck in the kernel since %lu:%02lu:%02lu",
			(int) s->pid, s->name, seconds / 3600, seconds / 60 % 60, seconds % 60);
}
