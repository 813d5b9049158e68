/* The parsers of nvidia-smi's output, and a round of queries with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "probe/gpu/nvidia_smi_text.h"
#include "probe/gpu/poller.h"
#include "probe/helper_process.h"

#include "fixture.h"

#define MIB 1048576.0

#define VALUE(g, id) ((g)->device.metric[TRK_GPU_##id##_METRIC].value)
#define WHY(g, id)   ((g)->device.metric[TRK_GPU_##id##_METRIC].why)

static void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

static size_t read_gpus(const char *file, struct trk_smi_gpu *gpu)
{
	char *text = fixture_text("nvidia-smi", file);
	size_t n = 99;

	assert_int_equal(trk__smi_gpus_parse(text, gpu, TRK_GPUS_MAX, &n), 0);
	free(text);
	return n;
}

typedef int parse_fn(const char *, struct trk_smi_process *, size_t, size_t *);

static size_t read_processes(parse_fn *parse, const char *file, struct trk_smi_process *process)
{
	char *text = fixture_text("nvidia-smi", file);
	size_t n = 99;

	assert_int_equal(parse(text, process, 16, &n), 0);
	free(text);
	return n;
}

/* ---- text ---- */

static void a_table_without_units_in_its_cells(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-470-v100.txt", gpu), 2);
	assert_int_equal(gpu[0].index, 0);
	assert_string_equal(gpu[0].device.name, "Tesla V100-SXM2-16GB");
	assert_string_equal(gpu[0].device.uuid, "GPU-0f9ec4ac-4a9c-9d4e-3b6f-7f0d1f9b1c8e");
	assert_string_equal(gpu[0].device.bus, "00000000:1A:00.0");
	assert_string_equal(gpu[0].device.driver, "470.57.02");
	assert_int_equal(gpu[0].device.parent, -1);
	assert_false(gpu[0].device.mig);
	near(VALUE(&gpu[0], MEMORY_TOTAL), 16160 * MIB);
	near(VALUE(&gpu[0], MEMORY_USED), 2050 * MIB);
	near(VALUE(&gpu[0], UTILIZATION), 0.75);
	near(VALUE(&gpu[0], MEMORY_ACTIVITY), 0.2);
	near(VALUE(&gpu[0], TEMPERATURE), 61);
	near(VALUE(&gpu[0], POWER), 120.5);
	near(VALUE(&gpu[0], CLOCK), 1530e6);
	near(VALUE(&gpu[0], MEMORY_CLOCK), 877e6);
	near(VALUE(&gpu[0], THROTTLE), 4);
	assert_int_equal(WHY(&gpu[0], ENCODER), TRK_GPU_NOT_ASKED); /* no such column */
	near(VALUE(&gpu[1], UTILIZATION), 0);
	near(VALUE(&gpu[1], POWER), 55.02);
}

static void units_in_cells_and_commas_in_names(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-525-units.txt", gpu), 2);
	assert_string_equal(gpu[0].device.name, "NVIDIA RTX A6000, Ada, special edition");
	assert_string_equal(gpu[0].device.uuid, "GPU-77777777-0000-1111-2222-333333333333");
	near(VALUE(&gpu[0], MEMORY_USED), 1024 * MIB);
	near(VALUE(&gpu[0], UTILIZATION), 0.09);
	near(VALUE(&gpu[0], POWER), 71.4);
	near(VALUE(&gpu[0], CLOCK), 1410e6);
	near(VALUE(&gpu[1], MEMORY_USED), 0);
	assert_int_equal(WHY(&gpu[1], UTILIZATION), TRK_GPU_FAILED);
	assert_int_equal(WHY(&gpu[1], POWER), TRK_GPU_FAILED);
	assert_int_equal(WHY(&gpu[1], CLOCK), TRK_GPU_LOST);
}

static void an_old_card_gives_memory_and_temperature(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-346-geforce.txt", gpu), 1);
	near(VALUE(&gpu[0], MEMORY_USED), 1207 * MIB);
	near(VALUE(&gpu[0], TEMPERATURE), 45);
	assert_int_equal(WHY(&gpu[0], UTILIZATION), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&gpu[0], POWER), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&gpu[0], THROTTLE), TRK_GPU_UNSUPPORTED);
	assert_true(isnan(VALUE(&gpu[0], UTILIZATION)));
}

