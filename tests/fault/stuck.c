/* Processes whose memory cannot be read.
 *
 *     stuck serve DIR          mount a file system on DIR whose server answers what opening and mapping
 *                              DIR/file needs, and never a read, nor anything about other names. Only
 *                              killing the reader ends its read. Closing DIR/close never ends
 *     stuck hold DIR           hold the lock of the own memory map for good: one thread reads a page of
 *                              the mapped DIR/file through /proc/self/mem, and the kernel keeps the lock
 *                              for reading meanwhile; another one waits for it to write, so that each
 *                              later reader waits, too. The main thread uses CPU time.
 *     stuck exec DIR [COUNT]   the process, or COUNT children of it, execute another program with an open
 *                              DIR/close that is to be closed then: the kernel keeps the lock for
 *                              exec, which readers of the files below /proc/PID take, too. The parent
 *                              uses CPU time
 *     stuck absent [SECONDS]   look like CPython 3.11, with an interpreter in memory that never comes
 *                              (userfaultfd)
 *
 * Prints "ready" when it is so. Needs root, and for DIR a mount namespace of its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FILE_SIZE = 1 << 20, FILE_NODE = 2, CLOSE_NODE = 3, PAGE = 4096 };

/* What a CPython exports: its version, and the address of the first interpreter in its runtime. */
extern unsigned long Py_Version;
extern uint64_t _PyRuntime[512];
unsigned long Py_Version = 0x030b00f0;
uint64_t _PyRuntime[512];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void say_ready(void)
{
	(void) printf("ready\n");
	(void) fflush(stdout);
}

/* ---- serve ---- */

struct answer {
	struct fuse_out_header head;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
	} u;
};

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr a = {.ino = node, .nlink = 1, .blksize = PAGE};

	a.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	a.size = node == FUSE_ROOT_ID ? 0 : FILE_SIZE;
	return a;
}

/* Returns the length of the answer's data; -1: never answered. */
static int answer(const struct fuse_in_header *in, struct answer *out)
{
	uint64_t node;

	switch (in->opcode) {
	case FUSE_INIT:
		out->u.init = (struct fuse_init_out){.major = 7, .minor = 31, .max_write = PAGE};
		return sizeof(out->u.init);
	case FUSE_LOOKUP:
		node = strcmp((const char *) (in + 1), "close") == 0 ? CLOSE_NODE : FILE_NODE;
		if (node == FILE_NODE && strcmp((const char *) (in + 1), "file") != 0)
			return -1;
		out->u.entry = (struct fuse_entry_out){.nodeid = node,
						       .attr_valid = 1000,
						       .entry_valid = 1000,
						       .attr = attributes(node)};
		return sizeof(out->u.entry);
	case FUSE_GETATTR:
		out->u.attr =
			(struct fuse_attr_out){.attr_valid = 1000, .attr = attributes(in->nodeid)};
		return sizeof(out->u.attr);
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return sizeof(out->u.open);
	case FUSE_INTERRUPT: /* the reader was killed: its read ends */
		out->head.unique = ((const struct fuse_interrupt_in *) (in + 1))->unique;
		out->head.error = -4; /* EINTR */
		return 0;
	case FUSE_FLUSH:
		return in->nodeid == CLOSE_NODE ? -1 : 0;
	case FUSE_READ:
	case FUSE_FORGET:
		return -1;
	default:
		out->head.error = -38; /* ENOSYS */
		return 0;
	}
}

static void serve(const char *dir)
{
	static char request[1 << 18];
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	(void) snprintf(options, sizeof(options),
			"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (device < 0 || mount("stuck", dir, "fuse.stuck", MS_NOSUID, options) < 0)
		fail("mount");
	say_ready();
	while (read(device, request, sizeof(request)) > 0) {
		const struct fuse_in_header *in = (const void *) request;
		struct answer out = {.head = {.unique = in->unique}};
		int len = answer(in, &out);

		if (len < 0)
			continue;
		out.head.len = (uint32_t) (sizeof(out.head) + (size_t) len);
		(void) !write(device, &out, out.head.len);
	}
}

/* ---- hold ---- */

static char *mapped;
static _Atomic pid_t reader_tid;

static void *read_page(void *data)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	(void) data;
	reader_tid = (pid_t) syscall(SYS_gettid);
	(void) !pread(fd, &byte, 1, (off_t) (uintptr_t) mapped);
	return NULL;
}

static void *change_map(void *data)
{
	(void) data;
	(void) mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return NULL;
}

static char state_of(pid_t tid)
{
	char path[64], text[256] = "", *end;
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int) tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	(void) !read(fd, text, sizeof(text) - 1);
	(void) close(fd);
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

/* Wait until the thread sleeps in the kernel. */
static void await_sleep(const _Atomic pid_t *tid)
{
	const struct timespec nap = {.tv_nsec = 2000000};
	int asleep = 0;

	while (asleep < 5) {
		(void) nanosleep(&nap, NULL);
		asleep = *tid && state_of(*tid) != 'R' ? asleep + 1 : 0;
	}
}

static void burn(double seconds)
{
	struct timespec start, now;

	(void) clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		const struct timespec nap = {.tv_nsec = 5000000};

		for (volatile int i = 0; i < 300000; i++)
			;
		(void) nanosleep(&nap, NULL);
		(void) clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double) (now.tv_sec - start.tv_sec) < seconds);
}

static void hold(const char *dir)
{
	char path[4096];
	pthread_t thread;
	int fd;

	(void) snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	mapped = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	say_ready(); /* printf() would need the lock later */
	if (mapped == MAP_FAILED || pthread_create(&thread, NULL, read_page, NULL) != 0)
		fail("mmap");
	await_sleep(&reader_tid);
	if (pthread_create(&thread, NULL, change_map, NULL) != 0)
		fail("pthread_create");
	burn(3600);
}

/* ---- exec ---- */

static void execute(const char *dir)
{
	char path[4096];

	(void) snprintf(path, sizeof(path), "%s/close", dir);
	if (open(path, O_RDONLY | O_CLOEXEC) < 0)
		fail(path);
	say_ready();
	(void) execl("/bin/sleep", "sleep", "3600", (char *) NULL);
	fail("/bin/sleep");
}

static void execute_children(const char *dir, int count)
{
	for (int i = 0; i < count; i++)
		if (fork() == 0)
			execute(dir);
	burn(3600);
}

/* ---- absent ---- */

static void absent(double seconds)
{
	int fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	void *at =
		mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	area.range.start = (uint64_t) (uintptr_t) at;
	area.range.len = FILE_SIZE;
	if (fd < 0 || at == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &area) < 0)
		fail("userfaultfd");
	_PyRuntime[5] = area.range.start; /* the first interpreter, in CPython 3.11 */
	say_ready();
	burn(seconds);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "serve") && argc > 2)
		serve(argv[2]);
	else if (!strcmp(what, "hold") && argc > 2)
		hold(argv[2]);
	else if (!strcmp(what, "exec") && argc == 3)
		execute(argv[2]);
	else if (!strcmp(what, "exec") && argc > 3)
		execute_children(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "absent"))
		absent(argc > 2 ? atof(argv[2]) : 3600);
	else
		return 2;
	return 0;
}
