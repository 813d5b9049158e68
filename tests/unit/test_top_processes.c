/* The processes of the live view. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "scratch.h"
#include "top/processes.h"

static void add_process(const char *root, int pid, int parent)
{
	char path[32], text[256];

	(void) snprintf(path, sizeof(path), "%d/stat", pid);
	(void) snprintf(
		text, sizeof(text),
		"%d (work) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 1 0 0 0 0 0 0 0 0 0 "
		"0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, parent);
	put_below(root, path, text);
}

static void a_new_process_is_found_though_the_last_pid_stands_still(void **state)
{
	char root[] = "/tmp/rt-top-processes-XXXXXX";
	struct trk_processes p = {0};
	uint64_t now_ns = 3600 * TRK_NS_PER_S;
	int fd;

	(void) state;
	assert_non_null(mkdtemp(root));
	put_below(root, "loadavg", "0.50 0.40 0.30 1/500 2500000\n");
	add_process(root, 40000000, 1);
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(trk__processes_update(&p, fd, 40000000, now_ns), 1);
	add_process(root, 40000001, 40000000);
	assert_int_equal(trk__processes_update(&p, fd, 40000000, 2 * now_ns), 2);
	trk__processes_release(&p);
	(void) close(fd);
	trk__remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_process_is_found_though_the_last_pid_stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
