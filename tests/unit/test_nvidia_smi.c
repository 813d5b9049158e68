/* The parser of nvidia-smi's output, and rounds with the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "probe/gpu/nvidia_smi_text.h"
#include "probe/gpu/poller.h"
#include "probe/helper_process.h"

#include "fixture.h"

#define VALUE(d, id) ((d)->metric[TRK_GPU_##id##_METRIC].value)
#define WHY(d, id)   ((d)->metric[TRK_GPU_##id##_METRIC].why)

static struct trk_smi_tables tables;

static void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

static const struct trk_gpu_device *read_file(const char *file)
{
	char *text = fixture_text("nvidia-smi", file);

	memset(&tables, 0, sizeof(tables));
	trk__smi_parse(text, &tables);
	free(text);
	return tables.gpu;
}

/* ---- text ---- */

static void figures_of_a_server(void **state)
{
	const struct trk_gpu_device *d = read_file("query-590-h200.txt");

	assert_true(tables.knows_gpus && tables.is_listed[0]);
	assert_int_equal(tables.gpus, 1);
	assert_string_equal(d->name, "NVIDIA H200");
	assert_string_equal(d->uuid, "GPU-00000001-1111-2222-3333-444444444444");
	assert_string_equal(d->bus, "00000000:83:00.0");
	assert_string_equal(d->driver, "590.48.01");
	assert_int_equal(d->parent, -1);
	near(VALUE(d, MEMORY_TOTAL), 143771 * TRK_MIB);
	near(VALUE(d, MEMORY_USED), 31200 * TRK_MIB);
	near(VALUE(d, UTILIZATION), 0.98);
	near(VALUE(d, TEMPERATURE), 51);
	near(VALUE(d, POWER), 612.35);
	near(VALUE(d, CLOCK), 1965e6);
	near(VALUE(d, ECC_CORRECTED), 3);
	near(VALUE(d, ECC_UNCORRECTED), 1);
	assert_int_equal(WHY(d, ENCODER), TRK_GPU_NOT_ASKED);
}

static void decimal_commas_and_commas_in_names(void **state)
{
	const struct trk_gpu_device *d = read_file("query-470-comma.txt");

	assert_int_equal(tables.gpus, 2);
	near(VALUE(&d[0], POWER), 120.5);
	near(VALUE(&d[0], CLOCK), 1530e6);
	assert_string_equal(d[0].name, "Tesla V100-SXM2-16GB");
	near(VALUE(&d[1], POWER), 39.7);
	near(VALUE(&d[1], TEMPERATURE), 30);
	assert_string_equal(d[1].name, "Tesla V100, special edition");
}

static void old_and_small_cards_lack_figures(void **state)
{
	const struct trk_gpu_device *d = read_file("query-346-geforce.txt");

	assert_int_equal(tables.gpus, 1);
	near(VALUE(d, MEMORY_USED), 1207 * TRK_MIB);
	near(VALUE(d, TEMPERATURE), 45);
	assert_int_equal(WHY(d, UTILIZATION), TRK_GPU_UNSUPPORTED);
	assert_true(isnan(VALUE(d, UTILIZATION)));
	d = read_file("query-610-geforce.txt");
	near(VALUE(d, UTILIZATION), 0.08);
	assert_int_equal(WHY(d, ECC_CORRECTED), TRK_GPU_UNSUPPORTED);
	d = read_file("query-535-mig.txt");
	assert_int_equal(tables.gpus, 2);
	assert_int_equal(WHY(&d[0], UTILIZATION), TRK_GPU_UNSUPPORTED); /* in MIG mode */
	near(VALUE(&d[0], MEMORY_USED), 3129 * TRK_MIB);
	near(VALUE(&d[1], UTILIZATION), 0);
}

static void a_lost_gpu_does_not_hide_the_others(void **state)
{
	const struct trk_gpu_device *d = read_file("query-570-lost.txt");

	assert_int_equal(tables.gpus, 3);
	near(VALUE(&d[0], UTILIZATION), 1);
	assert_false(tables.is_listed[1]);
	assert_int_equal(d[1].parent, -1); /* a place without a GPU is no instance of another */
	assert_int_equal(WHY(&d[2], UTILIZATION), TRK_GPU_LOST);
	assert_int_equal(WHY(&d[2], POWER), TRK_GPU_DENIED);
}

