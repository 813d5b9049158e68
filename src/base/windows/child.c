#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/child.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/os.h"
#include "base/windows/command_line.h"
#include "base/windows/console.h"
#include "base/windows/group.h"
#include "base/windows/program.h"

enum {
	CHILDREN_MAX = 16,
	LINE_MAX = 3 * 32767,
	BATCH_LINE_MAX = 8191,
	ENVIRONMENT_MAX = 4 * 1024 * 1024,
	SIGNALLED = 128
};

struct child {
	pid_t pid; /* 0: free */
	HANDLE process, job;
};

static struct child child[CHILDREN_MAX];
static SRWLOCK child_lock = SRWLOCK_INIT;
static DWORD last_code; /* of the child that was waited for last */

static struct child *find(pid_t pid)
{
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (child[i].pid == pid)
			return &child[i];
	return NULL;
}

/* Takes the handle of the process. False: there is no room, and the handle is closed. */
static bool add(struct child made)
{
	struct child *c;

	AcquireSRWLockExclusive(&child_lock);
	c = find(0);
	if (c)
		*c = made;
	ReleaseSRWLockExclusive(&child_lock);
	if (!c)
		(void) CloseHandle(made.process);
	return c != NULL;
}

/* A handle of a child that the caller closes; NULL: there is no such child. */
static HANDLE open_child(pid_t pid)
{
	HANDLE own = GetCurrentProcess(), copy = NULL;
	const struct child *c;

	AcquireSRWLockShared(&child_lock);
	c = pid > 0 ? find(pid) : NULL;
	if (c && !DuplicateHandle(own, c->process, own, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS))
		copy = NULL;
	ReleaseSRWLockShared(&child_lock);
	return copy;
}

/* ---- how it ended ---- */

int trk__signal_of_status(int status)
{
	static const struct {
		DWORD code;
		int signo;
	} crashes[] = {
		{STATUS_ACCESS_VIOLATION, 11},
		{STATUS_STACK_OVERFLOW, 11},
		{STATUS_ILLEGAL_INSTRUCTION, 4},
		{STATUS_PRIVILEGED_INSTRUCTION, 4},
		{STATUS_INTEGER_DIVIDE_BY_ZERO, 8},
		{STATUS_INTEGER_OVERFLOW, 8},
		{STATUS_FLOAT_DIVIDE_BY_ZERO, 8},
		{0xC0000409, 6}, /* abort(), and a broken stack */
		{0xC0000374, 6}, /* a broken heap */
		{STATUS_CONTROL_C_EXIT, 2},
	};

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (crashes[i].code == (DWORD) status)
			return crashes[i].signo;
	return 0;
}

int trk__code_of_status(int status)
{
	return status >= 0 ? status : status & 0xff;
}

int trk__child_whole_code(int code)
{
	return code == trk__code_of_status((int) last_code) ? (int) last_code : code;
}

/* ---- its command line ---- */

static wchar_t *widen(const struct trk_buf *b)
{
	size_t size = b->len + 1; /* never fewer bytes than units */
	wchar_t *wide = b->error ? NULL : malloc(size * sizeof(*wide));

	if (wide && MultiByteToWideChar(CP_UTF8, 0, b->data, -1, wide, (int) size) == 0)
		wide = (free(wide), NULL);
	return wide;
}

/* A line for cmd.exe, which removes the outermost quotes, and in `path` its file. With /v:off it takes
 * no '!' as its own. */
static int shell_line(wchar_t path[TRK_WIDE_PATH_MAX], const char *command, struct trk_buf *b)
{
	UINT len = GetSystemDirectoryW(path, TRK_WIDE_PATH_MAX - 16);

	if (len == 0 || len >= TRK_WIDE_PATH_MAX - 16)
		return -ENOENT;
	(void) wcscpy(path + len, L"\\cmd.exe");
	trk__buf_printf(b, "cmd.exe /d /v:off /s /c \"%s\"", command);
	if (b->error == 0 && MultiByteToWideChar(CP_UTF8, 0, b->data, -1, NULL, 0) > BATCH_LINE_MAX)
		return -E2BIG;
	return 0;
}

