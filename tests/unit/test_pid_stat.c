/* The parser and the reader of /proc/PID/stat. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/pid_stat.h"

/* Fields 4 to 52 as Linux 6.1 writes them. */
#define TAIL                                                                                       \
	" 1 1200 1100 34816 -1 4194304 5001 5002 53 54 601 602 703 704 20 -5 8 0 9009 10485760 "   \
	"2560 18446744073709551615 94000 95000 140000 0 0 0 0 4096 81922 0 0 0 17 1 0 0 4711 0 0 " \
	"96000 97000 98000 140001 140002 140003 140004 0\n"

static int parse(const char *text, struct trk_pid_stat *ret)
{
	return trk__pid_stat_parse(text, strlen(text), ret);
}

static void expect_tail(const struct trk_pid_stat *s)
{
	assert_int_equal(s->ppid, 1);
	assert_int_equal(s->pgrp, 1200);
	assert_int_equal(s->session, 1100);
	assert_int_equal(s->minor_faults, 5001);
	assert_int_equal(s->child_minor_faults, 5002);
	assert_int_equal(s->major_faults, 53);
	assert_int_equal(s->child_major_faults, 54);
	assert_int_equal(s->user_ticks, 601);
	assert_int_equal(s->system_ticks, 602);
	assert_int_equal(s->child_user_ticks, 703);
	assert_int_equal(s->child_system_ticks, 704);
	assert_int_equal(s->threads, 8);
	assert_int_equal(s->start_ticks, 9009);
	assert_int_equal(s->rss_pages, 2560);
}

static void reads_an_ordinary_line(void **state)
{
	struct trk_pid_stat s;

	assert_int_equal(parse("4242 (bash) S" TAIL, &s), 0);
	assert_int_equal(s.pid, 4242);
	assert_string_equal(s.comm, "bash");
	assert_int_equal(s.state, 'S');
	expect_tail(&s);
}

static void the_name_may_hold_anything(void **state)
{
	static const char *const names[] = {
		"tmux: server", "npm exec a b", "a b c d e", ")",        "(",   "))((", "",
		") S 1 1 (",    "x) R 1 2 3",   "line\nend", " \t\n ) ", "(a)",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct trk_pid_stat s;

		(void) snprintf(text, sizeof(text), "7 (%s) Z%s", names[i], TAIL);
		assert_int_equal(parse(text, &s), 0);
		assert_string_equal(s.comm, names[i]);
		assert_int_equal(s.state, 'Z');
		expect_tail(&s);
	}
}

static void a_long_name_is_cut(void **state)
{
	struct trk_pid_stat s;
	char text[512], name[101];

	memset(name, 'n', 100);
	name[100] = '\0';
	(void) snprintf(text, sizeof(text), "7 (%s) I%s", name, TAIL);
	assert_int_equal(parse(text, &s), 0);
	assert_int_equal(strlen(s.comm), TRK_COMM_SIZE - 1);
	expect_tail(&s);
}

static void the_longest_name_of_a_kernel_thread_is_whole(void **state)
{
	struct trk_pid_stat s;
	char text[512], name[TRK_COMM_SIZE];

	memset(name, ')', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void) snprintf(text, sizeof(text), "7 (%s) I%s", name, TAIL);
	assert_int_equal(parse(text, &s), 0);
	assert_string_equal(s.comm, name);
	expect_tail(&s);
}

static void a_negative_rss_is_none(void **state)
{
	struct trk_pid_stat s;

	assert_int_equal(parse("7 (k) R 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 -3 "
			       "18446744073709551615 0\n",
			       &s),
			 0);
	assert_int_equal(s.rss_pages, 0);
}

static void accepts_the_short_line_of_an_old_kernel(void **state)
{
	struct trk_pid_stat s;

	/* Linux 2.6.9: 41 fields, no block delay. */
	assert_int_equal(parse("31 (init) S 1 0 0 0 -1 256 35 0 7 0 11 12 0 0 16 0 1 "
			       "0 77 1564672 129 4294967295 134512640 134540804 "
			       "3221225200 3221223000 0 0 0 0 0 0 0 0 17 1 0 0\n",
			       &s),
			 0);
	assert_int_equal(s.user_ticks, 11);
	assert_int_equal(s.start_ticks, 77);
	assert_int_equal(s.rss_pages, 129);
}

