# The usual ways in; the work is done by meson (meson.build) and the scripts in tools/.
# BUILD is the build folder, JOBS the number of processes, PREFIX and DESTDIR are for `install`.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
export BUILD JOBS

.DELETE_ON_ERROR:
.PHONY: all tools setup demo test storm fuzz bench wheels docs install clean format lint help

all: tools
	@tools/configure.sh
	@ninja -C $(BUILD) -j $(JOBS) resource-tracker

# What building needs, and a hint instead of a riddle when it is not there.
tools:
	@for tool in cc meson ninja; do \
		command -v $$tool >/dev/null || { \
			echo "make: $$tool is missing. Try: make setup" >&2; exit 1; }; \
	done

setup:
	@tools/setup.sh

demo: setup
	@$(MAKE) --no-print-directory all
	@tools/demo.sh

test: setup
	@tools/test.sh

# Five minutes of kills, stops and starved limits against the tracker.
storm: all
	@/usr/bin/python3 tests/fault/storm.py $(BUILD)/resource-tracker --seconds 300

# Ten minutes of CPU time for each parser, less what it has had in this build folder.
fuzz: setup
	@tools/fuzz.py

bench:
	@tools/setup.sh --bench
	@$(MAKE) --no-print-directory all
	@bench/run.sh

wheels: setup
	@build/venv-python/bin/python tools/python_portable.py

docs: setup
	@NO_MKDOCS_2_WARNING=1 PATH=$(CURDIR)/build/venv-python/bin:$$PATH \
		build/venv-python/bin/mkdocs build --strict --quiet --site-dir $(abspath $(BUILD))/site

install: tools
	@tools/configure.sh
	@meson introspect $(BUILD) --buildoptions | \
		grep -qF '"name": "prefix", "value": "$(abspath $(PREFIX))"' || \
		meson configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) -j $(JOBS)
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --no-rebuild --strip

clean:
	rm -rf $(BUILD)

format:
	find src include tests bench bindings -name '*.[ch]' -exec clang-format -i {} +

lint: tools
	@tools/lint.sh

help:
	@echo "make            build $(BUILD)/resource-tracker"
	@echo "make setup      install what building and testing need (Debian packages)"
	@echo "make demo       set up, build, and track a real job"
	@echo "make test       set up, build, run every test"
	@echo "make storm      five minutes of kills, stops and starved limits"
	@echo "make fuzz       ten minutes of fuzzing for each parser"
	@echo "make bench      set up, build, run the benchmarks with the peers beside them"
	@echo "make wheels     build the Python package for every Linux, x86_64 and aarch64"
	@echo "make docs       the documentation as a site, $(BUILD)/site"
	@echo "make install    install below PREFIX=$(PREFIX), inside DESTDIR"
	@echo "make lint       read the code: law, format, clang-tidy, cppcheck, complexity"
	@echo "make format     apply clang-format"
	@echo "make clean      remove $(BUILD)/"