static int batch_line(wchar_t path[TRK_WIDE_PATH_MAX], char *const argv[], struct trk_buf *b)
{
	char *name = trk__narrow_text(path);
	TRK_BUF_LOCAL(words, LINE_MAX);
	int r;

	r = name ? trk__command_line_add_batch(&words, name) : -ENOMEM;
	for (size_t i = 1; r == 0 && argv[i]; i++)
		r = trk__command_line_add_batch(&words, argv[i]);
	if (words.error)
		b->error = words.error;
	free(name);
	return r < 0 || words.error ? r : shell_line(path, words.data, b);
}

/* What to start: a program with its arguments, or (argv NULL) a line for cmd.exe. */
struct command {
	const char *file; /* looked for as program.h says */
	char *const *argv;
	const char *shell;
};

/* The command line, and in `path` what reads it. NULL with *reterr. */
static wchar_t *make_line(const struct command *c, wchar_t path[TRK_WIDE_PATH_MAX], int *reterr)
{
	TRK_BUF_LOCAL(b, LINE_MAX);
	wchar_t *line;
	int r = c->argv ? trk__program_find(c->file, path) : shell_line(path, c->shell, &b);

	if (r == 0 && c->argv && trk__program_is_batch(path))
		r = batch_line(path, c->argv, &b);
	else if (r == 0 && c->argv)
		for (size_t i = 0; c->argv[i]; i++)
			trk__command_line_add(&b, c->argv[i]);
	line = r < 0 ? NULL : widen(&b);
	if (!line && r == 0)
		r = b.error == -EFBIG ? -E2BIG : -ENOMEM;
	*reterr = r;
	return line;
}

/* ---- its start ---- */

/* Set "NAME=value" in the environment of this process, which a child inherits, and keep what was
 * there before. */
struct variable {
	wchar_t text[1024], before[1024];
	bool is_set, had;
};

static void set_variable(struct variable *v, const char *assignment)
{
	wchar_t *equals;
	DWORD len;

	v->is_set = assignment &&
		    MultiByteToWideChar(CP_UTF8, 0, assignment, -1, v->text, 1024) > 0 &&
		    (equals = wcschr(v->text, L'=')) != NULL;
	if (!v->is_set)
		return;
	*equals = L'\0';
	len = GetEnvironmentVariableW(v->text, v->before, 1024);
	v->had = len > 0 && len < 1024;
	(void) SetEnvironmentVariableW(v->text, equals + 1);
}

static void restore_variable(const struct variable *v)
{
	if (v->is_set)
		(void) SetEnvironmentVariableW(v->text, v->had ? v->before : NULL);
}

static int start_error(DWORD error)
{
	switch (error) {
	case ERROR_BAD_EXE_FORMAT:
	case ERROR_EXE_MACHINE_TYPE_MISMATCH:
		return -ENOEXEC;
	case 740: /* ERROR_ELEVATION_REQUIRED */
		return -EACCES;
	case ERROR_FILENAME_EXCED_RANGE: /* of the command line: 32,767 units */
		return -E2BIG;
	default:
		return -trk__windows_errno(error);
	}
}

/* The handles that a program inherits. Others, such as the pipes of the job, would stay open with
 * it. */
enum { PASSED_MAX = 4 };

struct passed {
	HANDLE list[PASSED_MAX];
	DWORD count;
};

/* Windows refuses a list with a handle that is not inheritable, or that is there twice. */
static void pass(struct passed *p, HANDLE handle)
{
	for (DWORD i = 0; i < p->count; i++)
		if (p->list[i] == handle)
			return;
	if (handle && handle != INVALID_HANDLE_VALUE &&
	    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT))
		p->list[p->count++] = handle;
}

/* p: what it inherits besides its streams; NULL: all that this program has inherited. variables: its
 * environment, or NULL for that of this program. */
