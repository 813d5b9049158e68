#include "top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"
#include "base/os.h"

/* Alternate screen, no cursor, no line wrap; and their reset. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?2026l\033[0m\033[?7h\033[?25h\033[?1049l"

/* Signals that end the program. */
static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT, SIGSEGV,
			    SIGBUS, SIGFPE, SIGILL,  SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
enum { FATAL = sizeof(fatal) / sizeof(fatal[0]) };

static struct {
	volatile sig_atomic_t open, resized, continued, stop;
	int in_fd, out_fd;
	int guard_fd; /* the guard restores the terminal if this is closed without a byte */
	pid_t guard;
	struct termios before, raw;
	struct sigaction old[FATAL], old_winch, old_cont, old_tstp;
	sigset_t old_mask;
} screen = {.guard_fd = -1};

/* Calls that POSIX lists as safe in signal handlers. */
static void give_back(int in_fd, int out_fd)
{
	(void) tcsetattr(in_fd, TCSANOW, &screen.before);
	(void) !write(out_fd, LEAVE, sizeof(LEAVE) - 1);
}

static void end_by(int signo)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t set;

	if (screen.open)
		give_back(screen.in_fd, screen.out_fd);
	screen.open = 0;
	(void) !write(screen.guard_fd, "", 1);
	(void) sigaction(signo, &plain, NULL);
	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	(void) sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void) raise(signo);
}

static void note(int signo)
{
	if (signo == SIGWINCH)
		screen.resized = 1;
	else if (signo == SIGCONT)
		screen.continued = 1;
	else
		screen.stop = 1;
}

/* ---- the guard ---- */

/* Wait for the byte that signals a proper exit. Without it restore the terminal, and its modes
 * unless another program, such as the shell, has changed them meanwhile. */
static void guard_terminal(int fd)
{
	struct termios now;
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 0)
		_exit(0);
	if (tcgetattr(screen.in_fd, &now) == 0 && now.c_lflag == screen.raw.c_lflag &&
	    now.c_iflag == screen.raw.c_iflag)
		(void) tcsetattr(screen.in_fd, TCSANOW, &screen.before);
	(void) !write(screen.out_fd, LEAVE, sizeof(LEAVE) - 1);
	_exit(0);
}

static void prepare_guard(int fd)
{
	int high = fd > screen.out_fd ? fd : screen.out_fd;

	/* In its own session no signal of the terminal or the process group reaches it, and it may
	 * set modes of a terminal that is not its controlling one. */
	(void) setsid();
	for (int i = 0; i < FATAL; i++)
		(void) signal(fatal[i], SIG_IGN);
	trk__os_name_self("top-guard");
	for (int i = 3; i < high; i++)
		if (i != fd && i != screen.in_fd && i != screen.out_fd)
			(void) close(i);
	trk__close_range((unsigned int) high + 1, ~0u);
	guard_terminal(fd);
}

/* If this fails, SIGKILL leaves the terminal raw; there is no other effect. */
static void start_guard(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	screen.guard = fork();
	if (screen.guard == 0) {
		(void) close(ends[1]);
		prepare_guard(ends[0]);
	}
	(void) close(ends[0]);
	screen.guard_fd = ends[1];
	if (screen.guard < 0) {
		(void) close(ends[1]);
		screen.guard_fd = -1;
	}
}

static void end_guard(void)
{
	if (screen.guard_fd < 0)
		return;
	(void) !write(screen.guard_fd, "", 1);
	(void) close(screen.guard_fd);
	screen.guard_fd = -1;
	(void) waitpid(screen.guard, NULL, 0);
}

/* ---- the screen ---- */

