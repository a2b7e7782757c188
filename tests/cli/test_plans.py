# SPDX-License-Identifier: MIT
"""Plans of programs that were not built for tracing: each is held against the
bytes of its file, and some are applied, and the program does the same."""

import concurrent.futures
import fcntl
import functools
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from lib_build import BUILD, ROOT, folder
from lib_cstrace import command, cstrace

HERE = ROOT / "tests" / "plan"
PACKAGES = pathlib.Path("/var/lib/dpkg/info")
WANTED = """apt bash binutils-x86-64-linux-gnu bsdutils bzip2 coreutils curl dash
diffutils dpkg findutils gawk git gpg grep groff-base gzip less libapt-pkg6.0
libbz2-1.0 libc-bin libcurl4 libdw1 libelf1 libexpat1 libffi8 libgcrypt20
libglib2.0-0 libgmp10 libgnutls30 libgssapi-krb5-2 libicuuc72 libisl23
libjansson4 libjson-c5 liblz4-1 liblzma5 libmpc3 libmpfr6 libncursesw6 libnettle8
libp11-kit0 libpcre2-8-0 libpng16-16 libpython3.11-minimal libreadline8 libsqlite3-0
libssh2-1 libssl3 libstdc++6 libsystemd0 libtinfo6 libunistring2 libxml2
libzstd1 m4 make man-db mawk mount openssh-client patch perl-base procps
python3.11-minimal sed sqlite3 strace tar tmux util-linux vim-common xz-utils
zlib1g zsh zstd""".split()