static int create(const wchar_t *path, wchar_t *line, struct passed *p, const HANDLE streams[3],
		  DWORD flags, wchar_t *variables, PROCESS_INFORMATION *ret)
{
	union {
		max_align_t aligned;
		char room[256];
	} attributes;
	SIZE_T size = sizeof(attributes);
	STARTUPINFOEXW info = {
		.StartupInfo =
			{
				.cb = p ? sizeof(info) : sizeof(info.StartupInfo),
				.dwFlags = STARTF_USESTDHANDLES,
				.hStdInput = streams[0],
				.hStdOutput = streams[1],
				.hStdError = streams[2],
			},
		.lpAttributeList = (void *) &attributes,
	};
	DWORD error;
	BOOL done;

	for (int i = 0; p && i < 3; i++)
		pass(p, streams[i]);
	if (p && !InitializeProcThreadAttributeList(info.lpAttributeList, 1, 0, &size))
		return -trk__windows_errno(GetLastError());
	done = (!p || UpdateProcThreadAttribute(info.lpAttributeList, 0,
						PROC_THREAD_ATTRIBUTE_HANDLE_LIST, p->list,
						p->count * sizeof(p->list[0]), NULL, NULL)) &&
	       CreateProcessW(path, line, NULL, NULL, TRUE,
			      flags | (p ? EXTENDED_STARTUPINFO_PRESENT : 0), variables, NULL,
			      &info.StartupInfo, ret);
	error = GetLastError();
	if (p)
		DeleteProcThreadAttributeList(info.lpAttributeList);
	return done ? 0 : start_error(error);
}

static int start(const struct command *c, struct passed *p, const HANDLE streams[3], DWORD flags,
		 wchar_t *variables, PROCESS_INFORMATION *ret)
{
	wchar_t path[TRK_WIDE_PATH_MAX], *line;
	int r;

	line = make_line(c, path, &r);
	if (!line)
		return r;
	r = create(path, line, p, streams, flags, variables, ret);
	free(line);
	return r;
}

int trk__child_start(char *const argv[], const char *assignment, HANDLE job, pid_t *ret_pid,
		     HANDLE *ret_process, bool *ret_in_job)
{
	const HANDLE streams[] = {GetStdHandle(STD_INPUT_HANDLE), GetStdHandle(STD_OUTPUT_HANDLE),
				  GetStdHandle(STD_ERROR_HANDLE)};
	const struct command command = {.file = argv[0], .argv = argv};
	struct child *c = find(0);
	struct variable variable;
	PROCESS_INFORMATION info;
	int r;

	if (!c)
		return -EAGAIN;
	set_variable(&variable, assignment);
	r = start(&command, NULL, streams, CREATE_SUSPENDED, NULL, &info);
	restore_variable(&variable);
	if (r < 0)
		return r;
	*ret_in_job = job && AssignProcessToJobObject(job, info.hProcess);
	(void) ResumeThread(info.hThread);
	(void) CloseHandle(info.hThread);
	*c = (struct child){(pid_t) info.dwProcessId, info.hProcess, *ret_in_job ? job : NULL};
	*ret_pid = c->pid;
	*ret_process = c->process;
	return 0;
}

/* ---- a program that inherits chosen handles ---- */

static HANDLE open_nothing(void)
{
	return CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
			   NULL, OPEN_EXISTING, 0, NULL);
}

int trk__child_pass(char *const argv[], HANDLE handle, bool has_streams, pid_t *ret_pid)
{
	HANDLE nothing = open_nothing();
	const HANDLE own[] = {GetStdHandle(STD_INPUT_HANDLE), GetStdHandle(STD_OUTPUT_HANDLE),
			      GetStdHandle(STD_ERROR_HANDLE)};
	const HANDLE none[] = {nothing, nothing, nothing};
	const struct command command = {.file = argv[0], .argv = argv};
	struct passed passed = {.count = 0};
	PROCESS_INFORMATION info;
	int r;

	/* Another thread that starts a program in this moment may pass on the handle as well. */
	pass(&passed, handle);
	r = start(&command, &passed, has_streams ? own : none, has_streams ? 0 : DETACHED_PROCESS,
		  NULL, &info);
	(void) SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0);
	(void) CloseHandle(nothing);
	if (r < 0)
		return r;
	(void) CloseHandle(info.hThread);
	if (!ret_pid)
		return CloseHandle(info.hProcess) ? 0 : -EBADF;
	*ret_pid = (pid_t) info.dwProcessId;
	return add((struct child){*ret_pid, info.hProcess, NULL}) ? 0 : -EAGAIN;
}