static void a_gpu_in_mig_mode_has_the_reason(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-535-mig.txt", gpu), 2);
	assert_true(gpu[0].device.mig);
	assert_int_equal(WHY(&gpu[0], UTILIZATION), TRK_GPU_MIG);
	assert_int_equal(WHY(&gpu[0], DECODER), TRK_GPU_MIG);
	near(VALUE(&gpu[0], MEMORY_USED), 3129 * MIB);
	assert_false(gpu[1].device.mig);
	near(VALUE(&gpu[1], UTILIZATION), 0);
}

static void a_lost_gpu_does_not_hide_the_others(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-570-lost.txt", gpu), 2);
	near(VALUE(&gpu[0], UTILIZATION), 1);
	assert_int_equal(gpu[1].index, 2);
	assert_int_equal(WHY(&gpu[1], UTILIZATION), TRK_GPU_LOST);
	assert_int_equal(WHY(&gpu[1], POWER), TRK_GPU_DENIED);
}

static void what_is_no_table_is_refused(void **state)
{
	static const char *const files[] = {"query-no-driver.txt", "query-mismatch.txt",
					    "query-refused.txt", "pmon-refused.txt"};
	struct trk_smi_process process[16];
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];
	struct trk_smi_instance instance;
	size_t n = 99;

	(void) state;
	for (size_t i = 0; i < 4; i++) {
		char *text = fixture_text("nvidia-smi", files[i]);

		assert_int_equal(trk__smi_gpus_parse(text, gpu, 1, &n), -EBADMSG);
		assert_int_equal(trk__smi_apps_parse(text, process, 16, &n), -EBADMSG);
		assert_int_equal(trk__smi_pmon_parse(text, process, 16, &n), -EBADMSG);
		assert_int_equal(trk__smi_list_parse(text, &instance, 1, &n), -EBADMSG);
		free(text);
	}
	assert_int_equal(n, 99);
	assert_int_equal(read_gpus("query-none.txt", gpu), 0);
}

static void odd_values_are_no_figures(void **state)
{
	static const struct {
		const char *text;
		enum trk_gpu_why why;
	} cases[] = {
		{"101", TRK_GPU_FAILED}, {"-1", TRK_GPU_FAILED},
		{"", TRK_GPU_FAILED},    {"nan", TRK_GPU_FAILED},
		{"1e9", TRK_GPU_FAILED}, {"99999999999999999999999999999999999999", TRK_GPU_FAILED},
		{".", TRK_GPU_FAILED},   {"[Insufficient Permissions]", TRK_GPU_DENIED},
		{"100", TRK_GPU_KNOWN},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128];
		struct trk_smi_gpu gpu;
		size_t n;

		(void) snprintf(text, sizeof(text), "index, utilization.gpu [%%]\n0, %s\n",
				cases[i].text);
		assert_int_equal(trk__smi_gpus_parse(text, &gpu, 1, &n), 0);
		assert_int_equal(n, 1);
		if (WHY(&gpu, UTILIZATION) != cases[i].why)
			fail_msg("%s: %s", cases[i].text,
				 trk__gpu_why_text(WHY(&gpu, UTILIZATION)));
	}
}

static void processes_that_compute(void **state)
{
	struct trk_smi_process p[16];

	(void) state;
	assert_int_equal(read_processes(trk__smi_apps_parse, "apps-470.txt", p), 3);
	assert_int_equal(p[0].pid, 4711);
	assert_int_equal(p[0].index, -1);
	assert_string_equal(p[0].uuid, "GPU-0f9ec4ac-4a9c-9d4e-3b6f-7f0d1f9b1c8e");
	near(p[0].bytes, 2039 * MIB);
	assert_true(isnan(p[0].share));
	assert_true(isnan(p[1].bytes));
	assert_int_equal(read_processes(trk__smi_apps_parse, "apps-names.txt", p), 2);
	assert_int_equal(p[0].pid, 4711); /* though a name has commas */
	near(p[0].bytes, 2039 * MIB);
	assert_int_equal(p[1].pid, 4712);
	assert_true(isnan(p[1].bytes));
	assert_int_equal(read_processes(trk__smi_apps_parse, "apps-535-mig.txt", p), 3);
	assert_string_equal(p[1].uuid, "MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d");
	assert_int_equal(read_processes(trk__smi_apps_parse, "apps-empty.txt", p), 0);
	assert_int_equal(read_processes(trk__smi_apps_parse, "apps-none.txt", p), 0);
}

