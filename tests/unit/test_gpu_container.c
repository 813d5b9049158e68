/* The GPU of a job in a container, in which the driver does not report the job's pids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_play.h"

/* /proc of a container: a pid namespace of its own, and process 5 with /dev/nvidia0 open. */
static void in_a_container(struct play *p, struct live *live)
{
	live_init(live, NULL);
	assert_int_equal(mkdirat(live->env.proc_fd, "self/ns", 0700), 0);
	assert_int_equal(symlinkat("pid:[4026532777]", live->env.proc_fd, "self/ns/pid"), 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "5", 0700), 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "5/fd", 0700), 0);
	assert_int_equal(symlinkat("/dev/nvidia0", live->env.proc_fd, "5/fd/3"), 0);
	assert_int_equal(symlinkat("/dev/nvidiactl", live->env.proc_fd, "5/fd/4"), 0);
	p->attributor = (struct trk_gpu_attributor){.env = live->env};
}

static void leave_container(struct live *live)
{
	static const char *const files[] = {"self/ns/pid", "5/fd/3", "5/fd/4"};
	static const char *const folders[] = {"self/ns", "5/fd", "5"};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(unlinkat(live->env.proc_fd, files[i], 0), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(unlinkat(live->env.proc_fd, folders[i], AT_REMOVEDIR), 0);
	live_release(live);
}

static void in_a_container_the_device_that_the_job_has_to_itself_is_its_own(void **state)
{
	static const char *const scripts[] = {
		DEVICE PLAIN, /* the driver lists nobody */
		DEVICE PLAIN "process device=0 pid=90210 memory=100 lists=c\n"
			     "sample device=0 pid=90210 sm=50 age_ms=1\n",
	};
	pid_t pid = 5;

	for (size_t i = 0; i < 2; i++) {
		struct live live;
		struct play p;

		begin(&p, scripts[i]);
		in_a_container(&p, &live);
		look(&p, &pid, 1);
		assert_true(p.scan.device[0].by_device);
		assert_false(p.scan.device[1].by_device);
		near(VALUE(&p, 0, TREE_SHARE), 0.57);
		near(VALUE(&p, 0, TREE_MEMORY), 1073741824);
		near(VALUE(&p, 1, TREE_MEMORY), 0); /* not open in the job */
		leave_container(&live);
		end(&p);
	}
}

static void in_a_container_another_user_is_believed_by_the_environment(void **state)
{
	static const struct {
		struct trk_gpu_hints hints;
		const char *more; /* of the script */
		double memory;    /* of the first GPU; NAN: not known */
		enum trk_gpu_basis basis;
	} cases[] = {
		{{.cuda_visible = "GPU-a"}, "", 1073741824, TRK_GPU_BY_CUDA},
		{{.nvidia_visible = "all"}, "", 1073741824, TRK_GPU_BY_NVIDIA},
		{{.nvidia_visible = "all", .cuda_visible = "GPU-b"}, "", 0, 0},
		{{.cuda_visible = ""}, "", 0, 0},
		{{.cuda_visible = NULL}, "", NAN, 0},
		{{.cuda_visible = "GPU-a"},
		 "process device=0 pid=90210 memory=1 lists=c\n"
		 "process device=0 pid=90211 memory=1 lists=c\n",
		 NAN,
		 0},
	};
	pid_t pid = 5;

	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0); /* whom the folder is closed to */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[1024];
		struct live live;
		struct play p;

		(void) snprintf(script, sizeof(script), DEVICE PLAIN "%s", cases[i].more);
		begin(&p, script);
		in_a_container(&p, &live);
		p.attributor.hints = cases[i].hints;
		assert_int_equal(fchmodat(live.env.proc_fd, "5/fd", 0, 0), 0);
		look(&p, &pid, 1);
		assert_int_equal(fchmodat(live.env.proc_fd, "5/fd", 0700, 0), 0);
		if (isnan(cases[i].memory))
			assert_int_equal(WHY(&p, 0, TREE_MEMORY), TRK_GPU_FOREIGN_PIDS);
		else
			near(VALUE(&p, 0, TREE_MEMORY), cases[i].memory);
		assert_int_equal(p.scan.device[0].by_device, cases[i].memory > 0);
		assert_int_equal(p.scan.device[0].basis, cases[i].basis);
		leave_container(&live);
		end(&p);
	}
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