int trk__child_run(char *const argv[], const int streams[3], int *ret_code)
{
	const struct command command = {.file = argv[0], .argv = argv};
	HANDLE handles[3] = {NULL, NULL, NULL};
	PROCESS_INFORMATION info;
	DWORD code;
	int r;

	for (int i = 0; i < 3; i++)
		if (streams[i] >= 0) {
			handles[i] = trk__handle_of(streams[i]);
			(void) SetHandleInformation(handles[i], HANDLE_FLAG_INHERIT,
						    HANDLE_FLAG_INHERIT);
		}
	r = start(&command, NULL, handles, 0, NULL, &info);
	if (r < 0)
		return r;
	(void) WaitForSingleObject(info.hProcess, INFINITE);
	(void) GetExitCodeProcess(info.hProcess, &code);
	(void) CloseHandle(info.hThread);
	(void) CloseHandle(info.hProcess);
	*ret_code = (int) code;
	return 0;
}

/* ---- programs beside the job ---- */

static bool is_of_project(const wchar_t *variable)
{
	return !wcsncmp(variable, L"RT_", 3) || !wcsncmp(variable, L"TRACKER_", 8) ||
	       !wcsncmp(variable, L"RESOURCE_TRACKER_", 17);
}

static void add_units(struct trk_buf *b, const wchar_t *text)
{
	trk__buf_add(b, text, (wcslen(text) + 1) * sizeof(*text));
}

/* The block of variables for CreateProcessW; src/cli/windows/entry.c has set others for this
 * program alone. */
static void make_environment(struct trk_buf *b, char *const *list)
{
	wchar_t *own = GetEnvironmentStringsW();

	for (const wchar_t *at = own; at && *at; at += wcslen(at) + 1)
		if (!is_of_project(at))
			add_units(b, at);
	if (own)
		(void) FreeEnvironmentStringsW(own);
	for (; *list; list++) {
		TRK_BUF_LOCAL(text, LINE_MAX);
		wchar_t *wide;

		trk__buf_puts(&text, *list);
		wide = widen(&text);
		if (wide && is_of_project(wide))
			add_units(b, wide);
		free(wide);
	}
	trk__buf_add(b, L"\0", 2 * sizeof(wchar_t));
}

int trk__child_beside(const struct trk_beside *what, HANDLE *ret_process)
{
	HANDLE nothing = open_nothing();
	const struct command command = {what->file, what->file ? what->argv : NULL, what->command};
	const HANDLE streams[] = {nothing, what->output ? what->output : nothing,
				  what->error ? what->error : nothing};
	struct passed passed = {.count = 0};
	DWORD flags = CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT |
		      (what->has_console ? 0 : CREATE_NO_WINDOW) |
		      (what->is_quiet ? BELOW_NORMAL_PRIORITY_CLASS : 0);
	PROCESS_INFORMATION info;
	TRK_BUF_LOCAL(variables, ENVIRONMENT_MAX);
	int r;

	make_environment(&variables, what->environment);
	r = variables.error ? variables.error
			    : start(&command, &passed, streams, flags,
				    (wchar_t *) (void *) variables.data, &info);
	(void) CloseHandle(nothing);
	if (r < 0)
		return r;
	if (what->job)
		(void) AssignProcessToJobObject(what->job, info.hProcess);
	(void) ResumeThread(info.hThread);
	(void) CloseHandle(info.hThread);
	*ret_process = info.hProcess;
	return 0;
}

HANDLE trk__child_job(void)
{
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
							       JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
	HANDLE job = CreateJobObjectW(NULL, NULL);

	if (job)
		(void) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
					       sizeof(limits));
	return job;
}

static _Noreturn void leave(DWORD code)
{
	trk__console_give_back();
	ExitProcess(code);
}

int trk__execvp(const char *file, char *const argv[])
{
	HANDLE process;
	bool in_job;
	pid_t pid;
	DWORD code;
	int r;

	r = trk__child_start(argv, NULL, NULL, &pid, &process, &in_job);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	(void) SetConsoleCtrlHandler(NULL, TRUE); /* Ctrl-C is for the child only */
	trk__console_give_back();
	(void) WaitForSingleObject(process, INFINITE);
	(void) GetExitCodeProcess(process, &code);
	leave(code);
}