static void set_signals(void)
{
	struct sigaction end = {.sa_handler = end_by}, notes = {.sa_handler = note};

	(void) sigfillset(&end.sa_mask);
	for (int i = 0; i < FATAL; i++) {
		(void) sigaction(fatal[i], NULL, &screen.old[i]);
		if (screen.old[i].sa_handler != SIG_IGN || fatal[i] == SIGPIPE)
			(void) sigaction(fatal[i], &end, NULL);
	}
	(void) sigaction(SIGWINCH, &notes, &screen.old_winch);
	(void) sigaction(SIGCONT, &notes, &screen.old_cont);
	(void) sigaction(SIGTSTP, &notes, &screen.old_tstp);
}

static void restore_signals(void)
{
	for (int i = 0; i < FATAL; i++)
		(void) sigaction(fatal[i], &screen.old[i], NULL);
	(void) sigaction(SIGWINCH, &screen.old_winch, NULL);
	(void) sigaction(SIGCONT, &screen.old_cont, NULL);
	(void) sigaction(SIGTSTP, &screen.old_tstp, NULL);
}

static void enter(void)
{
	(void) tcsetattr(screen.in_fd, TCSANOW, &screen.raw);
	(void) trk__write_all(screen.out_fd, ENTER, sizeof(ENTER) - 1);
}

int trk__screen_open(int in_fd, int out_fd)
{
	sigset_t set;

	screen.in_fd = in_fd;
	screen.out_fd = out_fd;
	if (tcgetattr(in_fd, &screen.before) < 0)
		return -errno;
	screen.raw = screen.before;
	screen.raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO | ISIG | IEXTEN);
	screen.raw.c_iflag &= ~(tcflag_t) (IXON | ICRNL | INLCR | ISTRIP);
	screen.raw.c_cc[VMIN] = 0;
	screen.raw.c_cc[VTIME] = 0;
	/* Signals are handled only during the wait: a flag set between its test and the wait would
	 * be noticed a second late. */
	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGWINCH);
	(void) sigaddset(&set, SIGCONT);
	(void) sigaddset(&set, SIGTSTP);
	(void) sigprocmask(SIG_BLOCK, &set, &screen.old_mask);
	start_guard();
	set_signals();
	screen.open = 1;
	enter();
	return 0;
}

void trk__screen_close(void)
{
	if (!screen.open)
		return;
	give_back(screen.in_fd, screen.out_fd);
	screen.open = 0;
	end_guard();
	restore_signals();
	(void) sigprocmask(SIG_SETMASK, &screen.old_mask, NULL);
}

bool trk__screen_size(int *ret_columns, int *ret_rows)
{
	struct winsize size = {.ws_col = 0};

	if (ioctl(screen.out_fd, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
		return false;
	*ret_columns = size.ws_col;
	*ret_rows = size.ws_row;
	return true;
}

void trk__screen_suspend(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, notes = {.sa_handler = note};
	sigset_t set;

	give_back(screen.in_fd, screen.out_fd);
	(void) sigaction(SIGTSTP, &plain, NULL);
	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGTSTP);
	/* Stop the whole process group, as the terminal does, to stop a pipeline. */
	(void) kill(0, SIGTSTP);
	(void) sigprocmask(SIG_UNBLOCK, &set, NULL); /* stops here */
	(void) sigprocmask(SIG_BLOCK, &set, NULL);
	(void) sigaction(SIGTSTP, &notes, NULL);
	screen.stop = 0;
	screen.continued = 0;
	screen.resized = 1;
	enter();
}

bool trk__screen_wait(int timeout_ms, bool *ret_resized)
{
	struct pollfd in = {.fd = screen.in_fd, .events = POLLIN};
	struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	int n = ppoll(&in, 1, &timeout, &screen.old_mask);

	if (screen.stop)
		trk__screen_suspend();
	if (screen.continued) { /* after SIGSTOP: the shell has changed the terminal */
		screen.continued = 0;
		screen.resized = 1;
		enter();
	}
	*ret_resized = screen.resized != 0;
	screen.resized = 0;
	return n > 0;
}

ssize_t trk__screen_read(char *keys, size_t size)
{
	return read(screen.in_fd, keys, size);
}
