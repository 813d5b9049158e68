/* Parts of the known works that several systems share. */
#ifndef TRK_SERVICE_KNOWN_WORK_PARTS_H
#define TRK_SERVICE_KNOWN_WORK_PARTS_H

#include "service/known_work.h"

/* CPU time of this process. Each system has its own source. */
double trk__work_cpu_s(void);
void trk__work_burn_ms(unsigned int ms);

/* Works: 1.5 s of CPU time; a file that is written down to the disk before the job ends. */
double trk__work_one_process(const char *folder);
double trk__work_written_file(const char *folder);

#endif
