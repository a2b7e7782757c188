# SPDX-License-Identifier: MIT
"""cstrace record: libraries that bind past the preload are traced, or a
line says that they are not."""

import pytest

from lib_build import build_library
from lib_cstrace import command
from lib_record import compiled, functions, record
from test_record_file import alone

PLUGIN = r"""
static void within(void) { }
#ifdef HAS_CONSTRUCTOR
__attribute__((constructor)) static void begin(void) { within(); }
#endif
void run(void) { within(); }
"""

HOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int flags = RTLD_NOW | (strstr(argv[2], "deep") ? RTLD_DEEPBIND : 0);
	void *plugin;

	if (strstr(argv[2], "lazy"))
		flags ^= RTLD_NOW | RTLD_LAZY;
	for (int i = 0; i < 3; i++) {
		plugin = strstr(argv[2], "space")
			? dlmopen(LM_ID_NEWLM, argv[1], flags)
			: dlopen(argv[1], flags);
		if (!plugin)
			return 1;
		((void (*)(void))dlsym(plugin, "run"))();
		dlclose(plugin);
	}
	return 0;
}
"""


def plugin(folder, *flags):
    source = folder / "plugin.c"
    source.write_text(PLUGIN)
    name = "audit_%d.so" % len(flags)
    return build_library(str(source), *flags, name="%s-%s" % (folder.name,
                                                              name))


@pytest.mark.parametrize("how", ["deep", "deep,lazy", "space", "space,lazy"])
def test_every_call_is_there(tmp_path, how):
    host = compiled(tmp_path, HOST, "host")
    done, found = record(tmp_path, host, plugin(tmp_path), how)
    assert done.returncode == 0
    assert functions(found) == ["main", *["run", "within"] * 3]
    assert "missing" not in done.stderr


def test_constructors_ran_before(tmp_path):
    host = compiled(tmp_path, HOST, "host")
    library = plugin(tmp_path, "-DHAS_CONSTRUCTOR")
    done, found = record(tmp_path, host, library, "deep")
    assert functions(found) == ["main", *["begin", "within", "run",
                                          "within"] * 3]
    done, found = record(tmp_path, host, library, "space")
    assert functions(found) == ["main", *["run", "within"] * 3]
    assert ("cstrace: of 3 libraries opened by dlmopen() the constructors' "
            "calls are missing\n") in done.stderr


@pytest.mark.parametrize("flags, is_traced", [
    ((), True), (("-Wl,-rpath,/nowhere",), False)])
def test_who_opens_it_matters(tmp_path, flags, is_traced):
    """A name without a slash, for which a run path is searched."""
    host = compiled(tmp_path, HOST, "host", *flags)
    library = plugin(tmp_path)
    done, found = record(
        tmp_path, "env", "LD_LIBRARY_PATH=%s" % library.parent, host,
        library.name, "space")
    assert done.returncode == 0
    assert functions(found) == ["main", *["run", "within"] * 3 * is_traced]
    assert is_traced != ("cstrace: calls in 3 libraries opened by dlmopen() "
                         "are missing" in done.stderr)


@pytest.mark.parametrize("is_raw", [False, True])
def test_what_is_missing_is_in_the_file(tmp_path, is_raw):
    """The commands that read the trace, of either kind, say what record's
    closing lines say; and it goes along into another file."""
    host = compiled(tmp_path, HOST, "host")
    library = plugin(tmp_path, "-DHAS_CONSTRUCTOR")
    said = ("of 3 libraries opened by dlmopen() the constructors' calls are "
            "missing\n")
    if is_raw:
        alone(tmp_path, host, library, "space", path="first.cst")
    else:
        done = command("record", "-o", "first.cst", host, library, "space",
                       cwd=tmp_path)
        assert done.stderr.endswith("cstrace: " + said)
    done = command("save", "first.cst", "second.cst", cwd=tmp_path)
    assert "cstrace: " + said in done.stderr
    for words in (["show"], ["report"]):
        done = command(*words, "second.cst", cwd=tmp_path)
        assert done.stderr == "cstrace: " + said
    done = command("info", "second.cst", cwd=tmp_path)
    assert "\nlost        none\nuntraced    " + said in done.stdout


# No memory is to be changed: as with kernels that keep /proc/self/mem from it.
SEALED = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	execv(argv[1], argv + 1);
	return 1;
}
"""


@pytest.mark.parametrize("how", ["deep", "deep,lazy", "space", "space,lazy",
                                 "plain"])
def test_what_cannot_be_patched_is_said(tmp_path, how):
    host = compiled(tmp_path, HOST, "host")
    sealed = compiled(tmp_path, SEALED, "sealed", "-fno-instrument-functions")
    done, found = record(tmp_path, sealed, host, plugin(tmp_path), how)
    assert done.returncode == 0
    said = ("cstrace: any calls in 3 libraries opened with RTLD_DEEPBIND or "
            "by dlmopen() are missing: /proc/self/mem cannot be written, use "
            "gdb\n")
    if how == "plain":
        assert functions(found) == ["main", *["run", "within"] * 3]
        assert "missing" not in done.stderr
    else:
        assert functions(found) == ["main"]
        assert done.stderr.endswith(said)
