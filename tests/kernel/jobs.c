/* Jobs for the guest. Each uses what its arguments say, so that the tests know the truth.
 *
 *   job alloc MIB SECONDS         anonymous memory, touched, held
 *   job cycle MIB SECONDS         anonymous memory, touched again and again; the time starts when three
 *                                 quarters of it are touched
 *   job huge KIND MIB SECONDS     huge pages of hugetlbfs, touched, held; KIND is anon, memfd or sysv. Of a
 *                                 memfd a forked child maps the same pages
 *   job map FILE PASSES SECONDS   a mapped file of which each page is read so often, held
 *   job memfd MIB SECONDS         a memfd that is written and not mapped
 *   job sockets MIB SECONDS       data that stays in socket buffers
 *   job spin SECONDS              CPU time of one thread
 *   job threads N SECONDS         N threads that spin for this elapsed time; prints their CPU time
 *   job forks N SECONDS           N children that sleep; the last line is their number
 *   job write FILE MIB            direct I/O, without the page cache
 *   job read FILE MIB             direct I/O, without the page cache */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB 1048576u

static double clock_s(clockid_t id)
{
	struct timespec t;

	(void) clock_gettime(id, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void spin(clockid_t id, double seconds)
{
	double end = clock_s(id) + seconds;
	volatile unsigned long x = 0;

	while (clock_s(id) < end)
		for (int i = 0; i < 20000; i++)
			x += (unsigned long) i;
}

static int hold(const char *seconds)
{
	(void) usleep((useconds_t) (atof(seconds) * 1e6));
	return 0;
}

static int do_alloc(char **v)
{
	size_t size = (size_t) atol(v[0]) * MIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 3;
	for (size_t i = 0; i < size; i += 4096)
		p[i] = (char) (i >> 12) + 1;
	return hold(v[1]);
}

static int do_cycle(char **v)
{
	size_t size = (size_t) atol(v[0]) * MIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double end = INFINITY;

	if (p == MAP_FAILED)
		return 3;
	for (size_t i = 0; i % MIB || clock_s(CLOCK_MONOTONIC) < end; i += 4096) {
		if (i == size / 4 * 3)
			end = clock_s(CLOCK_MONOTONIC) + atof(v[1]);
		p[i % size]++;
	}
	return 0;
}

static char *map_huge(const char *kind, size_t size)
{
	char *at;
	int fd;

	if (!strcmp(kind, "anon"))
		return mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (!strcmp(kind, "sysv")) {
		fd = shmget(IPC_PRIVATE, size, IPC_CREAT | SHM_HUGETLB | 0600);
		at = shmat(fd, NULL, 0);
		(void) shmctl(fd, IPC_RMID, NULL); /* with its last user */
		return at;
	}
	fd = memfd_create("job", MFD_HUGETLB);
	if (ftruncate(fd, (off_t) size) < 0)
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static int do_huge(char **v)
{
	size_t size = (size_t) atol(v[1]) * MIB;
	char *p = map_huge(v[0], size);
	pid_t child;

	if (p == MAP_FAILED || p == (char *) -1)
		return 3;
	memset(p, 1, size);
	if (strcmp(v[0], "memfd") != 0)
		return hold(v[2]);
	child = fork();
	if (child == 0) {
		for (size_t i = 0; i < size; i += 4096)
			(void) *(volatile char *) (p + i);
		_exit(hold(v[2]));
	}
	return child < 0 || waitpid(child, NULL, 0) != child ? 3 : 0;
}

static int do_map(char **v)
{
	int fd = open(v[0], O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	const volatile char *p = mmap(NULL, (size_t) size, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 3;
	for (int pass = 0; pass < atoi(v[1]); pass++)
		for (off_t i = 0; i < size; i += 4096)
			(void) p[i];
	return hold(v[2]);
}

static int do_memfd(char **v)
{
	static char block[MIB / 16];
	int fd = memfd_create("job", 0);

	memset(block, 7, sizeof(block));
	for (long i = 0; i < 16 * atol(v[0]); i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			return 4;
	return hold(v[1]);
}

/* A pair holds what the limit of its buffers allows; there are as many as are needed. */
static int do_sockets(char **v)
{
	static char block[MIB / 16];
	size_t left = (size_t) atol(v[0]) * 16;

	while (left) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
			return 3;
		while (left && write(pair[0], block, sizeof(block)) == sizeof(block))
			left--;
	}
	return hold(v[1]);
}

static int do_spin(char **v)
{
	spin(CLOCK_THREAD_CPUTIME_ID, atof(v[0]));
	return 0;
}

static void *spin_thread(void *seconds)
{
	spin(CLOCK_MONOTONIC, *(double *) seconds);
	return NULL;
}

static int do_threads(char **v)
{
	double seconds = atof(v[1]);
	pthread_t thread[64];
	int n = atoi(v[0]) < 64 ? atoi(v[0]) : 64;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, spin_thread, &seconds) != 0)
			return 3;
	for (int i = 0; i < n; i++)
		(void) pthread_join(thread[i], NULL);
	(void) printf("used %.3f s\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

static int do_forks(char **v)
{
	int made = 0;

	for (int i = 0; i < atoi(v[0]); i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(hold(v[1]));
		if (pid < 0)
			break;
		made++;
	}
	while (wait(NULL) > 0)
		;
	printf("forked %d\n", made);
	return 0;
}

static int do_disk(char **v, int flags)
{
	int fd = open(v[0], flags | O_DIRECT, 0644);
	void *block;

	if (fd < 0 || posix_memalign(&block, 4096, MIB) != 0)
		return 3;
	memset(block, 5, MIB);
	for (long i = 0; i < atol(v[1]); i++)
		if ((flags & O_WRONLY ? write(fd, block, MIB) : read(fd, block, MIB)) != MIB)
			return 4;
	return close(fd);
}

static int do_write(char **v)
{
	return do_disk(v, O_WRONLY | O_CREAT | O_TRUNC);
}

static int do_read(char **v)
{
	return do_disk(v, O_RDONLY);
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(char **);
} jobs[] = {
	{"alloc", 2, do_alloc},     {"cycle", 2, do_cycle}, {"memfd", 2, do_memfd},
	{"sockets", 2, do_sockets}, {"spin", 1, do_spin},   {"threads", 2, do_threads},
	{"forks", 2, do_forks},     {"write", 2, do_write}, {"read", 2, do_read},
	{"huge", 3, do_huge},       {"map", 3, do_map},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(jobs) / sizeof(jobs[0]); i++)
		if (!strcmp(argv[1], jobs[i].name) && argc == jobs[i].arguments + 2)
			return jobs[i].run(argv + 2);
	(void) fputs("job: unknown job or wrong number of arguments\n", stderr);
	return 2;
}
