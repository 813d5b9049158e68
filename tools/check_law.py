#!/usr/bin/python3
"""Checks the law of the folders: which folder may use which, which may print, which may use headers of one operating
system, and that every source file is built.

    tools/check_law.py [ROOT]      check a tree (default: this one); prints file:line and exits with 1 on a violation
    tools/check_law.py --self-test check that every rule detects a violation

The program reads the permissions from the diagram below "## The law" in docs/architecture.md. A line
`a, (b) <- c <- d` permits c to use a and b, and d to use c. A folder may also use what the folders that it uses may
use, except those in parentheses: only c may reach a header of b, d may not. "include" is the public header. "all of
these" means every folder of src/; only the folder that uses them (cli) may print and exit, and no folder may use it.
"""

import re
import sys
import tempfile
from pathlib import Path

DIAGRAM = Path("docs/architecture.md")
DIAGRAM_BLOCK = re.compile(r"^## The law\n\s*```\n(.*?)^```", re.DOTALL | re.MULTILINE)
ALL = "all of these"
PUBLIC = "include"

# Functions that the library must not call, words that it must not contain, and headers that it must not include.
FORBIDDEN_CALLS = {
    "printf", "vprintf", "puts", "putchar", "putchar_unlocked", "perror", "psignal", "psiginfo",
    "exit", "quick_exit", "abort",
    "setlocale", "setenv", "unsetenv", "putenv", "clearenv",
}
FORBIDDEN_WORDS = {"stdout", "stderr", "assert"}
FORBIDDEN_HEADERS = {"err.h", "error.h", "locale.h"}

# Headers of ISO C and POSIX, and four that all supported compilers and C libraries have. Every other header belongs
# to one operating system. Only files below a folder of that name may use it, so that a port to another system finds
# in one place what it must replace.
PORTABLE_HEADERS = set("""
    arpa/inet.h ctype.h dirent.h dlfcn.h errno.h fcntl.h fenv.h float.h fnmatch.h ftw.h glob.h grp.h inttypes.h
    langinfo.h libgen.h limits.h locale.h math.h net/if.h netdb.h netinet/in.h netinet/tcp.h poll.h pthread.h pwd.h
    regex.h sched.h semaphore.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h
    stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h sys/file.h sys/ioctl.h sys/mman.h sys/resource.h
    sys/select.h sys/socket.h sys/stat.h sys/statvfs.h sys/time.h sys/times.h sys/types.h sys/uio.h sys/un.h
    sys/utsname.h sys/wait.h syslog.h termios.h time.h unistd.h wchar.h wctype.h
    cpuid.h err.h error.h getopt.h""".split())
# The operating system that a header belongs to.
SYSTEM_HEADERS = {
    "linux": re.compile(r"(linux|asm|asm-generic|gnu)/.+|endian\.h|elf\.h|link\.h|byteswap\.h|malloc\.h|mntent\.h|"
                        r"features\.h|sys/(auxv|capability|epoll|eventfd|fanotify|inotify|personality|prctl|sendfile|"
                        r"signalfd|statfs|syscall|sysinfo|sysmacros|timerfd|vfs|xattr)\.h"),
    "darwin": re.compile(r"(mach|mach-o|os|dispatch|CoreFoundation|IOKit)/.+|Availability.*\.h|TargetConditionals\.h|"
                         r"libproc\.h|crt_externs\.h|sys/(event|kern_.+|proc|proc_info|spawn|sysctl)\.h"),
    "windows": re.compile(r"windows\.h|win.+\.h|ws2tcpip\.h|iphlpapi\.h|psapi\.h|tlhelp32\.h|aclapi\.h|sddl\.h|"
                          r"shellapi\.h|shlobj\.h|io\.h|process\.h|direct\.h|conio\.h", re.IGNORECASE),
}
# Macros that compilers define for one operating system. Only files below these folders may test them.
SYSTEM_CONDITION = re.compile(
    r"\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b.*\b("
    r"_*linux_*|__gnu_linux__|__ANDROID__|__unix_*|unix|__APPLE__|__MACH__|TARGET_OS_\w+|"
    r"_*WIN(?:32|64|NT)_*|_WIN32_WINNT|__MINGW\w+|_MSC_VER|__CYGWIN__|__\w+BSD__|__GLIBC__|__GLIBC_PREREQ)\b")

# What src/probe and src/sample read of the machine comes through struct trk_env, so that tests can point it elsewhere:
# they open nothing by a path of the file system. These files are about other things: the tracker's own descriptors,
# /dev/null, files that the job's arguments name, and a program to run.
READERS = {"probe", "sample"}
OTHER_FILES = {"src/probe/helper_process.c", "src/probe/linux/worker.c", "src/probe/linux/reader.c",
               "src/probe/gpu/nvidia_smi.c"}
