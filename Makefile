# SPDX-License-Identifier: MIT
#
# make                  build/libcstrace.so, libcstrace-engine.so, cstrace and
#                       libcstrace-sample.so
# make demo             watch gdb draw the call tree of an example
# make test             all tests; RING=unit|shim|gdb and TEST=name choose
# make test-quick       before a commit: the unit tests that are quick, the checks
#                       that compile nothing, a few tests in gdb (90 seconds)
# make check T=FILE     one test, building just what it needs: the path of a test
#                       program or test file, as tests/unit/test_writer or
#                       tests/gdb/test_trees.py::test_name
# make lint bench fmt   checks, benchmarks, formatting of the sources
# make fuzz SECONDS=600 hostile trace files, with clang's libFuzzer
# make fidelity         docs/fidelity.md, from runs of the hard cases;
#                       with REAL=1 from real programs (needs the network)
# make pictures         the pictures of README.md, from real runs
# make page             what `save x.html` needs; tried again if npm was missing
# make compile_commands.json   how each file is compiled, for editors and clangd
# make install PREFIX=  (DESTDIR= too), make uninstall, make clean
# make help             this text
#
# CC=clang and SANITIZE=address,undefined (or thread) build elsewhere as well;
# SHIM_DEBUG=1 builds the shim for being debugged itself (cshim/shim/rooms.mk); V=1
# shows the commands.  The sources are listed by name in the *.mk files.

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
GDB ?= gdb
# gdb embeds the system's Python, so the tests run in that one as well.
PYTHON := /usr/bin/python3
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)

comma := ,
SANITIZE ?=
BUILD ?= build$(if $(SANITIZE),/sanitize-$(subst $(comma),-,$(SANITIZE)))
Q := $(if $(V),,@)
# One line for each thing made; none with make -s.
QUIET := $(V)$(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(QUIET),,@printf '  %-4s %s\n' $(1) $@)

export CC CXX GDB

include cshim/shim/rooms.mk
include cshim/engine/rooms.mk
include cshim/sampler/files.mk
include cshim/cli/files.mk
include tests/unit/files.mk
include tests/shim/files.mk

ENGINE_SRC := $(foreach r,$(ENGINE_ROOMS),$(addprefix cshim/engine/$r/,$($r_SRC)))

# ThreadSanitizer cannot follow threads of a fork child, nor any that share
# their thread data; and a thread of its own outlives the one that may only exit.
# Nor does it see that the shim, which is not instrumented, waits for a callback.
ifeq ($(SANITIZE),thread)
SHIM_TESTS := $(filter-out forks guests guests_raw vforked strict filters watch kept,$(SHIM_TESTS))
# Its runtime's own code stands in what test_step_out steps through.
UNIT_TESTS := $(filter-out test_step_out,$(UNIT_TESTS))
endif

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
SHIM_OBJ := $(call objects,$(SHIM_SRC))
SHIM_SO_OBJ := $(call objects,$(SHIM_SO_SRC))
SHIM_A_OBJ := $(call objects,$(SHIM_A_SRC))
ENGINE_OBJ := $(call objects,$(ENGINE_SRC))
CLI_OBJ := $(call objects,$(CLI_SRC))
SAMPLER_OBJ := $(call objects,$(SAMPLER_SRC))
UNIT_BIN := $(addprefix $(BUILD)/tests/unit/,$(UNIT_TESTS))
SHIM_BIN := $(addprefix $(BUILD)/tests/shim/,$(SHIM_TESTS))

WARN := -Wall -Wextra $(WERROR)
BASE := -std=gnu11 -D_GNU_SOURCE= -DCST_VERSION='"$(VERSION)"' -Icshim/include
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all)
ENGINE_CFLAGS := -fPIC -fvisibility=hidden -iquote cshim/engine
ENGINE_LIBS := -lpcre2-8 -lzstd -ldw -lelf -lz -liberty -lZydis -lunwind-ptrace \
	-lunwind-x86_64 -lm -lpthread
CLI_LIBS := -lbfd
# A library with undefined names is a mistake, but sanitizers leave some.
NO_UNDEFINED := $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)

