# Shortcuts for common tasks. meson (meson.build) and the scripts in tools/ do the work.
# BUILD is the build folder, JOBS the number of processes. PREFIX and DESTDIR are used by `install`.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
export BUILD JOBS

.DELETE_ON_ERROR:
.PHONY: gallery pictures all tools setup demo test check kernels storm fuzz bench wheels release release-compare release-prove prove docs install clean format lint page help

all: tools
	@tools/configure.sh
	@ninja -C $(BUILD) -j $(JOBS) resource-tracker

tools:
	@for tool in cc meson ninja; do \
		command -v $$tool >/dev/null || { \
			echo "make: $$tool is missing. Try: tools/setup.sh build" >&2; exit 1; }; \
	done

setup:
	@tools/setup.sh

demo:
	@tools/setup.sh build
	@$(MAKE) --no-print-directory all
	@tools/demo.sh

test: setup
	@tools/test.sh

# Runs the tests in virtual machines under every supported kernel.
kernels: setup all
	@KERNELS="5.10 6.1 6.12" LIMIT_S=600 tools/test.sh kernel

# The quick loop during development: no set-up, under 3 minutes.
check: tools
	@tools/test.sh check

# Kills and stops the tracker and starves it of resources, for five minutes.
storm: all
	@/usr/bin/python3 tests/fault/storm.py $(BUILD)/resource-tracker --seconds 300

# Fuzzes each parser until it has had ten minutes of CPU time in this build folder.
fuzz: setup
	@tools/fuzz.py

bench:
	@tools/setup.sh build test bench
	@$(MAKE) --no-print-directory all
	@bench/run.sh

wheels: setup
	@build/venv-python/bin/python tools/python_portable.py

# Builds all artefacts of a release in $(BUILD)/release/VERSION.
release: setup
	@tools/setup.sh release
	@build/venv-python/bin/python tools/release/make.py
	@tools/release/lint.sh

# Builds the release again in another folder, and compares the files byte by byte.
release-compare:
	@tools/release/compare.sh

# Installs each artefact in a clean root folder and tracks a job there. Requires root.
release-prove: setup
	@tools/setup.sh release
	@/usr/bin/python3 tools/release/prove.py

# What takes longer than `make test`: all artefacts of a release, other systems, valgrind, all kernels. Requires root.
prove: release
	@$(MAKE) --no-print-directory release-prove
	@tools/test.sh prove

docs: setup all
	@NO_MKDOCS_2_WARNING=1 PATH=$(CURDIR)/build/venv-python/bin:$$PATH \
		build/venv-python/bin/mkdocs build --strict --quiet --site-dir $(abspath $(BUILD))/site

install: tools
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" tools/install.sh

# BUILD may be set to a folder by mistake, such as the home directory.
clean:
	@if [ "$(BUILD)" = build ] || [ -e "$(BUILD)/meson-info" ] || [ ! -e "$(BUILD)" ]; then \
		rm -rf -- "$(BUILD)"; \
	else \
		echo "clean: $(BUILD) is no build folder" >&2; exit 1; \
	fi

format:
	find src include tests bench bindings -name '*.[ch]' -exec clang-format -i {} +

# Converts the scripts and styles of the pages to C. The result is committed.
page: setup
	@node web/build.mjs web/built/report.c report
	@node web/build.mjs web/built/lines.c lines
	@node web/build.mjs web/built/dashboard.c dashboard

# Writes reports of twelve jobs and pictures of them to $(BUILD)/gallery, and their first views to docs/images/gallery.
gallery: all
	@meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) tests/e2e/make_recordings tests/gpu/libnvidia-ml.so.1 >/dev/null
	@RESOURCE_TRACKER_BIN=$(abspath $(BUILD))/resource-tracker \
		MAKE_RECORDINGS=$(abspath $(BUILD))/tests/e2e/make_recordings \
		node tests/e2e/gallery.mjs $(BUILD)/gallery docs/images/gallery

# Takes the pictures of the dashboard for the documentation.
pictures: all
	@meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) tests/e2e/make_history >/dev/null
	@RESOURCE_TRACKER_BIN=$(abspath $(BUILD))/resource-tracker \
		node tests/e2e/dashboard_pictures.mjs docs/images

lint: tools
	@tools/lint.sh

help:
	@echo "make            build $(BUILD)/resource-tracker"
	@echo "make setup      install what building and testing need (Debian packages)"
	@echo "make demo       set up, build, and track a real job"
	@echo "make test       set up, build, run every test"
	@echo "make kernels    run the tests in virtual machines, under Linux 5.10, 6.1 and 6.12"
	@echo "make check      the quick loop: build, unit tests, quick tests of the program, law, format"
	@echo "make storm      kill, stop and starve the tracker for five minutes"
	@echo "make fuzz       fuzz each parser for ten minutes"
	@echo "make bench      set up, build, run the benchmarks, with other tools for comparison"
	@echo "make wheels     build the Python package for every Linux, x86_64 and aarch64"
	@echo "make release    build all artefacts of a release in $(BUILD)/release"
	@echo "make release-compare  build them again in another folder: every byte must be the same"
	@echo "make release-prove  install each artefact in a clean root folder and track a job there"
	@echo "make prove      what takes longer than make test: release, other systems, valgrind, all kernels"
	@echo "make docs       build the documentation as a site in $(BUILD)/site"
	@echo "make install    install below PREFIX=$(PREFIX), inside DESTDIR"
	@echo "make lint       check the code: law, format, clang-tidy, cppcheck, complexity"
	@echo "make format     apply clang-format"
	@echo "make page       regenerate the pages in src/ from web/"
	@echo "make clean      remove $(BUILD)/"