@functools.lru_cache(maxsize=None)
def checker():
    """The program that makes a plan and finds what is wrong with it."""
    path = BUILD / "tests" / "plan" / "checker"
    with open(BUILD / "checker.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of other tests at the same time
        subprocess.run(["make", "-s", "-C", ROOT, path.relative_to(ROOT)],
                       check=True, timeout=400,
                       env={k: v for k, v in os.environ.items()
                            if not k.startswith("MAKE")})
    return path


def check(*words):
    """What the checker says of each file, and what is wrong."""
    done = subprocess.run([checker(), *map(str, words)], text=True,
                          capture_output=True, timeout=300, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


# ---- all bytes of many programs ------------------------------------------


def is_elf(path):
    """A program or library with code for this processor, not too large."""
    if not path.is_file() or path.is_symlink():
        return False
    with open(path, "rb") as file:
        head = file.read(20)
        size = file.seek(0, os.SEEK_END)
    return (head[:5] == b"\x7fELF\x02" and head[16] in (2, 3) and
            head[18:20] == b"\x3e\x00" and size < 8 << 20)


def files_of(package):
    """The package's programs and libraries that are installed."""
    lists = [PACKAGES / (package + end) for end in (".list", ":amd64.list")]
    found = set()
    for path in (path for path in lists if path.exists()):
        for line in path.read_text().splitlines():
            file = pathlib.Path(line)
            if "bin" in file.parts or ".so" in file.name:
                if is_elf(file):
                    found.add(file.resolve())
    return sorted(found)


def planned_of(package):
    """What the checker says of all files of the package."""
    files = files_of(package)
    rows, wrong = check(*files) if files else ([], "")
    assert len(rows) == len(files) or wrong, package
    return rows, wrong


@pytest.mark.skipif(not PACKAGES.is_dir(), reason="no packages of Debian's")
def test_plans_of_installed_packages():
    checker()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(planned_of, WANTED))
    wrong = [text for _, text in answers if text]
    assert not wrong, wrong[0][:2000]
    planned = [rows for rows, _ in answers if any(r["traced"] for r in rows)]
    assert len(planned) >= 30
    rows = [row for of_package in planned for row in of_package]
    traced = sum(row["traced"] for row in rows)
    assert traced > 0.97 * sum(row["functions"] for row in rows)
    exits = sum(row["exits"] for row in rows)
    assert exits > 0.95 * (exits + sum(row["missed"] for row in rows))


@pytest.mark.parametrize("library", ["libc.so.6", "libm.so.6", "libstdc++.so.6",
                                     "libz.so.1"])
@pytest.mark.parametrize("is_for_gdb", [0, 1])
def test_plans_of_the_border(library, is_for_gdb):
    """What gdb, a large program, calls in a library; not its own functions."""
    caller = shutil.which("gdb")
    path = subprocess.run(["gcc", "-print-file-name=" + library], text=True,
                          capture_output=True, check=True).stdout.strip()
    path = os.path.realpath(path)
    (row,), wrong = check("--for-gdb", is_for_gdb, "--border", caller, path)
    assert not wrong and row["wrong"] == 0
    assert row["traced"] > 0 and row["exits"] > row["missed"]
    (all_of_it,), _ = check(path)
    assert row["traced"] < (all_of_it["functions"] or 3000) / 2


@pytest.mark.parametrize("is_for_gdb", [0, 1])
@pytest.mark.parametrize("program", ["git", "python3.11", "bash", "vim.basic",
                                     "gdb"])
def test_plans_with_calls_at_the_stubs(program, is_for_gdb):
    """All that the program imports, as if none of it could be patched itself."""
    path = pathlib.Path("/usr/bin", program)
    if not path.exists():
        pytest.skip("there is no " + program)
    (alone,), wrong = check("--for-gdb", is_for_gdb, path)
    assert not wrong
    (row,), wrong = check("--for-gdb", is_for_gdb, "--calls", path, path)
    assert not wrong and row["wrong"] == 0
    assert row["traced"] > alone["traced"] + 50
    assert row["exits"] >= alone["exits"]


def test_a_plan_says_whether_there_is_debug_information(tmp_path):
    """Where there is none, no hook waits for values."""
    full, bare, apart = (tmp_path / name for name in ("full", "bare", "apart"))
    subprocess.run(["gcc", "-g", "-O1", "-o", full,
                    ROOT / "examples" / "calc.c"], check=True)
    subprocess.run(["strip", "-g", "-o", bare, full], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", full, tmp_path / "debug"],
                   check=True)
    subprocess.run(["objcopy", "--add-gnu-debuglink=debug", bare, apart],
                   check=True, cwd=tmp_path)
    rows, errors = check(full, bare, apart)
    assert [row["bare"] for row in rows] == [0, 1, 0], errors
    assert all(row["traced"] for row in rows)


# ---- the same results ----------------------------------------------------


@functools.lru_cache(maxsize=None)
def applier():
    """What applies a plan to the program that it is preloaded into."""
    out = folder() / "applier.so"
    subprocess.run(["gcc", "-O2", "-mgeneral-regs-only", "-shared", "-fPIC",
                    "-D_GNU_SOURCE", "-I", ROOT / "cshim/include",
                    HERE / "applier.c", "-o", out], check=True, timeout=100)
    return out


def run(command, patched=None, is_for_gdb=0, **more):
    """Output and status of the command, and what was seen of its calls: of
    the file `patched`, if that is given."""
    seen = folder() / "seen.json"
    seen.unlink(missing_ok=True)
    env = dict(os.environ, GMON_OUT_PREFIX=str(folder() / "gmon"), **more)
    if patched:
        plan = folder() / "plan"
        rows, wrong = check("--for-gdb", is_for_gdb, "--write", plan, patched)
        assert not wrong and rows[0]["wrong"] == 0
        env |= {"LD_PRELOAD": str(applier()), "PLAN": str(plan),
                "PLAN_OF": str(patched), "PLAN_SEEN": str(seen)}
    done = subprocess.run(list(map(str, command)), env=env, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    return ((done.stdout, done.stderr, done.returncode),
            json.loads(seen.read_text()) if seen.exists() else {})


def compiled(source, *flags):
    compiler = flags[0]
    if source.endswith(".cc"):
        compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
    out = folder() / ("%s%s" % (source, "".join(flags).replace("/", "")))
    subprocess.run([compiler, *flags[1:], "-w", HERE / source, "-o", out],
                   check=True, timeout=100)
    return out


WAYS = [("gcc", "-O0"), ("gcc", "-Og"), ("gcc", "-O1"), ("gcc", "-O2"),
        ("gcc", "-O2", "-g"), ("gcc", "-O3", "-fcf-protection"),
        ("gcc", "-Os", "-fno-pie", "-no-pie"),
        ("gcc", "-O2", "-fno-plt", "-fno-omit-frame-pointer"),
        ("clang", "-O0"), ("clang", "-O2"), ("clang", "-O2", "-g"),
        ("clang", "-Os", "-fno-pie", "-no-pie")]


@pytest.mark.parametrize("source", ["calls.c", "throws.cc"])
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_a_patched_program_does_the_same(source, way):
    program = compiled(source, *way)
    plain, _ = run([program])
    for more in {}, {"PLAN_ELSEWHERE": "1"}:
        patched, seen = run([program], program, PLAN_UNWINDS="1", **more)
        assert patched == plain
        assert seen["entered"] > 200 and seen["unwound"] > 200
        assert (seen["unmatched"], seen["lost"], seen["open"]) == (0, 0, 0)


@pytest.mark.parametrize("way", [
    ("gcc", "-O0", "-g"), ("clang", "-O0", "-g"),
    ("gcc", "-O1", "-g", "-fno-omit-frame-pointer"),
    ("gcc", "-O0", "-g", "-pg"), ("gcc", "-O2", "-g", "-pg", "-no-pie"),
    ("clang", "-O1", "-g", "-pg")], ids=" ".join)
def test_entries_behind_prologues(way):
    program = compiled("calls.c", *way)
    plain, _ = run([program])
    patched, seen = run([program], program, is_for_gdb=1, PLAN_UNWINDS="1")
    assert patched == plain
    assert seen["entered"] > 200 and seen["unwound"] > 200
    assert (seen["unmatched"], seen["lost"]) == (0, 0)


@pytest.mark.parametrize("way", [
    ("gcc", "-O1", "-g"), ("gcc", "-O2", "-g"), ("gcc", "-Os", "-g"),
    ("clang", "-O1", "-g"), ("clang", "-O2", "-g")], ids=" ".join)
@pytest.mark.parametrize("source", ["calls.c", "throws.cc"])
def test_entries_where_the_stack_pointer_has_moved(source, way):
    """A line of the source may begin behind a push: there is no room then at
    the function's own begin."""
    program = compiled(source, *way)
    plain, _ = run([program])
    patched, seen = run([program], program, is_for_gdb=1, PLAN_UNWINDS="1")
    assert patched == plain
    assert seen["entered"] > 200 and seen["unwound"] > 200
    assert (seen["unmatched"], seen["lost"]) == (0, 0)


def test_hosts_make_room_for_ends():
    """Without optimization an end has two bytes, and nothing lies beside it:
    without hosts 4 of these 16 ends had room."""
    (row,), wrong = check("--for-gdb", 1, compiled("calls.c", "gcc", "-O0", "-g"))
    assert not wrong and row["traced"] > 10
    assert row["missed"] < row["exits"]


def test_hosts_need_no_frame_pointer():
    """All that counts is that a frame is unwound in the same way in both
    places: one end of 32 had none before."""
    (row,), wrong = check("--for-gdb", 1, compiled("calls.c", "gcc", "-O2", "-g"))
    assert not wrong and row["traced"] > 10
    assert row["missed"] == 0


def test_a_short_jump_begins_where_a_host_is_unwound_alike(tmp_path):
    """Behind the pop frames are unwound otherwise than in the function: the jump
    must begin with it."""
    subprocess.run(["clang", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
                    ROOT / "tests" / "targets" / "begins.c", "-o", "app"],
                   cwd=tmp_path, check=True, timeout=100)
    done = cstrace(tmp_path, "check", "--patch", "--all", "app")
    assert "\n  sum_of\n    traced\n" in done.out


@pytest.mark.parametrize("command", [
    ["git", "-C", ROOT, "log", "--oneline", "-5"],
    ["bash", "-c", "f() { echo $1 $((3*4)); }; f a | cat; f b"],
    ["perl", "-e", 'print join(",", sort map { $_ * 2 } 1..50), "\n"'],
    ["python3.11", "-c", "import json; print(json.dumps(list(range(99))))"],
    ["vim.basic", "--version"],
    ["gdb", "-nx", "-batch", "-ex", "print 6*7"],
    ["sed", "-E", "s/(a)(b*)/\\2\\1/g", ROOT / "README.md"],
    ["gawk", "{ n += NF } END { print n }", ROOT / "README.md"],
], ids=lambda command: command[0])
def test_a_real_program_does_the_same(command):
    program = shutil.which(command[0], path="/usr/bin:/bin")
    if not program:
        pytest.skip("%s is not installed" % command[0])
    program = os.path.realpath(program)
    plain, _ = run([program, *command[1:]])
    patched, seen = run([program, *command[1:]], program)
    assert patched == plain
    assert seen["entered"] > 50 and seen["unmatched"] == 0


def test_a_patched_library_does_the_same():
    library = next((path for path in pathlib.Path(
        "/usr/lib/x86_64-linux-gnu").glob("libstdc++.so.6.*")
        if path.suffix != ".py"), None)
    if not library:
        pytest.skip("no libstdc++")
    program = compiled("throws.cc", "gcc", "-O2")
    plain, _ = run([program])
    patched, seen = run([program], library)
    assert patched == plain
    assert seen["entered"] > 100 and seen["unmatched"] == 0


# ---- cstrace check --patch -----------------------------------------------


SOURCE = """
int __attribute__((noinline)) twice(int n) { return n * 2; }
__asm__(".text\\n.p2align 4\\n.type bare, @function\\nbare: ret\\n.size bare, .-bare\\n.p2align 4");
int main(void) { return twice(21) != 42; }
"""


@pytest.fixture(name="app")
def fixture_app(tmp_path):
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True, timeout=100)
    return tmp_path


def test_check_says_what_is_left_out_and_why(app):
    done = cstrace(app, "check", "--patch", "--all", "app",
                   XDG_CACHE_HOME=str(app / "cache"))
    assert done.status == 0 and done.err == ""
    blocks = dict(block.strip().split("\n    ")
                  for block in done.out.split("\n\n")[1:])
    assert blocks["twice"] == blocks["main"] == "traced"
    assert blocks["bare"] == "left out: it has no call frame information"
    assert "written in assembler" in blocks["_start"]
    assert list(blocks)[-2:] == ["main", "twice"]


@pytest.mark.parametrize("flags", [[], ["-fno-plt"], ["-fcf-protection=full"],
                                   ["-no-pie", "-fno-pie"]], ids=" ".join)
def test_what_has_hooks_is_left_alone(app, flags):
    (app / "more.c").write_text("int more(int n) { return n + 1; }\n")
    subprocess.run(["gcc", "-O2", *flags, "-finstrument-functions", "-c",
                    "more.c"], cwd=app, check=True, timeout=100)
    subprocess.run(["gcc", "-O2", *flags, "app.c", "more.o", "-o", "app"],
                   cwd=app, check=True, timeout=100)
    done = cstrace(app, "check", "--patch=^(more|twice)$", "app")
    assert "more\n    left out: it reports its calls by itself" in done.out
    assert "twice\n    traced\n" in done.out


def test_check_of_chosen_functions(app):
    cache = {"XDG_CACHE_HOME": str(app / "cache")}
    for words in ["--patch=^twi", "app"], ["--patch", "app", "^twi"]:
        done = cstrace(app, "check", *words, "--format", "json", **cache)
        rows = json.loads(done.out)["rows"]
        assert [row["name"] for row in rows
                if row["kind"] == "function"] == ["twice"]
    done = cstrace(app, "check", "--patch=nowhere", "app", **cache)
    assert (done.status, "no function matches 'nowhere'" in done.out) == (
        1, True)
    done = cstrace(app, "check", "--patch=bare", "app", **cache)
    assert done.status == 1


# Only a part of the program was compiled with -g.
PARTS = {
    "main.c": "int a(int); int b(int);\nint main(void) { return a(b(20)) != 42; }\n",
    "a.c": "int a(int n) { return n * 2; }\n",
    "b.c": "int c(int); int b(int n) { return c(n); }\n",
    "c.c": "int c(int n) { return n + 1; }\n",
    "d.c": "int d(int n) { return n + 1; }\n",
}


def build_parts(folder, with_lines):
    for name, text in PARTS.items():
        (folder / name).write_text(text)
        subprocess.run(["gcc", "-O2", *["-g"] * (name in with_lines), "-c",
                        name], cwd=folder, check=True, timeout=100)
    subprocess.run(["gcc", *[name[0:-1] + "o" for name in PARTS], "-o", "app"],
                   cwd=folder, check=True, timeout=100)


def test_functions_without_lines_beside_others(tmp_path):
    build_parts(tmp_path, ["a.c"])
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    record = "record", "--force"
    done = cstrace(tmp_path, *record, "--patch", "./app", **cache)
    assert "patched 1 function of app" in done.err
    assert "4 more have no line information: the REGEX . adds" in done.err
    done = cstrace(tmp_path, "check", "--patch", "app", **cache)
    assert "lines       4 more have no line information" in done.out
    done = cstrace(tmp_path, *record, "--patch=.", "./app", **cache)
    assert "patched 5 functions of app" in done.err
    assert "line information" not in done.err
    done = cstrace(tmp_path, "show", "cstrace.cst")
    calls = [row.split()[4] for row in done.out.splitlines()[2:]]
    assert calls == ["main", "b", "c", "a"]
    build_parts(tmp_path, ["main.c", "a.c", "b.c"])
    done = cstrace(tmp_path, *record, "--patch", "./app", **cache)
    assert "patched 3 functions of app" in done.err
    assert "line information" not in done.err


def test_check_refuses_what_it_cannot_plan(app):
    (app / "text").write_text("not a program\n")
    subprocess.run(["gcc", "-c", "app.c"], cwd=app, check=True, timeout=100)
    for file in "text", "app.o", "absent":
        done = cstrace(app, "check", "--patch", file)
        assert done.status == 1 and done.out == ""
        assert "cannot plan '%s': it is no program or library" % file in done.err
    done = cstrace(app, "check", "--patch=(", "app")
    assert done.status == 1 and "(" in done.err
    done = cstrace(app, "check", "--patch=a", "app", "b")
    assert done.status == 2 and "one REGEX" in done.err


def test_plans_are_cached(app):
    plans = app / "cache" / "cstrace" / "plans"
    cache = {"XDG_CACHE_HOME": str(app / "cache")}
    first = cstrace(app, "check", "--patch", "app", **cache)
    (kept,) = plans.iterdir()
    made = kept.stat().st_ino
    assert cstrace(app, "check", "--patch", "app", **cache) == first
    assert [path.stat().st_ino for path in plans.iterdir()] == [made]
    whole = kept.read_bytes()
    for damaged in whole[:100], whole[:-8] + b"damaged!", b"":
        kept.write_bytes(damaged)
        assert cstrace(app, "check", "--patch", "app", **cache) == first
        assert kept.read_bytes() == whole
    cstrace(app, "check", "--patch=main", "app", **cache)
    subprocess.run(["strip", "app"], cwd=app, check=True, timeout=100)
    cstrace(app, "check", "--patch", "app", **cache)
    assert len(list(plans.iterdir())) == 3
    os.utime(kept, (0, 0))
    cstrace(app, "check", "--patch=twice", "app", **cache)
    assert not kept.exists() and len(list(plans.iterdir())) == 3


def test_threads_make_the_plan_that_one_makes(tmp_path):
    def on_one():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    for name, prepare in (("one", on_one), ("all", None)):
        done = command("check", "--patch", BUILD / "libcstrace-engine.so",
                       preexec_fn=prepare, env={
                           **os.environ, "XDG_CACHE_HOME": str(tmp_path / name)})
        assert done.returncode == 0, done.stderr
    one, whole = (next((tmp_path / name / "cstrace" / "plans").iterdir())
                  for name in ("one", "all"))
    assert one.name == whole.name
    assert one.read_bytes() == whole.read_bytes()


def test_a_large_file_is_announced_once(app):
    os.truncate(app / "app", 64 << 20)
    runs = [cstrace(app, "record", "--force", "--patch", "./app",
                    XDG_CACHE_HOME=str(app / "cache")) for _ in range(2)]
    assert [run.err.count("cstrace: the plan of app takes a while, once\n")
            for run in runs] == [1, 0]
    assert all("patched" in run.err for run in runs)


def test_a_cache_that_cannot_be_written_is_none(app):
    (app / "file").write_text("")
    done = cstrace(app, "check", "--patch", "app",
                   XDG_CACHE_HOME=str(app / "file"))
    assert done.status == 0 and "can be traced" in done.out


TIGHT = """
int v;
__attribute__((noinline)) int get(void) { return v; }
__attribute__((noinline)) void wait(volatile int *p) { while (*p) ; }
int main(void) { wait(&v); return get(); }
"""


@pytest.mark.parametrize("compiler, flags", [
    ("gcc", ["-fpatchable-function-entry=5"]),
    ("clang", ["-fxray-instrument", "-fxray-instruction-threshold=1"])])
def test_check_names_the_flag_that_makes_room(tmp_path, compiler, flags):
    (tmp_path / "app.c").write_text(TIGHT)
    rows = []
    for more in [], flags:
        subprocess.run([compiler, "-g", "-O1", "-fno-align-functions", *more,
                        "app.c", "-o", "app"], cwd=tmp_path, check=True,
                       timeout=100)
        done = cstrace(tmp_path, "check", "--patch", "app")
        rows.append(" ".join(done.out.split()))
    assert "has no room for a jump at its begin" in rows[0]
    assert " ".join(flags) in rows[0]
    assert "no room" not in rows[1]
    assert compiler == "gcc" or "estimated" not in rows[1]
    assert " ".join(flags) not in rows[1]


def _switch(number):
    cases = "".join("case %d: return use(a, %d) + %d;" % (
        case, number * 7 + case, case * 3 + number)
        for case in range(5 + number % 4))
    return """__attribute__((noinline)) int of%d(int a, int b)
{ use(a, b); switch (b) { %s } return use(b, a); }
""" % (number, cases)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
def test_switches_whose_tables_lie_side_by_side(tmp_path, compiler, level):
    """What is read beyond a table's end leads into other functions' begins."""
    source = "int use(int a, int b);" + "".join(map(_switch, range(60)))
    source += "int x; int use(int a, int b) { return x += a ^ b; } int main(void) {"
    source += "for (int i = 0; i < 9; i++) {%s} return x & 63; }" % "".join(
        "use(of%d(i, i + 1), i);" % i for i in range(60))
    (tmp_path / "app.c").write_text(source)
    subprocess.run([compiler, level, "app.c", "-o", "app"], cwd=tmp_path,
                   check=True, timeout=100)
    done = cstrace(tmp_path, "check", "--patch=^of", "app")
    assert "60 of 60 functions can be traced" in done.out
    status = subprocess.run([tmp_path / "app"], timeout=100,
                            check=False).returncode
    done = cstrace(tmp_path, "record", "--patch=^of", "-o", "app.cst", "./app",
                   CSTRACE_CHECK_ENDS="1")
    assert (done.status, "540 calls" in done.err) == (status, True), done.err