OUTSIDE = re.compile(r"(?<![\w.>])(AT_FDCWD\b|(?:open|fopen|opendir|access|readlink|stat|lstat|chdir)(?=\s*\())")

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
CALL = re.compile(r"(?<![\w.>])(" + "|".join(sorted(FORBIDDEN_CALLS)) + r")\s*\(")
WORD = re.compile(r"(?<![\w.>])(" + "|".join(sorted(FORBIDDEN_WORDS)) + r")\b")
COMMENT_OR_TEXT = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_lines(text):
    """The lines of the text, with comments and string literals replaced by spaces."""
    blank = COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return blank.splitlines()


class Law:
    """The permissions in the diagram."""

    def __init__(self, text):
        block = DIAGRAM_BLOCK.search(text)
        if not block:
            raise ValueError('no diagram below "## The law"')
        self.top = set()     # folders that may use all others, and that no folder may use
        self.edges = {}      # (user, used) -> line of the diagram
        self.own = set()     # permissions in parentheses, which are not passed on
        first = text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block[1].splitlines(), first):
            self.read_line(number, [[name.strip() for name in group.split(",")] for group in line.split("<-")])
        self.folders = {name for edge in self.edges for name in edge} - {PUBLIC}
        self.uses = {folder: self.closure(folder) for folder in self.folders}

    def read_line(self, number, groups):
        for left, right in zip(groups, groups[1:]):
            if left == [ALL]:
                self.top.update(right)
                continue
            for used in left:
                for user in right:
                    edge = user.strip("()"), used.strip("()")
                    self.edges.setdefault(edge, number)
                    if used.startswith("("):
                        self.own.add(edge)

    def closure(self, folder):
        found, todo = set(), [folder]
        while todo:
            here = todo.pop()
            for user, used in self.edges:
                if user == here and used not in found and (user == folder or (user, used) not in self.own):
                    found.add(used)
                    todo.append(used)
        return found

    def may_include(self, folder, target):
        """Whether a file of `folder` may include the header `target` ("folder/name.h")."""
        other = target.split("/")[0]
        return folder in self.top or other == folder or other in self.uses[folder]

    def unused(self, used_by_sources):
        """Yield (line, message) for permissions that no file of src/ uses."""
        for (user, used), number in sorted(self.edges.items(), key=lambda item: item[1]):
            if (user, used) not in used_by_sources:
                yield number, f"{user} does not use {used}: remove the permission"