static void what_processes_do(void **state)
{
	struct trk_smi_process p[16];

	(void) state;
	assert_int_equal(read_processes(trk__smi_pmon_parse, "pmon-390.txt", p), 2);
	assert_int_equal(p[0].index, 0);
	assert_int_equal(p[0].pid, 4711);
	near(p[0].share, 0.95);
	near(p[0].bytes, 2039 * MIB);
	assert_int_equal(p[1].pid, 4712); /* it draws only */
	assert_int_equal(read_processes(trk__smi_pmon_parse, "pmon-550.txt", p), 3);
	near(p[0].bytes, 2039 * MIB); /* two columns were added before it */
	assert_true(isnan(p[1].share) && p[1].is_idle);
	near(p[1].bytes, 12 * MIB);
	assert_int_equal(p[2].index, 1);
	assert_true(isnan(p[2].share) && !p[2].is_idle); /* above 100 it is no figure */
}

static void instances_of_both_kinds_of_names(void **state)
{
	char *text = fixture_text("nvidia-smi", "list-535-mig.txt");
	struct trk_smi_instance instance[4];
	size_t n;

	(void) state;
	assert_int_equal(trk__smi_list_parse(text, instance, 4, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(instance[1].index, 0);
	assert_string_equal(instance[1].name, "MIG 1g.5gb");
	assert_string_equal(instance[1].uuid, "MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d");
	free(text);
	text = fixture_text("nvidia-smi", "list-450-mig.txt");
	assert_int_equal(trk__smi_list_parse(text, instance, 4, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(instance[0].index, 3);
	assert_string_equal(instance[0].uuid, "MIG-GPU-b8ea3855-276c-c9cb-b366-c6fa655957c5/11/0");
	free(text);
}

static void a_refused_field_is_named(void **state)
{
	char *text = fixture_text("nvidia-smi", "query-refused.txt"), field[64], line[24];

	(void) state;
	assert_true(trk__smi_refused(text, field, sizeof(field)));
	assert_string_equal(field, "utilization.encoder");
	assert_false(trk__smi_refused(text, field, 5));
	assert_false(trk__smi_refused("Field \"x", field, sizeof(field)));
	free(text);
	trk__smi_first_line("\n  \n\tGot \xc3\xa4 and a long rest of the line\nnext", line,
			    sizeof(line));
	assert_string_equal(line, "Got ?? and a long rest ");
}

/* ---- the program, played by a script ---- */

struct play {
	char folder[64], file[96];
	struct trk_env env;
	struct trk_gpu_hints hints;
	void *source;
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	char why[TRK_GPU_TEXT_SIZE], wrong[TRK_GPU_TEXT_SIZE];
};

static void write_program(struct play *p, const char *body)
{
	char text[4096], other[128];
	int fd;

	(void) snprintf(other, sizeof(other), "%s.new", p->file);
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	(void) snprintf(text, sizeof(text), "#!/bin/sh\nhome=%s\nfixtures=%s/nvidia-smi\n%s",
			p->folder, getenv("TRK_FIXTURES") ? getenv("TRK_FIXTURES") : TRK_FIXTURES,
			body);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
	assert_int_equal(rename(other, p->file), 0);
}

static void begin(struct play *p, const char *body)
{
	*p = (struct play){.folder = "/tmp/trk-smi-XXXXXX"};
	assert_non_null(mkdtemp(p->folder));
	(void) snprintf(p->file, sizeof(p->file), "%s/nvidia-smi", p->folder);
	write_program(p, body);
	assert_int_equal(trk__env_init(&p->env), 0);
	p->attributor = (struct trk_gpu_attributor){.env = p->env, .known = true};
	p->hints = (struct trk_gpu_hints){
		.path = p->folder, .patience_ns = 20 * TRK_NS_PER_S, .period_ns = TRK_NS_PER_MS};
}

static void open_source(struct play *p)
{
	assert_int_equal(trk__gpu_nvidia_smi.open(&p->env, &p->hints, &p->source, p->why), 0);
}

static void look(struct play *p, const pid_t *pid, size_t pids)
{
	p->scan.devices = p->scan.processes = 0;
	p->scan.pid = pid;
	p->scan.pids = pids;
	p->scan.now_ns = trk__clock_monotonic_ns();
	trk__gpu_nvidia_smi.poll(p->source, &p->scan);
	trk__gpu_attribute(&p->attributor, &p->scan);
	trk__gpu_nvidia_smi.say(p->source, p->wrong);
}

static void nap(void)
{
	const struct timespec moment = {0, 1000000};

	(void) nanosleep(&moment, NULL);
}

static void end(struct play *p)
{
	char path[128];

	trk__gpu_nvidia_smi.close(p->source);
	while (trk__gpu_threads() > 0)
		nap();
	trk__env_release(&p->env);
	(void) unlink(p->file);
	(void) snprintf(path, sizeof(path), "%s/count", p->folder);
	(void) unlink(path);
	(void) snprintf(path, sizeof(path), "%s/seen", p->folder);
	(void) unlink(path);
	assert_int_equal(rmdir(p->folder), 0);
}

#define MIG_PROGRAM                                                                                \
	"case \"$*\" in\n"                                                                         \
	"--query-gpu=*) cat $fixtures/query-535-mig.txt;;\n"                                       \
	"--query-compute-apps=*) cat $fixtures/apps-535-mig.txt;;\n"                               \
	"-L) cat $fixtures/list-535-mig.txt;;\n"                                                   \
	"pmon*) cat $fixtures/pmon-refused.txt; exit 3;;\n"                                        \
	"esac\n"
#define V100_PROGRAM                                                                               \
	"case \"$*\" in\n"                                                                         \
	"*utilization.encoder*) cat $fixtures/query-refused.txt; exit 2;;\n"                       \
	"*clocks_event_reasons.active*)\n"                                                         \
	"echo 'Field \"clocks_event_reasons.active\" is not a valid field to query.'; exit 2;;\n"  \
	"--query-gpu=*clocks_throttle_reasons.active*) cat $fixtures/query-470-v100.txt;;\n"       \
	"--query-compute-apps=*) cat $fixtures/apps-470.txt;;\n"                                   \
	"pmon*) cat $fixtures/pmon-390.txt;;\n"                                                    \
	"*) exit 7;;\n"                                                                            \
	"esac\n"

static void a_round_fills_devices_and_processes(void **state)
{
	pid_t pids[] = {4711, 4712};
	struct play p;

	(void) state;
	begin(&p, V100_PROGRAM);
	open_source(&p);
	while (look(&p, pids, 2),
	       p.scan.devices == 0 ||
		       p.scan.device[0].metric[TRK_GPU_TREE_SHARE_METRIC].why != TRK_GPU_KNOWN)
		nap();
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.wrong, "");
	near(p.scan.device[0].metric[TRK_GPU_UTILIZATION_METRIC].value, 0.75);
	near(p.scan.device[0].metric[TRK_GPU_TREE_SHARE_METRIC].value, 0.98);
	/* One in both lists; one whose memory only the second has. */
	near(p.scan.device[0].metric[TRK_GPU_TREE_MEMORY_METRIC].value, (2039 + 12) * MIB);
	assert_int_equal(p.scan.device[0].processes, 2);
	/* The driver says nothing of what it does there, and the GPU does nothing. */
	near(p.scan.device[1].metric[TRK_GPU_TREE_SHARE_METRIC].value, 0);
	near(p.scan.device[1].metric[TRK_GPU_TREE_MEMORY_METRIC].value, 3 * MIB);
	assert_int_equal(p.scan.device[0].metric[TRK_GPU_ENERGY_METRIC].why, TRK_GPU_NOT_ASKED);
	end(&p);
}

static void a_program_whose_end_the_kernel_swallows_is_understood(void **state)
{
	struct play p;

	(void) state;
	assert_ptr_equal(signal(SIGCHLD, SIG_IGN), SIG_DFL);
	begin(&p, V100_PROGRAM);
	open_source(&p);
	while (look(&p, NULL, 0), p.scan.devices == 0)
		nap();
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.wrong, "");
	end(&p);
	(void) signal(SIGCHLD, SIG_DFL);
}

static void instances_and_who_is_on_them(void **state)
{
	pid_t pid = 4711;
	struct play p;

	(void) state;
	begin(&p, MIG_PROGRAM);
	open_source(&p);
	while (look(&p, &pid, 1), p.scan.devices == 0)
		nap();
	assert_int_equal(p.scan.devices, 4);
	assert_int_equal(p.scan.device[1].parent, 0);
	assert_string_equal(p.scan.device[2].uuid, "MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d");
	assert_int_equal(p.scan.device[3].parent, -1);
	near(p.scan.device[0].metric[TRK_GPU_TREE_MEMORY_METRIC].value, 3000 * MIB);
	assert_int_equal(p.scan.device[0].metric[TRK_GPU_TREE_SHARE_METRIC].why, TRK_GPU_MIG);
	near(p.scan.device[3].metric[TRK_GPU_TREE_MEMORY_METRIC].value, 0);
	end(&p);
}

static void a_process_on_an_instance_that_is_not_listed_is_not_forgotten(void **state)
{
	pid_t pid = 4711;
	struct play p;

	(void) state;
	begin(&p, "case \"$*\" in -L) exit 1;; esac\n" MIG_PROGRAM);
	open_source(&p);
	while (look(&p, &pid, 1), p.scan.devices == 0)
		nap();
	assert_int_equal(p.scan.devices, 2);
	assert_true(isnan(p.scan.device[0].metric[TRK_GPU_TREE_MEMORY_METRIC].value));
	end(&p);
}

static void a_gpu_that_is_not_listed_any_more_is_lost(void **state)
{
	struct play p;

	(void) state;
	begin(&p, V100_PROGRAM);
	open_source(&p);
	while (look(&p, NULL, 0), p.scan.devices == 0)
		nap();
	write_program(&p,
		      "case \"$*\" in --query-gpu=*) grep -v '^0' $fixtures/query-470-v100.txt;;"
		      "esac\n");
	while (look(&p, NULL, 0), p.scan.device[0].metric[TRK_GPU_POWER_METRIC].why != TRK_GPU_LOST)
		nap();
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.scan.device[0].uuid, "GPU-0f9ec4ac-4a9c-9d4e-3b6f-7f0d1f9b1c8e");
	near(p.scan.device[1].metric[TRK_GPU_POWER_METRIC].value, 55.02);
	/* Nobody could be asked who is there. */
	assert_int_equal(p.scan.device[1].metric[TRK_GPU_TREE_MEMORY_METRIC].why,
			 TRK_GPU_UNSUPPORTED);
	end(&p);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *body, *wrong;
	} cases[] = {
		{"cat $fixtures/query-no-driver.txt; exit 9\n",
		 "exit code 9: NVIDIA-SMI has failed because it couldn't communicate with the"},
		{"cat $fixtures/query-mismatch.txt; exit 18\n",
		 "exit code 18: Failed to initialize NVML: Driver/library version mismatch"},
		{"cat $fixtures/query-none.txt; exit 6\n", "no device was found"},
		{"echo so it is; head -c 20000 /dev/urandom\n", "not understood: so it is"},
		{"yes | head -c 3000000\n", "too much output"},
		{"kill -SEGV $$\n", "ended by signal 11"},
		{"sleep 1000 & sleep 1000\n", "it hung, and was killed"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p;

		begin(&p, cases[i].body);
		if (strstr(cases[i].wrong, "hung"))
			p.hints.patience_ns = 300 * TRK_NS_PER_MS;
		open_source(&p);
		while (look(&p, NULL, 0), !strcmp(p.wrong, "has not answered yet"))
			nap();
		if (strncmp(p.wrong, cases[i].wrong, strlen(cases[i].wrong)) != 0)
			fail_msg("%s", p.wrong);
		assert_int_equal(p.scan.devices, 0);
		end(&p);
	}
}

static void old_figures_become_unknown(void **state)
{
	struct play p;

	(void) state;
	begin(&p, V100_PROGRAM);
	p.hints.patience_ns = 300 * TRK_NS_PER_MS;
	open_source(&p);
	while (look(&p, NULL, 0), p.scan.devices == 0)
		nap();
	write_program(&p, "sleep 1000\n");
	while (look(&p, NULL, 0),
	       p.scan.device[0].metric[TRK_GPU_MEMORY_USED_METRIC].why != TRK_GPU_NO_ANSWER)
		nap();
	assert_int_equal(p.scan.devices, 2);
	end(&p);
}

static void only_one_runs_at_a_time_and_none_is_left(void **state)
{
	char path[128], text[16] = "";
	struct play p;
	pid_t pid;

	(void) state;
	begin(&p, "echo >>$home/count\necho $$ >$home/seen\nexec sleep 1000\n");
	open_source(&p);
	(void) snprintf(path, sizeof(path), "%s/seen", p.folder);
	while (trk__read_at(AT_FDCWD, path, text, sizeof(text)) < 2 || !strchr(text, '\n'))
		nap();
	pid = (pid_t) strtol(text, NULL, 10);
	assert_int_equal(trk__helper_process_is(pid), 1);
	assert_int_equal(trk__helper_process_is(getpid()), 0);
	assert_int_equal(getpgid(pid), pid); /* ^C of the terminal does not reach it */
	trk__gpu_nvidia_smi.close(p.source);
	while (kill(pid, 0) == 0)
		nap();
	(void) snprintf(path, sizeof(path), "%s/count", p.folder);
	assert_int_equal(trk__read_at(AT_FDCWD, path, text, sizeof(text)), 1);
	p.source = NULL;
	open_source(&p);
	end(&p);
}

static void it_is_looked_for_in_absolute_folders(void **state)
{
	struct trk_gpu_hints hints = {.path = ".:nowhere::/nonexistent"};
	char why[TRK_GPU_TEXT_SIZE] = "";
	struct trk_env env;
	void *source;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	if (trk__gpu_nvidia_smi.open(&env, &hints, &source, why) == 0) {
		trk__gpu_nvidia_smi.close(source); /* a machine that has it */
	} else {
		assert_string_equal(why, "no nvidia-smi in PATH");
	}
	hints.path = NULL;
	assert_int_equal(trk__gpu_nvidia_smi.open(&env, &hints, &source, why),
			 -TRK_ERR_UNSUPPORTED);
	assert_string_equal(why, "nvidia-smi is not started here");
	trk__env_release(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_without_units_in_its_cells),
		cmocka_unit_test(units_in_cells_and_commas_in_names),
		cmocka_unit_test(an_old_card_gives_memory_and_temperature),
		cmocka_unit_test(a_gpu_in_mig_mode_has_the_reason),
		cmocka_unit_test(a_lost_gpu_does_not_hide_the_others),
		cmocka_unit_test(what_is_no_table_is_refused),
		cmocka_unit_test(odd_values_are_no_figures),
		cmocka_unit_test(processes_that_compute),
		cmocka_unit_test(what_processes_do),
		cmocka_unit_test(instances_of_both_kinds_of_names),
		cmocka_unit_test(a_refused_field_is_named),
		cmocka_unit_test(a_round_fills_devices_and_processes),
		cmocka_unit_test(a_program_whose_end_the_kernel_swallows_is_understood),
		cmocka_unit_test(instances_and_who_is_on_them),
		cmocka_unit_test(a_process_on_an_instance_that_is_not_listed_is_not_forgotten),
		cmocka_unit_test(a_gpu_that_is_not_listed_any_more_is_lost),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(old_figures_become_unknown),
		cmocka_unit_test(only_one_runs_at_a_time_and_none_is_left),
		cmocka_unit_test(it_is_looked_for_in_absolute_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