static void sixteen_devices(void **state)
{
	const struct trk_gpu_device *d = read_file("query-590-sixteen.txt");

	assert_int_equal(tables.gpus, 16);
	for (int i = 0; i < 16; i++) {
		near(VALUE(&d[i], UTILIZATION), i * 0.05);
		near(VALUE(&d[i], POWER), 300.5 + i);
		near(VALUE(&d[i], ECC_CORRECTED), i);
	}
}

static void what_is_no_table_is_refused(void **state)
{
	static const char *const files[] = {"query-no-driver.txt", "query-mismatch.txt",
					    "pmon-refused.txt"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void) read_file(files[i]);
		assert_false(tables.knows_gpus || tables.knows_memory);
		assert_int_equal(tables.gpus + tables.processes, 0);
	}
	(void) read_file("query-none.txt");
	assert_true(tables.knows_gpus);
	assert_int_equal(tables.gpus, 0);
}

static void odd_values_are_no_figures(void **state)
{
	static const struct {
		const char *text;
		enum trk_gpu_why why;
	} cases[] = {
		{"101", TRK_GPU_FAILED},
		{"-1", TRK_GPU_FAILED},
		{"ERR!", TRK_GPU_FAILED},
		{"nan", TRK_GPU_FAILED},
		{"1e9", TRK_GPU_FAILED},
		{"99999999999999999999999999999999999999", TRK_GPU_FAILED},
		{".", TRK_GPU_FAILED},
		{"[Insufficient Permissions]", TRK_GPU_DENIED},
		{"100", TRK_GPU_KNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		(void) snprintf(text, sizeof(text), "0, u, b, d, 1, 1, %s, 1, 1, 1, 1, 1, name\n",
				cases[i].text);
		trk__smi_parse(text, &tables);
		assert_true(tables.is_listed[0]);
		if (WHY(tables.gpu, UTILIZATION) != cases[i].why)
			fail_msg("%s: %s", cases[i].text,
				 trk__gpu_why_text(WHY(tables.gpu, UTILIZATION)));
	}
	trk__smi_parse("32, u, b, d, 1, 1, 1, 1, 1, 1, 1, 1, name\n", &tables);
	assert_int_equal(tables.gpus, 1); /* no room for such an index */
}

static void processes_that_compute(void **state)
{
	const struct trk_smi_process *p = tables.process;

	(void) read_file("apps-470.txt");
	assert_true(tables.knows_memory);
	assert_int_equal(tables.processes, 3);
	assert_int_equal(p[0].pid, 4711);
	assert_int_equal(p[0].index, -1);
	assert_string_equal(p[0].uuid, "GPU-0f9ec4ac-4a9c-9d4e-3b6f-7f0d1f9b1c8e");
	near(p[0].bytes, 2039 * TRK_MIB);
	assert_true(isnan(p[0].share) && isnan(p[1].bytes));
	(void) read_file("apps-590-mig.txt");
	assert_true(tables.knows_memory);
	near(p[1].bytes, 13526 * TRK_MIB);
	(void) read_file("apps-535-mig.txt"); /* with the UUIDs of instances */
	assert_false(tables.knows_memory);
	(void) read_file("apps-empty.txt");
	assert_true(tables.knows_memory && tables.processes == 0);
}

static void what_processes_do(void **state)
{
	const struct trk_smi_process *p = tables.process;

	(void) read_file("pmon-390.txt");
	assert_int_equal(tables.processes, 3);
	assert_int_equal(p[0].index, 0);
	assert_int_equal(p[0].pid, 4711);
	near(p[0].share, 0.95);
	near(p[0].bytes, 2039 * TRK_MIB);
	near(p[1].share, 0.03);
	assert_int_equal(p[2].index, 1);
	assert_int_equal(p[2].pid, 0); /* a GPU without processes */
	(void) read_file("pmon-550.txt");
	assert_int_equal(tables.processes, 4);
	near(p[0].bytes, 2039 * TRK_MIB); /* two columns were added before it */
	assert_true(isnan(p[1].share));
	assert_true(isnan(p[2].share)); /* above 100 it is no figure */
	(void) read_file("pmon-610.txt");
	assert_true(isnan(p[0].share));
	near(p[2].share, 0.04);
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
	trk__env_release(&p->env);
	(void) unlink(p->file);
	(void) snprintf(path, sizeof(path), "%s/count", p->folder);
	(void) unlink(path);
	(void) snprintf(path, sizeof(path), "%s/seen", p->folder);
	(void) unlink(path);
	assert_int_equal(rmdir(p->folder), 0);
}

#define V100_PROGRAM                                                                               \
	"case \"$*\" in\n"                                                                         \
	"--query-gpu=*) cat $fixtures/query-470-v100.txt;;\n"                                      \
	"--query-compute-apps=*) cat $fixtures/apps-470.txt;;\n"                                   \
	"pmon*) cat $fixtures/pmon-390.txt;;\n"                                                    \
	"*) exit 7;;\n"                                                                            \
	"esac\n"

static void a_round_fills_devices_and_processes(void **state)
{
	pid_t pids[] = {4711, 4712};
	struct play p;

	begin(&p, V100_PROGRAM);
	open_source(&p);
	look(&p, pids, 2);
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.wrong, "");
	near(VALUE(&p.scan.device[0], UTILIZATION), 0.75);
	near(VALUE(&p.scan.device[0], TREE_SHARE), 0.98);
	/* One in both lists; one whose memory only pmon has. */
	near(VALUE(&p.scan.device[0], TREE_MEMORY), (2039 + 12) * TRK_MIB);
	assert_int_equal(p.scan.device[0].processes, 2);
	/* pmon shows no use by it there, and the GPU is idle. */
	near(VALUE(&p.scan.device[1], TREE_SHARE), 0);
	near(VALUE(&p.scan.device[1], TREE_MEMORY), 3 * TRK_MIB);
	assert_int_equal(WHY(&p.scan.device[0], ENERGY), TRK_GPU_NOT_ASKED);
	end(&p);
}