def reached(root, path, seen):
    """Yield (header, file that includes it) for all headers below src/ that `path` includes directly or indirectly."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        include = INCLUDE.match(line)
        if include and include[1] and include[1] not in seen:
            seen.add(include[1])
            yield include[1], path.relative_to(root / "src")
            yield from reached(root, root / "src" / include[1], seen)


def check_reached(root, law, path):
    """Yield messages about headers that a file reaches through a header of another folder but may not use."""
    folder = path.relative_to(root / "src").parts[0]
    if folder in law.top or folder not in law.folders:
        return
    for target, through in reached(root, path, set()):
        if through.parts[0] != folder and "/" in target and not law.may_include(folder, target):
            yield f'{folder} may not use "{target}", which "{through}" includes'


def check_include(root, law, folder, target):
    """A message if `folder` may not `#include "target"`, or None."""
    if (root / "include" / target).is_file():
        if not law.may_include(folder, PUBLIC):
            return f"{folder} may not include the public header"
        return None
    if not (root / "src" / target).is_file():
        return f'"{target}" is not found below src/ or include/'
    if not law.may_include(folder, target):
        return f'{folder} may not use "{target}"'
    return None


def check_source(root, law, path, edges):
    """Yield (line, message) for violations in one file of src/. Adds what its folder uses to `edges`."""
    folder = path.relative_to(root / "src").parts[0]
    text = path.read_text(encoding="utf-8", errors="replace")
    if folder not in law.folders | law.top:
        yield 1, f"the folder {folder} is not in the diagram of {DIAGRAM}"
        return
    raw = text.splitlines()
    for number, line in enumerate(code_lines(text), 1):
        include = INCLUDE.match(raw[number - 1]) if line.lstrip().startswith("#") else None
        if include:
            ours, system = include.groups()
            if ours:
                used = PUBLIC if (root / "include" / ours).is_file() else ours.split("/")[0]
                edges.setdefault((folder, used), (path, number))
                problem = check_include(root, law, folder, ours)
                if problem:
                    yield number, problem
            elif system in FORBIDDEN_HEADERS and folder not in law.top:
                yield number, f"<{system}> is for src/cli only"
        elif folder not in law.top:
            if folder in READERS and str(path.relative_to(root)) not in OTHER_FILES:
                for match in OUTSIDE.finditer(line):
                    yield number, f"{match[1]}: the machine is read through struct trk_env"
            for match in CALL.finditer(line):
                yield number, f"{match[1]}() is for src/cli only"
            for match in WORD.finditer(line):
                yield number, f"{match[1]} is for src/cli only"


def joined_lines(text):
    """Yield (number, text) of each line; lines that end in a backslash are joined with the next one."""
    number, whole = 0, ""
    for at, line in enumerate(text.splitlines(), 1):
        number = number or at
        whole += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield number, whole
            number, whole = 0, ""


def foreign(header, systems):
    """The operating systems that a header belongs to, if a file below folders of `systems` may not use it; else
    None."""
    owners = [system for system, headers in SYSTEM_HEADERS.items() if headers.fullmatch(header)]
    if header in PORTABLE_HEADERS or (systems and (not owners or systems & set(owners))):
        return None
    return " or ".join(owners or SYSTEM_HEADERS)


def systems_of(root, path):
    """The operating systems whose folders contain a file."""
    return set(SYSTEM_HEADERS) & set(path.relative_to(root / "src").parts[:-1])


def check_systems(root, path):
    """Yield (line, message) for headers and conditions of an operating system outside of its folders."""
    systems = systems_of(root, path)
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in joined_lines(text):
        include, condition = INCLUDE.match(line), SYSTEM_CONDITION.match(line)
        if condition and not systems:
            yield number, f"{condition[1]}: systems differ in folders of their own, not by #if"
        owner = include and include[2] and foreign(include[2], systems)
        if owner:
            yield number, f"<{include[2]}> is for folders named {owner} only"
    for target, _ in reached(root, path, set()):
        header = root / "src" / target
        if not header.is_file() or not systems_of(root, header):
            continue  # headers in other places are checked themselves
        for line in header.read_text(encoding="utf-8", errors="replace").splitlines():
            include = INCLUDE.match(line)
            owner = include and include[2] and foreign(include[2], systems)
            if owner:
                yield 1, f'<{include[2]}>, which "{target}" includes, is for folders named {owner} only'


def check_public(path):
    """Yield (line, message) for includes of a public header other than system headers."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        if include and include[1]:
            yield number, f'a public header may not include "{include[1]}"'


def find_cycle(edges):
    """A list of folders that use each other in a cycle, or None."""
    uses = {}
    for here, there in edges:
        if here != there:
            uses.setdefault(here, set()).add(there)

    def walk(folder, trail):
        if folder in trail:
            return trail[trail.index(folder):] + [folder]
        for there in sorted(uses.get(folder, ())):
            ring = walk(there, trail + [folder])
            if ring:
                return ring
        return None

    for folder in sorted(uses):
        ring = walk(folder, [])
        if ring:
            return ring
    return None


def check_lists(root):
    """Yield (source file, name, meson.build) for every source file, whose name must be listed in that meson.build."""
    for path in sorted(root.glob("src/**/*.c")):
        yield path, f"'{path.name}'", path.parent / "meson.build"
    for path in sorted(root.glob("tests/unit/test_*.c")):
        yield path, f"'{path.stem[len('test_'):]}'", path.parent / "meson.build"
    for path in sorted(root.glob("tests/fuzz/*.c")):
        if path.name != "driver.c":
            yield path, f"'{path.stem}'", path.parent / "meson.build"


def check(root):
    """All violations below `root`, as lines to print."""
    found, edges = [], {}
    try:
        law = Law((root / DIAGRAM).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"{DIAGRAM}:1: {error}"]
    for path in sorted(root.glob("src/**/*.[ch]")):
        for number, message in check_source(root, law, path, edges):
            found.append(f"{path.relative_to(root)}:{number}: {message}")
        for number, message in check_systems(root, path):
            found.append(f"{path.relative_to(root)}:{number}: {message}")
        for message in check_reached(root, law, path):
            found.append(f"{path.relative_to(root)}:1: {message}")
    for path in sorted(root.glob("include/**/*.h")):
        for number, message in check_public(path):
            found.append(f"{path.relative_to(root)}:{number}: {message}")
    for path, name, listing in check_lists(root):
        if not listing.is_file() or name not in listing.read_text(encoding="utf-8"):
            found.append(f"{path.relative_to(root)}:1: {name} is not in "
                         f"{listing.relative_to(root)}")
    found += [f"{DIAGRAM}:{number}: {message}" for number, message in law.unused(edges)]
    ring = find_cycle(edges)
    if ring:
        for here, there in zip(ring, ring[1:]):
            path, number = edges[here, there]
            found.append(f"{path.relative_to(root)}:{number}: folders in a ring: "
                         + " -> ".join(ring))
    return found


