/* Native code: samples of the kernel, mappings of a process, names of generated code, and functions
 * of a file. tests/cli/test_lines_native.py samples real programs. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "lines/dwarf.h"
#include "lines/elf_file.h"
#include "lines/native.h"
#include "probe/linux/perf_sampler.h"
#include "probe/stack/interpreter.h"
#include "probe/stack/mappings.h"
#include "probe/stack/perf_map.h"

static void reads_a_chain_without_its_marks(void **state)
{
	/* pid and tid, time, period, length, PERF_CONTEXT_USER, two addresses */
	const uint64_t body[] = {7 | UINT64_C(9) << 32, 1000,   20408163, 3,
				 (uint64_t) -512,       0x4010, 0x4020};
	struct trk_perf_sample s;

	assert_int_equal(trk__perf_sample_parse(body, sizeof(body), &s), 0);
	assert_int_equal(s.pid, 7);
	assert_int_equal(s.tid, 9);
	assert_int_equal(s.time_ns, 1000);
	assert_int_equal(s.period_ns, 20408163);
	assert_int_equal(s.depth, 2);
	assert_int_equal(s.address[1], 0x4020);
	assert_false(s.is_cut);
	assert_int_equal(trk__perf_sample_parse(body, sizeof(body) - 8, &s), -EBADMSG);
	assert_int_equal(trk__perf_sample_parse(body, 24, &s), -EBADMSG);
}

static void finds_the_file_of_an_address(void **state)
{
	static const char text[] =
		"400000-401000 r--p 00000000 fe:01 12   /opt/a b (deleted)\n"
		"401000-404000 r-xp 00001000 fe:01 12   /opt/a b (deleted)\n"
		"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
		"7f0000002000-7f0000003000 r-xp 00000000 00:01 99   /memfd:jit (deleted)\n"
		"7ffff7fc0000-7ffff7fc2000 r-xp 00000000 00:00 0      [vdso]\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n"
		"junk\n";
	struct trk_mappings m;
	const struct trk_mapping *at;

	assert_int_equal(trk__mappings_parse(text, &m), 0);
	assert_int_equal(m.count, 4);
	at = trk__mappings_find(&m, 0x401234);
	assert_string_equal(at->path, "/opt/a b");
	assert_int_equal(at->base, 0x400000);
	assert_int_equal(at->offset, 0x1000);
	assert_string_equal(trk__mappings_find(&m, 0x7f0000000008)->path, "");
	assert_string_equal(trk__mappings_find(&m, 0x7f0000002008)->path, "");
	assert_string_equal(trk__mappings_find(&m, 0x7ffff7fc0001)->path, "[vdso]");
	assert_null(trk__mappings_find(&m, 0x400800));
	assert_null(trk__mappings_find(&m, 0x404000));
	trk__mappings_release(&m);
}

static void names_generated_code_by_the_newest_entry(void **state)
{
	struct trk_perf_map m = {.text = NULL};

	assert_int_equal(trk__perf_map_take(&m, strdup("7f10 20 old\n7f40 10 with blanks in it\n"
						       "nonsense\n7f10 20 fib\n7f80 10 half")),
			 0);
	assert_string_equal(trk__perf_map_find(&m, 0x7f10), "fib");
	assert_string_equal(trk__perf_map_find(&m, 0x7f4f), "with blanks in it");
	assert_null(trk__perf_map_find(&m, 0x7f30));
	assert_null(trk__perf_map_find(&m, 0x7f80));
	assert_null(trk__perf_map_find(&m, 1));
	trk__perf_map_release(&m);
}

static void parses_a_number_of_lines_of_generated_code(void **state)
{
	static const char last[] = "7f10 20 fib\n";
	struct trk_perf_map m = {.text = NULL};

	for (size_t lines = TRK_PERF_MAP_SYMBOLS - 1; lines <= TRK_PERF_MAP_SYMBOLS; lines++) {
		char *text = malloc(lines + sizeof(last));

		assert_non_null(text);
		memset(text, '\n', lines);
		memcpy(text + lines, last, sizeof(last));
		assert_int_equal(trk__perf_map_take(&m, text), 0);
		assert_true((trk__perf_map_find(&m, 0x7f10) != NULL) ==
			    (lines < TRK_PERF_MAP_SYMBOLS));
	}
	trk__perf_map_release(&m);
}

static void a_process_with_too_many_mappings_is_named(void **state)
{
	char folder[] = "/tmp/trk-native-XXXXXX";
	struct trk_env env = {.proc_fd = -1};
	struct trk_cpython *c = NULL;
	struct trk_mappings m;
	int fd;

	assert_non_null(mkdtemp(folder));
	env.proc_fd = trk__open_dir_at(AT_FDCWD, folder);
	assert_int_equal(mkdirat(env.proc_fd, "7", 0700), 0);
	fd = openat(env.proc_fd, "7/maps", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 5 * 1024 * 1024), 0);
	(void) close(fd);
	assert_int_equal(trk__mappings_read(&env, 7, &m), -EFBIG);
	assert_int_equal(trk__interpreter_open(&env, 7, NULL, &c), TRK_STACK_TOO_MUCH);
	(void) close(env.proc_fd);
	trk__remove_tree(folder);
}