static void the_delay_stands_far_behind(void **state)
{
	assert_int_equal(trk__pid_stat_block_delay("4242 (bash) S" TAIL), 4711);
	assert_int_equal(trk__pid_stat_block_delay("4242 () S 1 ( 2)) S" TAIL), 4711);
	/* Linux 2.6.9 ends before it. */
	assert_int_equal(
		trk__pid_stat_block_delay("31 (init) S 1 0 0 0 -1 256 35 0 7 0 11 12 0 0 16 0 1 "
					  "0 77 1564672 129 4294967295 134512640 134540804 "
					  "3221225200 3221223000 0 0 0 0 0 0 0 0 17 1 0 0\n"),
		0);
	assert_int_equal(trk__pid_stat_block_delay("4242 (bash"), 0);
	assert_int_equal(trk__pid_stat_block_delay("4242 (bash)"), 0);
	assert_int_equal(trk__pid_stat_block_delay(""), 0);
}

static void ignored_signals_are_read(void **state)
{
	assert_true(trk__pid_stat_ignores("4242 (bash) S" TAIL, SIGPIPE));
	assert_false(trk__pid_stat_ignores("4242 (bash) S" TAIL, SIGCHLD));
	assert_false(trk__pid_stat_ignores("4242 (bash", SIGPIPE));
	assert_false(trk__pid_stat_ignores("", SIGPIPE));
}

static void a_live_process_shows_what_it_ignores(void **state)
{
	int fd = trk__open_dir_at(AT_FDCWD, "/proc/self");
	char text[TRK_PID_STAT_SIZE];

	assert_true(fd >= 0);
	for (int i = 0; i < 2; i++) {
		assert_true(signal(SIGCHLD, i ? SIG_IGN : SIG_DFL) != SIG_ERR);
		assert_true(trk__read_at(fd, "stat", text, sizeof(text)) > 0);
		assert_int_equal(trk__pid_stat_ignores(text, SIGCHLD), i);
	}
	(void) signal(SIGCHLD, SIG_DFL);
	trk__close(fd);
}

static void refuses_what_ends_before_the_rss(void **state)
{
	static const char line[] = "4242 (bash) S" TAIL;
	const char *rss = strstr(line, " 2560");
	struct trk_pid_stat s = {.pid = 7};
	char text[sizeof(line)];

	for (size_t len = 0; len <= (size_t) (rss - line); len++) {
		memcpy(text, line, len);
		text[len] = '\0';
		assert_int_equal(parse(text, &s), -EBADMSG);
	}
	assert_int_equal(s.pid, 7);
}

static void refuses_what_is_no_stat_line(void **state)
{
	static const char *const bad[] = {"",
					  "7",
					  "7 ) S 1 (",
					  "x (a) S" TAIL,
					  "(a) S" TAIL,
					  "7 (a)S" TAIL,
					  "99999999999 (a) S" TAIL,
					  "7 (a) "};
	struct trk_pid_stat s = {.pid = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &s), -EBADMSG);
	assert_int_equal(s.pid, 7);
}

static void reads_live_processes(void **state)
{
	int fd = trk__open_dir_at(AT_FDCWD, "/proc");
	struct trk_pid_stat s;
	siginfo_t info;
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(prctl(PR_SET_NAME, "a) S 1 (b c"), 0);
	assert_int_equal(trk__pid_stat_read(fd, getpid(), &s), 0);
	assert_int_equal(s.pid, getpid());
	assert_int_equal(s.ppid, getppid());
	assert_int_equal(s.session, getsid(0));
	assert_string_equal(s.comm, "a) S 1 (b c");
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.threads, 1);
	assert_true(s.rss_pages > 0 && s.start_ticks > 0);

	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(trk__pid_stat_read(fd, pid, &s), 0);
	assert_int_equal(s.state, 'Z');
	assert_int_equal(s.ppid, getpid());
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(trk__pid_stat_read(fd, pid, &s), -ENOENT);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_ordinary_line),
		cmocka_unit_test(the_name_may_hold_anything),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(the_longest_name_of_a_kernel_thread_is_whole),
		cmocka_unit_test(a_negative_rss_is_none),
		cmocka_unit_test(accepts_the_short_line_of_an_old_kernel),
		cmocka_unit_test(the_delay_stands_far_behind),
		cmocka_unit_test(ignored_signals_are_read),
		cmocka_unit_test(a_live_process_shows_what_it_ignores),
		cmocka_unit_test(refuses_what_ends_before_the_rss),
		cmocka_unit_test(refuses_what_is_no_stat_line),
		cmocka_unit_test(reads_live_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