# Each case: a name, files that are added to the tree GOOD, and the message that must be found (None: no message).
GOOD = {
    "docs/architecture.md": "# Architecture\n\n## The law\n\n```\n"
                            "base <- model <- probe <- sample\n"
                            "        model, (probe) <- recording <- report\n"
                            "        include <- api\n"
                            "        all of these <- cli\n```\n",
    "include/resource_tracker.h": "#include <stdint.h>\n",
    "src/base/buf.h": "",
    "src/base/buf.c": '#include "base/buf.h"\n',
    "src/api/api.h": '#include "resource_tracker.h"\n',
    "src/base/meson.build": "base_sources = files(\n  'buf.c',\n)\n",
    "src/probe/tree.h": '#include "model/run.h"\n',
    "src/model/run.h": '#include "base/buf.h"\n',
    "src/sample/sampler.h": '#include "probe/tree.h"\n',
    "src/recording/format.h": '#include "model/run.h"\n',
    "src/recording/death.h": '#include "probe/tree.h"\n',
    "src/report/page.h": '#include "recording/format.h"\n',
    "src/cli/main.c": '#include "probe/tree.h"\n#include <err.h>\nint f(void) { exit(1); }\n',
    "src/cli/meson.build": "files('main.c')",
}
CASES = [
    ("a lawful tree", {}, None),
    ("a comment or a text that looks like a call",
     {"src/base/a.h": '/* exit(1) and\n * printf("x") to stderr */\n#define A "abort()"\n'}, None),
    ("calls with the same ending",
     {"src/base/a.h": "int n = snprintf(b, 1, c); dprintf(fd, c); x->exit(1); s.abort();\n"}, None),
    ("a folder that uses what another one passes on", {"src/report/a.h": '#include "model/run.h"\n'}, None),
    ("no diagram", {"docs/architecture.md": "## The law\n\nNone.\n"}, "docs/architecture.md:1: no diagram"),
    ("an unused permission", {"src/report/page.h": ""},
     "docs/architecture.md:7: report does not use recording"),
    ("a folder of the diagram without files", {"src/api/api.h": ""},
     "docs/architecture.md:8: api does not use include"),
    ("base uses the public header", {"src/base/a.h": '#include "resource_tracker.h"\n'},
     "src/base/a.h:1: base may not include the public header"),
    ("base uses probe", {"src/base/a.h": '\n#include "probe/tree.h"\n'},
     'src/base/a.h:2: base may not use "probe/tree.h"'),
    ("a report uses probe", {"src/report/a.h": '#include "probe/tree.h"\n'},
     'src/report/a.h:1: report may not use "probe/tree.h"'),
    ("a report reaches probe through a header that it may use",
     {"src/report/a.h": '#include "recording/a.h"\n', "src/recording/a.h": '#include "probe/tree.h"\n'},
     'src/report/a.h:1: report may not use "probe/tree.h", which "recording/a.h" includes'),
    ("a library folder uses cli",
     {"src/cli/a.h": "", "src/sample/a.h": '#include "cli/a.h"\n'},
     'src/sample/a.h:1: sample may not use "cli/a.h"'),
    ("an include by bare name", {"src/base/a.h": '#include "buf.h"\n'},
     'src/base/a.h:1: "buf.h" is not found'),
    ("a folder without a law", {"src/misc/a.h": "\n"}, "src/misc/a.h:1: the folder misc"),
    ("a library file that prints", {"src/base/a.h": 'f();\nprintf ("x");\n'},
     "src/base/a.h:2: printf() is for src/cli only"),
    ("a library file that names stderr", {"src/base/a.h": "fprintf(stderr, x);\n"},
     "src/base/a.h:1: stderr is for src/cli only"),
    ("a library file that exits", {"src/base/a.h": "if (x) exit(1);\n"},
     "src/base/a.h:1: exit() is for src/cli only"),
    ("a library file that aborts", {"src/base/a.h": "abort();\n"},
     "src/base/a.h:1: abort() is for src/cli only"),
    ("a library file with err.h", {"src/base/a.h": "#include <err.h>\n"},
     "src/base/a.h:1: <err.h> is for src/cli only"),
    ("a public header with our insides",
     {"include/resource_tracker.h": '#include "base/buf.h"\n'},
     'include/resource_tracker.h:1: a public header may not include "base/buf.h"'),
    ("a system's header in its folder", {"src/probe/linux/a.h": "#include <sys/timerfd.h>\n",
                                         "src/probe/windows/a.h": "#include <windows.h>\n"}, None),
    ("a system's header outside of its folder", {"src/base/a.h": "#include <sys/epoll.h>\n"},
     "src/base/a.h:1: <sys/epoll.h> is for folders named linux only"),
    ("a system's header in the folder of another one", {"src/probe/linux/a.h": "#include <libproc.h>\n"},
     "src/probe/linux/a.h:1: <libproc.h> is for folders named darwin only"),
    ("a header that no table names", {"src/base/a.h": "#include <sys/made_up.h>\n"},
     "src/base/a.h:1: <sys/made_up.h> is for folders named linux or darwin or windows only"),
    ("a header that no table names in a system's folder", {"src/base/darwin/a.h": "#include <sys/made_up.h>\n"}, None),
    ("a system's header in other letters", {"src/base/a.h": "#include <Windows.h>\n"},
     "src/base/a.h:1: <Windows.h> is for folders named windows only"),
    ("a system's header through one of its folder",
     {"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/windows/c.h"\n',
      "src/base/windows/c.h": "#include <windows.h>\n"},
     'src/base/a.h:1: <windows.h>, which "base/windows/c.h" includes, is for folders named windows only'),
    ("a system's header through one of its folder, in the folder of another one",
     {"src/base/linux/a.h": '#include "base/windows/c.h"\n', "src/base/windows/c.h": "#include <windows.h>\n"},
     'src/base/linux/a.h:1: <windows.h>, which "base/windows/c.h" includes'),
    ("a system's folder whose header is portable",
     {"src/base/a.h": '#include "base/linux/c.h"\n', "src/base/linux/c.h": "#include <stdint.h>\n"}, None),
    *((f"a condition on a system: {line!r}", {"src/base/a.h": f"{line}\n#endif\n"},
       f"src/base/a.h:1: {name}: systems differ in folders of their own") for line, name in (
           ("#ifdef __APPLE__", "__APPLE__"), ("#if defined(_WIN32) || 0", "_WIN32"),
           ("  #  if !defined __linux__", "__linux__"), ("#ifndef __MINGW32__", "__MINGW32__"),
           ("#if 1 && \\\n\tdefined(_WIN64)", "_WIN64"), ("#ifdef linux", "linux"),
           ("#ifdef __unix__", "__unix__"), ("#if TARGET_OS_MAC", "TARGET_OS_MAC"), ("#ifdef _MSC_VER", "_MSC_VER"),
           ("#if __FreeBSD__", "__FreeBSD__"))),
    ("a condition on a system in a folder of its name", {"src/base/linux/a.h": "#ifdef __linux__\n#endif\n"}, None),
    *((f"a file by its path: {line!r}", {"src/probe/a.c": f"int a(void)\n{{\n\treturn {line};\n}}\n",
                                         "src/probe/meson.build": "'a.c'"},
       f"src/probe/a.c:3: {name}: the machine is read through struct trk_env") for line, name in (
           ('open("/proc/stat", 0)', "open"), ('trk__read_at(AT_FDCWD, "/proc/stat")', "AT_FDCWD"))),
    ("a file below the environment", {"src/probe/a.c": 'int a(void)\n{\n\treturn openat(env->proc_fd, "stat", 0);\n}\n',
                                      "src/probe/meson.build": "'a.c'"}, None),
    ("folders in a ring",
     {"src/base/a.h": '#include "probe/tree.h"\n'}, "folders in a ring: base -> probe -> model -> base"),
    ("a source that is not built", {"src/base/new.c": ""},
     "src/base/new.c:1: 'new.c' is not in src/base/meson.build"),
    ("a unit test that is not run", {"tests/unit/test_new.c": ""},
     "tests/unit/test_new.c:1: 'new' is not in tests/unit/meson.build"),
    ("a fuzzer that is not run", {"tests/fuzz/new.c": "", "tests/fuzz/meson.build": "'old'"},
     "tests/fuzz/new.c:1: 'new' is not in tests/fuzz/meson.build"),
]


def self_test():
    failed = 0
    for name, files, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {**GOOD, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            found = check(root)
        ok = not found if expected is None else any(expected in line for line in found)
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} - {name}")
        if not ok:
            print("\n".join(f"# expected: {expected}\n# found: {line}" for line in found or ["-"]))
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parent.parent)
    if not any(root.glob("src/**/*.c")):
        print(f"{root}: no sources below src/", file=sys.stderr)
        return 2
    found = check(root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