/* ---- its end ---- */

static bool has_ended(const struct child *c)
{
	return c->pid && WaitForSingleObject(c->process, 0) == WAIT_OBJECT_0;
}

/* Wait for the end of a child; with WNOHANG only look. 0 or -1. */
static int await(pid_t pid, int flags)
{
	HANDLE process = open_child(pid);

	if (!process) {
		errno = ECHILD;
		return -1;
	}
	(void) WaitForSingleObject(process, flags & WNOHANG ? 0 : INFINITE);
	(void) CloseHandle(process);
	return 0;
}

pid_t waitpid(pid_t pid, int *ret_status, int flags)
{
	struct child *c;
	pid_t r = 0;

	if (await(pid, flags) < 0)
		return -1;
	AcquireSRWLockExclusive(&child_lock);
	c = find(pid);
	if (!c) { /* another thread has waited for it */
		errno = ECHILD;
		r = -1;
	} else if (has_ended(c)) {
		(void) GetExitCodeProcess(c->process, &last_code);
		/* Its descendants were asked to end when it was. */
		if (c->job && trk__group_has_asked())
			(void) TerminateJobObject(c->job, SIGNALLED + SIGTERM);
		if (ret_status)
			*ret_status = (int) last_code;
		(void) CloseHandle(c->process);
		*c = (struct child){0};
		r = pid;
	}
	ReleaseSRWLockExclusive(&child_lock);
	return r;
}

int waitid(enum trk__idtype type, id_t id, siginfo_t *ret, int flags)
{
	*ret = (siginfo_t){0};
	if (type == P_PID && await((pid_t) id, flags) < 0)
		return -1;
	AcquireSRWLockShared(&child_lock);
	for (int i = 0; i < CHILDREN_MAX && flags & WEXITED; i++)
		if ((type == P_ALL || child[i].pid == (pid_t) id) && has_ended(&child[i]))
			*ret = (siginfo_t){.si_pid = child[i].pid, .si_code = CLD_EXITED};
	ReleaseSRWLockShared(&child_lock);
	return 0;
}

static int end_process(pid_t pid, UINT code)
{
	HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD) pid);
	BOOL done = process && TerminateProcess(process, code);
	DWORD error = GetLastError();

	if (process)
		(void) CloseHandle(process);
	if (done)
		return 0;
	errno = error == ERROR_ACCESS_DENIED ? EPERM : ESRCH;
	return -1;
}

static int is_there(pid_t pid)
{
	HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD) pid);
	bool lives = process && WaitForSingleObject(process, 0) == WAIT_TIMEOUT;

	errno = !process && GetLastError() == ERROR_ACCESS_DENIED ? EPERM : ESRCH;
	if (process)
		(void) CloseHandle(process);
	return lives ? 0 : -1;
}

int trk__child_end(pid_t pid, unsigned int code)
{
	const struct child *c = pid > 0 ? find(pid) : NULL;

	if (c && c->job)
		return TerminateJobObject(c->job, code) ? 0 : trk__windows_failed();
	return end_process(pid, code);
}

int kill(pid_t pid, int signo)
{
	const struct child *c = pid > 0 ? find(pid) : NULL;

	if (pid == getpid() && signo)
		leave(trk__signal_of_status((int) last_code) == signo ? last_code
								      : SIGNALLED + (UINT) signo);
	if (signo == 0)
		return is_there(pid);
	if ((signo != SIGTERM && signo != SIGKILL) ||
	    (c && signo == SIGTERM && trk__group_ask_to_end()))
		return 0;
	return trk__child_end(pid, SIGNALLED + (UINT) signo);
}

/* Ctrl-Break reaches all processes of the job at once. */
int trk__os_process_signal(int end_fd, pid_t pid, int signo)
{
	if (signo == SIGTERM && trk__group_has_asked())
		return 0;
	return kill(pid, signo) < 0 ? -errno : 0;
}

#endif