static void an_instance_that_is_named_is_the_jobs(void **state)
{
	struct live live;
	struct play p;
	pid_t pid = 5;

	begin(&p, "device name=A100 uuid=GPU-a minor=0 mig=1 total=1000 used=300\n"
		  "instance device=0 uuid=MIG-a total=500 used=200\n"
		  "instance device=0 uuid=MIG-b total=500 used=50\n"
		  "process device=0 pid=90210 memory=1 lists=c\n"
		  "process device=0 pid=90211 memory=1 lists=c\n");
	in_a_container(&p, &live);
	p.attributor.hints.cuda_visible = "MIG-b";
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_MEMORY), 50);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_MIG);
	assert_int_equal(p.scan.device[0].basis, TRK_GPU_BY_CUDA);
	leave_container(&live);
	end(&p);
}

static void a_node_that_the_job_has_not_is_not_its(void **state)
{
	static const char *const folders[] = {"5/root/dev", "5/root"};
	struct live live;
	struct play p;
	pid_t pid = 5;

	begin(&p, DEVICE PLAIN);
	in_a_container(&p, &live);
	p.attributor.hints.nvidia_visible = "all";
	assert_int_equal(mkdirat(live.env.proc_fd, "5/root", 0700), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "5/root/dev", 0700), 0);
	live_write(&live, "5/root/dev/nvidiactl", "");
	live_write(&live, "5/root/dev/nvidia1", "");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_MEMORY), 0); /* though an inherited descriptor is of it */
	assert_false(p.scan.device[0].by_device);
	assert_int_equal(unlinkat(live.env.proc_fd, "5/root/dev/nvidiactl", 0), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "5/root/dev/nvidia1", 0), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(unlinkat(live.env.proc_fd, folders[i], AT_REMOVEDIR), 0);
	leave_container(&live);
	end(&p);
}

static void in_a_container_a_shared_device_is_unknown(void **state)
{
	struct live live;
	struct play p;
	pid_t pid = 5;

	begin(&p, DEVICE "process device=0 pid=90210 memory=100 lists=c\n"
			 "process device=0 pid=90211 memory=100 lists=c\n");
	in_a_container(&p, &live);
	look(&p, &pid, 1);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_FOREIGN_PIDS);
	assert_int_equal(WHY(&p, 0, TREE_MEMORY), TRK_GPU_FOREIGN_PIDS);
	leave_container(&live);
	end(&p);
}

/* Process 6 of the container has no device open: the driver's 6 is another process of the machine. */
static void in_a_container_a_number_alone_is_no_proof(void **state)
{
	struct live live;
	struct play p;
	pid_t pids[] = {5, 6};

	begin(&p, DEVICE "process device=0 pid=5 memory=100 lists=c\n"
			 "process device=0 pid=6 memory=2000 lists=c\n");
	in_a_container(&p, &live);
	look(&p, pids, 2);
	near(VALUE(&p, 0, TREE_MEMORY), 100);
	assert_false(p.scan.device[0].by_device);
	assert_int_equal(unlinkat(live.env.proc_fd, "5/fd/3", 0), 0);
	look(&p, pids, 2); /* seen a moment ago */
	near(VALUE(&p, 0, TREE_MEMORY), 100);
	play_skipped_ns += 10 * TRK_NS_PER_S;
	look(&p, pids, 2);
	near(VALUE(&p, 0, TREE_MEMORY), 0);
	assert_int_equal(symlinkat("/dev/nvidia0", live.env.proc_fd, "5/fd/3"), 0);
	leave_container(&live);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_container_the_device_that_the_job_has_to_itself_is_its_own),
		cmocka_unit_test(in_a_container_a_shared_device_is_unknown),
		cmocka_unit_test(in_a_container_a_number_alone_is_no_proof),
		cmocka_unit_test(in_a_container_another_user_is_believed_by_the_environment),
		cmocka_unit_test(an_instance_that_is_named_is_the_jobs),
		cmocka_unit_test(a_node_that_the_job_has_not_is_not_its),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