PRODUCTS := $(BUILD)/libcstrace.so $(BUILD)/libcstrace.a \
	$(BUILD)/static.opts $(BUILD)/libcstrace-engine.so $(BUILD)/cstrace \
	$(BUILD)/libcstrace-sample.so

all: $(PRODUCTS) $(BUILD)/page.made

# Nobody's first look waits for npm.
programs: $(PRODUCTS)

.SECONDEXPANSION:

# ---- compile ---------------------------------------------------------------

# Other flags or another compiler mean other objects.
FLAGS_NOW := $(CC) $(CFLAGS) $(BASE) $(SAN) $(SHIM_CFLAGS) $(SHIM_LDFLAGS) $(WERROR) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@

# The layout that Python and the engine must have in common.
$(BUILD)/abi.h: tools/gen-abi $(addprefix cshim/include/cstrace/,control.h plan_layout.h engine.h)
	@mkdir -p $(@D)
	@n=$$($(PYTHON) tools/gen-abi --version) && echo "#define CST_ABI $$n" > $@

$(BUILD)/packages:
	@tools/packages check build
	@mkdir -p $(@D) && touch $@

# The shim is a guest in programs of all kinds: never instrumented itself.
$(SHIM_OBJ) $(SHIM_SO_OBJ) $(SHIM_A_OBJ): $(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/packages
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(WARN) -MMD -MP $(SHIM_CFLAGS) -c $< -o $@

$(SAMPLER_OBJ): $(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/packages
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(WARN) -MMD -MP $(SAMPLER_CFLAGS) -c $< -o $@

$(CLI_OBJ): ENGINE_CFLAGS += -iquote cshim/cli
$(BUILD)/obj/cshim/engine/api/install.o: ENGINE_CFLAGS += -include $(BUILD)/abi.h
$(BUILD)/obj/cshim/engine/api/install.o: $(BUILD)/abi.h
$(ENGINE_OBJ) $(CLI_OBJ): $(BUILD)/obj/%.o: %.c $(BUILD)/flags \
		| $(BUILD)/packages
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(WARN) -MMD -MP $(ENGINE_CFLAGS) $(SAN) \
		-c $< -o $@

# Each room of the engine is an archive.  A test links its room and those that
# this one may use, and no other: a call that goes where it may not is a name
# that the linker does not find.
ENGINE_ARCHIVES := $(ENGINE_ROOMS:%=$(BUILD)/rooms/%.a)
below = $1 $(foreach r,$($1_USES),$(call below,$r))
archives = $(patsubst %,$(BUILD)/rooms/%.a,$(sort $(call below,$1)))

$(ENGINE_ARCHIVES): $(BUILD)/rooms/%.a: $$(call objects,$$(addprefix \
		cshim/engine/$$*/,$$($$*_SRC)))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# ---- link ------------------------------------------------------------------

# gdb sets a breakpoint on each function of a name: those that stand before
# libc's are for the dynamic linker only, and `break begin` means the program's.
name_apart = nm $1 | awk '$$2 ~ /^[bdrt]$$/ && $$3 !~ /^(cstrace|_)/ \
	{ print $$3, "cstrace." $$3 }' | sort -u > $1.names && \
	objcopy --redefine-syms=$1.names $1

$(BUILD)/libcstrace.so: $(SHIM_OBJ) $(SHIM_SO_OBJ) $(SHIM_DEPS)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(SHIM_CFLAGS) -shared -Wl,-soname,libcstrace.so \
		-Wl,-z,defs $(LDFLAGS) $(SHIM_LDFLAGS) $(SHIM_OBJ) $(SHIM_SO_OBJ) \
		-o $(BUILD)/obj/shim.so
	$(Q)nm -D --defined-only $(BUILD)/obj/shim.so | \
		awk '$$3 !~ /^(cstrace_|__cyg_)/ { print $$3 }' \
		> $(BUILD)/obj/shim.names
	$(Q)objcopy --strip-symbols=$(BUILD)/obj/shim.names \
		$(BUILD)/obj/shim.so
	$(Q)$(call name_apart,$(BUILD)/obj/shim.so)
	$(Q)cp $(BUILD)/obj/shim.so $@

# One object with its inner names made local: they must not meet the names of
# the program that links it.
$(BUILD)/libcstrace.a: $(SHIM_OBJ) $(SHIM_A_OBJ)
	$(call say,AR)
	$(Q)$(LD) -r -o $(BUILD)/obj/shim.o $^
	$(Q)objcopy --localize-hidden $(BUILD)/obj/shim.o
	$(Q)$(call name_apart,$(BUILD)/obj/shim.o)
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/obj/shim.o

# For the linker of a static program: -Wl,@static.opts.
$(BUILD)/static.opts: cshim/shim/rooms.mk
	$(call say,MAKE)
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(SHIM_STATIC_OPTIONS) > $@

$(BUILD)/libcstrace-engine.so: $(ENGINE_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(SAN) -shared -Wl,-soname,libcstrace-engine.so \
		-Wl,--exclude-libs,ALL $(NO_UNDEFINED) $(LDFLAGS) $^ \
		$(ENGINE_LIBS) -o $@

$(BUILD)/libcstrace-sample.so: $(SAMPLER_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libcstrace-sample.so \
		-Wl,-z,defs $(LDFLAGS) $(SAMPLER_LDFLAGS) $^ \
		-o $(BUILD)/obj/sample.so
	$(Q)$(call name_apart,$(BUILD)/obj/sample.so)
	$(Q)cp $(BUILD)/obj/sample.so $@

$(BUILD)/cstrace: $(CLI_OBJ) $(ENGINE_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) $^ $(CLI_LIBS) $(ENGINE_LIBS) -o $@

# ---- page ------------------------------------------------------------------

PAGE_SRC := $(addprefix page/, make build.js package.json package-lock.json \
	.npmrc $(addprefix src/, page.html style.css main.js about.js boxes.js \
	callgraph.js chart.js colors.js copy.js data.js details.js format.js \
	graph.js legend.js link.js list.js minimap.js names.js \
	recursion.js runs.js search.js table.js touch.js tracks.js tree.js))

# Made whether there is a page or not: without npm it is not tried each time.
$(BUILD)/page.made: $(PAGE_SRC)
	$(call say,PAGE)
	@mkdir -p $(@D)
	$(Q)page/make build/page $(BUILD)/page.html && touch $@

page:
	@rm -f $(BUILD)/page.made
	@$(MAKE) --no-print-directory -s $(BUILD)/page.made

# ---- tests -----------------------------------------------------------------

tests: all $(UNIT_BIN) $(SHIM_BIN) $(BUILD)/tests/plan/checker

# For the test NAME: NAME_SRC further sources, NAME_CFLAGS, NAME_LIBS.  Tests
# fill in the fields that matter to them and leave the others 0.
TEST_BUILD = $(CC) $(CFLAGS) $(BASE) $(WARN) -Wno-missing-field-initializers \
	-MMD -MP -MF $@.d $(SAN) $($(@F)_CFLAGS)

$(UNIT_BIN): $(BUILD)/tests/unit/%: tests/unit/%.c $$($$*_SRC) \
		$$(call archives,$$($$*_ROOM)) \
		| $(BUILD)/libcstrace.so
	$(call say,TEST)
	@mkdir -p $(@D)
	$(Q)$(TEST_BUILD) -iquote cshim/engine $< $($(@F)_SRC) \
		-Wl,--start-group $(call archives,$($(@F)_ROOM)) -Wl,--end-group \
		$(LDFLAGS) -lcmocka $(ENGINE_LIBS) $($(@F)_LIBS) -o $@

# What holds plans against the files that they are of: tests/cli/test_plans.py.
$(BUILD)/tests/plan/checker: $(addprefix tests/plan/,checker.c checker.h \
		trampolines.c facts.c facts.h) $(call archives,plan)
	$(call say,TEST)
	@mkdir -p $(@D)
	$(Q)$(TEST_BUILD) -iquote cshim/engine $(filter %.c,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(LDFLAGS) $(ENGINE_LIBS) -o $@

# Of several sources at once the compiler tells the last one's headers only.
$(SHIM_BIN): $(BUILD)/tests/shim/%: tests/shim/%.c $$($$*_SRC) \
		$(wildcard tests/shim/*.h) | $(BUILD)/libcstrace.so
	$(call say,TEST)
	@mkdir -p $(@D)
	$(Q)$(TEST_BUILD) -pthread $< $($(@F)_SRC) $(LDFLAGS) -L$(BUILD) -lcstrace \
		-Wl,-rpath,'$$ORIGIN/../..' -lcmocka $($(@F)_LIBS) -o $@

# The packages come first, so the rest is made by a make of its own: as many
# jobs as there are processors, unless the user said how many.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,\
	-j$(shell nproc))

test:
	@tools/packages install build run test
	+@$(SUBMAKE) tests
	@$(PYTHON) tools/run-tests $(if $(SANITIZE),--sanitized) \
		--build '$(BUILD)' --ring '$(RING)' --only '$(TEST)' \
		--unit '$(UNIT_TESTS)' --shim '$(SHIM_TESTS)'

# The units that take longest are left out.  Those in gdb are some that fail
# first: trees in each build, commands and help against the manual, the same text
# in gdb and the command, starts in the middle, stops, a front end.
QUICK_UNIT := $(filter-out test_args test_frames test_writer test_badfile,$(UNIT_TESTS))
QUICK_GDB := tests/cli/test_manual.py $(addprefix tests/gdb/,test_trees.py \
	test_same_text.py \
	test_middle.py::test_start_at_a_breakpoint_has_the_open_calls \
	test_reasons.py::test_a_signal_is_read_behind_all_rows \
	test_mi.py::test_rows_come_before_the_stop)

quick-tests: all $(addprefix $(BUILD)/tests/unit/,$(QUICK_UNIT))

test-quick:
	@tools/packages install build run test lint
	+@$(SUBMAKE) quick-tests
	@tools/lint --quick
	@$(PYTHON) tools/run-tests --build '$(BUILD)' --unit '$(QUICK_UNIT)' \
		--gdb '-k "not nopie and not library" $(QUICK_GDB)'

# One test, without a look at the packages, and without npm: only tests
# that save a page have it made.  T is its file, with or without the ending, and for
# pytest's also ::test_name.
PAGE_TESTS := tests/gdb/test_page% tests/cli/test_page% \
	tests/gdb/test_replacing% tests/gdb/test_robust_names%

check:
	$(if $(T),,$(error which test? T=tests/unit/test_writer, \
		T=tests/shim/ring, or T=tests/gdb/test_trees.py::test_name))
	+@$(SUBMAKE) $(if $(filter tests/unit/% tests/shim/%,$(T)),\
		$(BUILD)/$(basename $(T)),$(if \
		$(filter $(PAGE_TESTS),$(T)),all,programs))
	@$(if $(filter tests/unit/% tests/shim/%,$(T)),$(BUILD)/$(basename $(T)),\
		PYTHONPATH=tools TEST_LIMIT_S=600 PYTHONDONTWRITEBYTECODE=1 \
		$(PYTHON) -m pytest -q -p pytest_limit -p no:cacheprovider '$(T)')

compile_commands.json: FORCE
	@tools/compile-commands

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

# All that reads what comes from outside (trace files, areas, expected trees),
# with clang and its sanitizers in a build of its own; SECONDS for each.  What is
# found stays in the folder as crash-*, timeout-*, oom-*.  With a SEED the same
# things are tried again, and with RUNS as many on a fast machine as on a slow one.
SECONDS ?= 600
RUNS ?= -1
SEED ?= 0
FUZZ := build/fuzz
FUZZ_CFLAGS := -O1 -g
FUZZERS := fuzz_trace fuzz_area fuzz_live fuzz_golden fuzz_plan

fuzz:
	+@$(SUBMAKE) BUILD=$(FUZZ) CC=clang SANITIZE=address,undefined \
		CFLAGS='$(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link' \
		$(addprefix $(FUZZ)/,seeds $(FUZZERS) tests/plan/checker)
	@cd $(FUZZ) && mkdir -p $(addprefix corpus/,$(FUZZERS)) \
		$(addprefix first/,$(FUZZERS)) && ./seeds first/fuzz_trace \
		first/fuzz_live
	@printf 'thread 1:1\nmain\n  f x 3\n    *\n  unordered:\n    /g+/\n!h\n' \
		> $(FUZZ)/first/fuzz_golden/all
	@$(CC) -O2 -s tests/plan/calls.c -o $(FUZZ)/first/fuzz_plan/calls
	@$(FUZZ)/tests/plan/checker --write $(FUZZ)/first/fuzz_plan/plan \
		$(FUZZ)/first/fuzz_plan/calls > $(FUZZ)/planned
	@cd $(FUZZ) && for f in $(FUZZERS); do ./$$f -max_total_time=$(SECONDS) -timeout=20 \
		-runs=$(RUNS) -seed=$(SEED) \
		-rss_limit_mb=1024 -max_len=40000 -print_final_stats=1 \
		-verbosity=0 corpus/$$f first/$$f || exit; done

$(addprefix $(BUILD)/,$(FUZZERS)): $(BUILD)/%: tests/fuzz/%.c \
		tests/unit/area_builder.h tests/fuzz/fuzz_text.h $(ENGINE_OBJ) \
		| $(BUILD)/page.made
	$(call say,FUZZ)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(WARN) -Wno-missing-field-initializers \
		$(SAN) -fsanitize=fuzzer -iquote cshim/engine -iquote tests/unit \
		$(filter-out %.h,$^) $(LDFLAGS) $(ENGINE_LIBS) -o $@

$(BUILD)/seeds: tests/fuzz/seeds.c tests/unit/trace_builder.h $(ENGINE_OBJ)
	$(call say,FUZZ)
	$(Q)$(CC) $(CFLAGS) $(BASE) $(WARN) -Wno-missing-field-initializers \
		$(SAN) -iquote cshim/engine -iquote tests/unit $(filter-out %.h,$^) \
		$(LDFLAGS) -lcmocka $(ENGINE_LIBS) -o $@

demo:
	@tools/packages install build run
	+@$(SUBMAKE) programs
	@examples/demo

fidelity:
	@tools/packages install build run test $(if $(REAL),real)
	@$(MAKE) --no-print-directory all
	@tests/fidelity/table $(if $(REAL),real)
	$(if $(REAL),@tests/reference/real)

pictures:
	@tools/packages install build run pictures
	+@$(SUBMAKE) all
	@tools/pictures

lint:
	@tools/packages install build run test lint
	+@$(SUBMAKE) all
	@tools/lint

bench:
	@tools/packages install build run bench
	+@$(SUBMAKE) all
	@tests/bench/run

# To see a variable's value: make print-UNIT_TESTS.
print-%:
	@echo $($*)

fmt:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cc')
	{ git ls-files '*.py'; git ls-files tools tests | xargs grep -lE '^#!.*python3?$$'; } | \
		sort -u | xargs autopep8 -i

# ---- install ---------------------------------------------------------------

install: all
	@DESTDIR='$(DESTDIR)' tools/install install '$(BUILD)' '$(DESTDIR)$(PREFIX)'

uninstall:
	@DESTDIR='$(DESTDIR)' tools/install uninstall '$(BUILD)' '$(DESTDIR)$(PREFIX)'

clean:
	rm -rf build

FORCE:
.PHONY: all programs page tests test quick-tests test-quick check help demo fidelity pictures lint bench fmt install uninstall clean FORCE
.DELETE_ON_ERROR:

-include $(SHIM_OBJ:.o=.d) $(SHIM_SO_OBJ:.o=.d) $(SHIM_A_OBJ:.o=.d)
-include $(ENGINE_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(SAMPLER_OBJ:.o=.d)
-include $(UNIT_BIN:=.d) $(SHIM_BIN:=.d) $(BUILD)/tests/plan/checker.d