static void what_a_list_does_not_say_is_unknown(void **state)
{
	pid_t pid = 4711;
	struct play p;

	/* No pmon, as in MIG mode, and processes on an instance. */
	begin(&p, "case \"$*\" in\n--query-gpu=*) cat $fixtures/query-535-mig.txt;;\n"
		  "--query-compute-apps=*) cat $fixtures/apps-535-mig.txt;;\n"
		  "pmon*) cat $fixtures/pmon-refused.txt; exit 3;;\nesac\n");
	open_source(&p);
	look(&p, &pid, 1);
	assert_int_equal(p.scan.devices, 2);
	assert_int_equal(WHY(&p.scan.device[0], TREE_SHARE), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&p.scan.device[0], TREE_MEMORY), TRK_GPU_UNSUPPORTED);
	end(&p);
	/* pmon does not list the second GPU, and does not say what the process does. */
	begin(&p, "case \"$*\" in\n--query-gpu=*) sed s/75/0/ $fixtures/query-470-v100.txt |"
		  " sed 's/3, 0, 33/3, 9, 33/';;\n"
		  "--query-compute-apps=*) cat $fixtures/apps-470.txt;;\n"
		  "pmon*) grep -v ' [13]  ' $fixtures/pmon-390.txt;;\nesac\n");
	open_source(&p);
	look(&p, &pid, 1);
	assert_int_equal(WHY(&p.scan.device[1], TREE_SHARE), TRK_GPU_UNSUPPORTED);
	near(VALUE(&p.scan.device[1], TREE_MEMORY), 3 * TRK_MIB);
	end(&p);
}

static void a_program_whose_end_the_kernel_swallows_is_understood(void **state)
{
	struct play p;

	assert_ptr_equal(signal(SIGCHLD, SIG_IGN), SIG_DFL);
	begin(&p, V100_PROGRAM);
	open_source(&p);
	look(&p, NULL, 0);
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.wrong, "");
	end(&p);
	(void) signal(SIGCHLD, SIG_DFL);
}