static void finds_the_functions_of_this_program(void **state)
{
	const struct trk_elf_symbol *s;
	struct trk_elf_file f;
	bool found = false;

	assert_int_equal(trk__elf_file_open("/proc/self/exe", geteuid(), &f), 0);
	for (size_t i = 0; i < f.symbols; i++) {
		found |= !strcmp(f.strings + f.symbol[i].name, "main");
		if (strcmp(f.strings + f.symbol[i].name, "main") != 0)
			continue;
		s = trk__elf_file_function(&f, f.symbol[i].start + 1);
		assert_non_null(s);
		assert_string_equal(f.strings + s->name, "main");
	}
	assert_true(found);
	trk__elf_file_close(&f);
	assert_int_equal(trk__elf_file_open("/proc/self/no such file", geteuid(), &f), -ENOENT);
	assert_int_equal(trk__elf_file_open("/proc/self/status", geteuid(), &f), -ENOEXEC);
}

static void keeps_counts_and_python_when_names_are_looked_up(void **state)
{
	struct trk_lines *l = trk__lines_new();
	char name[TRK_LINES_NATIVE_SIZE];
	const struct trk_lines_function *f;
	uint32_t python, native, lane, top, below;
	const char *id;
	size_t len;

	trk__lines_native_name(name, "abcd");
	python = trk__lines_function(l, "/home/a/train.py", "step", 3);
	native = trk__lines_function_of(l, "/proc/self/none/libx.so", true, name, 0);
	assert_true(trk__lines_is_native(&l->function[native], &id, &len));
	assert_int_equal(len, 4);
	assert_memory_equal(id, "abcd", 4);
	assert_false(trk__lines_is_native(&l->function[python], NULL, NULL));
	lane = trk__lines_lane(l, 7, 7, "python3");
	top = trk__lines_node(l, TRK_LINES_ROOT, python, 5);
	below = trk__lines_node(l, top, native, 0x1234);
	assert_int_equal(trk__lines_user(l, below), top);
	l->keeps_windows = true;
	assert_int_equal(
		trk__lines_add(l, 0, 10,
			       (const struct trk_lines_count[]){{lane, top, {.cpu_us = 4}},
								{lane, below, {.cpu_us = 6}}},
			       2),
		0);
	assert_int_equal(trk__lines_look_up(&l, 0), 0);
	assert_int_equal(l->totals, 2);
	assert_int_equal(l->windows, 1);
	assert_int_equal(l->window[0].count, 2);
	assert_int_equal(l->total[1].amounts.cpu_us, 6);
	f = &l->function[l->node[l->total[1].node].function];
	assert_string_equal(f->name, "[libx.so+0x1234]");
	assert_int_equal(l->symbol_files, 1);
	assert_string_equal(l->symbols[0].why, "the file does not exist");
	assert_string_equal(l->lane[lane].process, "python3");
	trk__lines_free(l);
}

static void demangles_names_of_a_bounded_size(void **state)
{
	/* A<int,int>, then pairs of it, of which each is twice as long: 2 to the power of 40. */
	char bomb[512] = "_Z1f1AIiiE";
	char *name = trk__demangle("_ZN4base5StoreISt6vectorIiSaIiEES3_E3putERKS3_");

	assert_string_equal(name, "base::Store<std::vector<int, std::allocator<int> >, "
				  "std::vector<int, std::allocator<int> > >::put");
	free(name);
	for (int i = 0; i < 40; i++) {
		char id[4] = "";
		size_t len = strlen(bomb);

		if (i >= 36)
			(void) snprintf(id, sizeof(id), "1%c", '0' + i - 36);
		else
			(void) snprintf(id, sizeof(id), "%c", i < 10 ? '0' + i : 'A' + i - 10);
		(void) snprintf(bomb + len, sizeof(bomb) - len, "S_IS%s_S%s_E", id, id);
	}
	name = trk__demangle(bomb);
	assert_string_equal(name, bomb);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_chain_without_its_marks),
		cmocka_unit_test(finds_the_file_of_an_address),
		cmocka_unit_test(names_generated_code_by_the_newest_entry),
		cmocka_unit_test(parses_a_number_of_lines_of_generated_code),
		cmocka_unit_test(a_process_with_too_many_mappings_is_named),
		cmocka_unit_test(finds_the_functions_of_this_program),
		cmocka_unit_test(keeps_counts_and_python_when_names_are_looked_up),
		cmocka_unit_test(demangles_names_of_a_bounded_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