static void a_gpu_that_is_not_listed_any_more_is_lost(void **state)
{
	struct play p;

	begin(&p, V100_PROGRAM);
	open_source(&p);
	look(&p, NULL, 0);
	write_program(&p,
		      "case \"$*\" in --query-gpu=*) grep -v '^0' $fixtures/query-470-v100.txt;;"
		      "esac\n");
	do
		look(&p, NULL, 0);
	while (WHY(&p.scan.device[0], POWER) != TRK_GPU_LOST);
	assert_int_equal(p.scan.devices, 2);
	assert_string_equal(p.scan.device[0].uuid, "GPU-0f9ec4ac-4a9c-9d4e-3b6f-7f0d1f9b1c8e");
	near(VALUE(&p.scan.device[1], POWER), 55.02);
	/* Nobody could be asked who is there. */
	assert_int_equal(WHY(&p.scan.device[1], TREE_MEMORY), TRK_GPU_UNSUPPORTED);
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
		{"cat $fixtures/query-none.txt; exit 6\n", "exit code 6: No devices were found"},
		{"echo so it is; head -c 20000 /dev/urandom\n", "exit code 0: so it is"},
		{"yes | head -c 3000000\n", "exit code 0: "},
		{"kill -SEGV $$\n", "exit code 139: "},
		{"sleep 1000 & sleep 1000\n", "it hung, and was killed"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p;

		begin(&p, cases[i].body);
		if (strstr(cases[i].wrong, "hung"))
			p.hints.patience_ns = 300 * TRK_NS_PER_MS;
		open_source(&p);
		look(&p, NULL, 0);
		if (strncmp(p.wrong, cases[i].wrong, strlen(cases[i].wrong)) != 0)
			fail_msg("%s", p.wrong);
		assert_int_equal(p.scan.devices, 0);
		end(&p);
	}
}

static void old_figures_become_unknown(void **state)
{
	struct play p;

	begin(&p, V100_PROGRAM);
	p.hints.patience_ns = 20 * TRK_NS_PER_S;
	open_source(&p);
	look(&p, NULL, 0);
	write_program(&p, "exit 1\n");
	do
		look(&p, NULL, 0);
	while (WHY(&p.scan.device[0], MEMORY_USED) != TRK_GPU_NO_ANSWER);
	assert_int_equal(p.scan.devices, 2);
	end(&p);
}

static void a_program_that_hangs_is_killed(void **state)
{
	char path[128], text[16] = "";
	struct play p;
	pid_t pid;

	begin(&p, "echo >>$home/count\necho $$ >$home/seen\nexec sleep 1000\n");
	p.hints.patience_ns = 2 * TRK_NS_PER_S;
	open_source(&p);
	look(&p, NULL, 0);
	assert_string_equal(p.wrong, "it hung, and was killed");
	(void) snprintf(path, sizeof(path), "%s/seen", p.folder);
	assert_true(trk__read_at(AT_FDCWD, path, text, sizeof(text)) > 1);
	pid = (pid_t) strtol(text, NULL, 10);
	while (kill(pid, 0) == 0) {
		(void) trk__helper_process_reap(pid);
		nap();
	}
	(void) snprintf(path, sizeof(path), "%s/count", p.folder);
	assert_int_equal(trk__read_at(AT_FDCWD, path, text, sizeof(text)), 1);
	end(&p);
}

static void it_is_looked_for_in_absolute_folders(void **state)
{
	struct trk_gpu_hints hints = {.path = ".:nowhere::/nonexistent"};
	char why[TRK_GPU_TEXT_SIZE] = "";
	struct trk_env env;
	void *source;

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
		cmocka_unit_test(figures_of_a_server),
		cmocka_unit_test(decimal_commas_and_commas_in_names),
		cmocka_unit_test(old_and_small_cards_lack_figures),
		cmocka_unit_test(a_lost_gpu_does_not_hide_the_others),
		cmocka_unit_test(sixteen_devices),
		cmocka_unit_test(what_is_no_table_is_refused),
		cmocka_unit_test(odd_values_are_no_figures),
		cmocka_unit_test(processes_that_compute),
		cmocka_unit_test(what_processes_do),
		cmocka_unit_test(a_round_fills_devices_and_processes),
		cmocka_unit_test(what_a_list_does_not_say_is_unknown),
		cmocka_unit_test(a_program_whose_end_the_kernel_swallows_is_understood),
		cmocka_unit_test(a_gpu_that_is_not_listed_any_more_is_lost),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(old_figures_become_unknown),
		cmocka_unit_test(a_program_that_hangs_is_killed),
		cmocka_unit_test(it_is_looked_for_in_absolute_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
