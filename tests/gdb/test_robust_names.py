# SPDX-License-Identifier: MIT
"""Names from a hostile program reach neither terminal nor file as they are,
and files are their owner's alone."""

import json
import os
import re
import stat
import subprocess

import pytest

from lib_build import BUILD, build
from lib_gdb import environment

# The names in the source; each is cut or filled up to its length.
NASTY = {
    b"escape_sequence_xxxxxxxx": b"red\x1b[31m\x1b]0;title\x07\x9b31m",
    b"line_break_xxxxxxxx": b"two\nlines\r\x0b\x0c\x08\x7f",
    b"broken_utf8_xxxxxxxx": b"bro\xff\xc3ken\xed\xa0\x80\xf4\x90\x80\x80\xe2",
    b"turned_around_xxxxxxxx": "turn\u202e\u2066\ufeff\u2028\u2060\u061c".encode(),
    b"quotes_xxxxxxxx": b"q\"uo\\te'%s\xc2\x9b",
}
LONGEST = "longername" * 10000


@pytest.fixture(name="nasty")
def nasty_program(tmp_path):
    binary = build("robust_names.c").read_bytes()
    for name, other in NASTY.items():
        assert len(other) <= len(name)
        assert name in binary
        binary = binary.replace(name, other + b"_" * (len(name) - len(other)))
    path = tmp_path / "robust_names"
    path.write_bytes(binary)
    path.chmod(0o755)
    return path


def check_is_plain(raw):
    """Valid UTF-8 of printable characters in lines of a sane length."""
    text = raw.decode("utf-8")
    bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f"
                    "\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]",
                    text)
    assert bad is None, repr(text[max(bad.start() - 60, 0):bad.end() + 60])
    return text


def test_nasty_names_are_escaped_everywhere(gdb, tmp_path, nasty):
    run = gdb(nasty, "set cstrace output live.txt", "cstrace start",
              "run", "cstrace save t.txt", "cstrace save t.jsonl",
              "cstrace save t.cst",
              r"python open('shown.txt', 'w').write(gdb.execute("
              r"'cstrace show', to_string=True))",
              r"python open('report.txt', 'w').write(gdb.execute("
              r"'cstrace report', to_string=True))")
    assert "7 calls in 1 thread" in run.out
    for name in ("live.txt", "t.txt", "shown.txt", "report.txt"):
        raw = (tmp_path / name).read_bytes()
        text = check_is_plain(raw)
        assert max(map(len, text.splitlines())) < 6000, name
        assert r"red\x1b[31m" in text and r"two\x0alines\x0d" in text, name
        assert "longernamelongername" in text
        assert len([line for line in text.splitlines()
                    if "longername" in line]) >= 1
    calls = [json.loads(line)
             for line in (tmp_path / "t.jsonl").read_bytes().splitlines()]
    assert len(calls) == 7
    assert calls[-1]["symbol"] == LONGEST or LONGEST.startswith(
        calls[-1]["symbol"][:4000])
    for control in range(0x20):
        if control != 0x0a:
            assert bytes([control]) not in (tmp_path / "t.jsonl").read_bytes()


def test_nasty_names_without_gdb(gdb, tmp_path, nasty):
    gdb(nasty, "set cstrace live off", "cstrace start", "run",
        "cstrace save t.cst")
    for command in ("show", "report", "info"):
        done = subprocess.run([str(BUILD / "cstrace"), command, "t.cst"],
                              cwd=tmp_path, env=environment(tmp_path),
                              stdout=subprocess.PIPE, check=True)
        check_is_plain(done.stdout)


# ---- other words ----------------------------------------------------------------

NASTY_WORD = b"w\x1b[31m\xe2\x80\xae\xc2\x9b\xe2\x81\xa0\n\xff"
SOURCE = r"""
#include <sys/prctl.h>
static void call(void) { }
int main(void)
{
	prctl(PR_SET_NAME, "t\033[2J\342\200\256\302\205");
	call();
	return 0;
}
"""
FORMATS = ("txt", "jsonl", "json", "speedscope", "folded", "callgrind", "dot",
           "otlp.json", "ctf",
           *(["html"] if (BUILD / "page.html").exists() else []))


@pytest.fixture(name="words")
def program_of_nasty_words(tmp_path):
    """A program, its file, its source's and its argument."""
    source = os.path.join(os.fsencode(tmp_path), NASTY_WORD + b".c")
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    subprocess.run([b"gcc", b"-g", b"-finstrument-functions", source, b"-o",
                    source[:-2]], check=True)
    return [source[:-2], NASTY_WORD]


def cstrace(folder, *words):
    return subprocess.run([str(BUILD / "cstrace"), *words], cwd=folder,
                          env=environment(folder), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def test_nasty_words_are_escaped_in_every_format(tmp_path, words):
    assert cstrace(tmp_path, "record", "--", *words).returncode == 0
    for ending in FORMATS:
        done = cstrace(tmp_path, "save", "cstrace.cst", "t." + ending)
        assert done.returncode == 0, done.stderr
        name = "t.ctf/metadata" if ending == "ctf" else "t." + ending
        check_is_plain((tmp_path / name).read_bytes())
    for command in ("show", "report", "info"):
        done = cstrace(tmp_path, command, "cstrace.cst")
        check_is_plain(done.stdout)
        assert br"\x1b" in done.stdout or command == "report"


def test_nasty_words_are_escaped_in_messages(tmp_path, words):
    for command in (["show", NASTY_WORD], ["check", *words],
                    ["diff", NASTY_WORD, NASTY_WORD], [NASTY_WORD],
                    ["record", NASTY_WORD], ["show", b"--" + NASTY_WORD]):
        done = cstrace(tmp_path, *command)
        assert done.returncode and b"\\x1b[31m" in done.stdout + done.stderr
        check_is_plain(done.stdout + done.stderr)


def test_gdb_is_told_nasty_words_escaped(gdb, tmp_path, words):
    assert cstrace(tmp_path, "record", "--", *words).returncode == 0
    run = gdb(None, "cstrace load cstrace.cst", "cstrace status")
    shown = [line for line in run.lines() if line.startswith("trace of ")]
    assert r"\x1b[31m\xe2\x80\xae\xc2\x9b" in shown[0]


# ---- files ----------------------------------------------------------------------


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_files_have_the_rights_that_the_umask_leaves(gdb, tmp_path):
    """What gdb keeps for itself is the owner's alone."""
    umask = os.umask(0o027)
    gdb(build("basic.c"), "set cstrace output live.txt", "cstrace start",
        "run", "cstrace save t.txt", "cstrace save t.jsonl",
        "cstrace save t.cst")
    os.umask(umask)
    for name in ("live.txt", "t.txt", "t.jsonl", "t.cst"):
        assert mode(tmp_path / name) == 0o640, name
    cache = tmp_path / ".cache" / "cstrace"
    if cache.exists():
        assert mode(cache) == 0o700


def test_saving_replaces_a_symlink_and_spares_what_it_leads_to(gdb, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("untouched\n")
    for name in ("t.txt", "t.jsonl", "t.cst"):
        (tmp_path / name).symlink_to(victim)
    gdb(build("basic.c"), "set cstrace live off", "cstrace start", "run",
        "cstrace save t.txt", "cstrace save t.jsonl", "cstrace save t.cst")
    assert victim.read_text() == "untouched\n"
    for name in ("t.txt", "t.jsonl", "t.cst"):
        assert not (tmp_path / name).is_symlink()
        assert (tmp_path / name).stat().st_size > 0


def test_a_temporary_file_that_is_planted_is_not_written(gdb, tmp_path):
    """Its name can be guessed: process and number."""
    victim = tmp_path / "victim"
    victim.write_text("untouched\n")
    run = gdb(build("basic.c"), "set cstrace live off", "cstrace start", "run",
              "python import os; [os.symlink('victim', '.cstrace-%d-%d.tmp' %"
              " (os.getpid(), i)) for i in range(50)]",
              "cstrace save t.txt")
    assert "saved to t.txt" in run.out
    assert victim.read_text() == "untouched\n"
    assert (tmp_path / "t.txt").stat().st_size > 0


def test_a_planted_cache_folder_is_not_used(gdb, tmp_path):
    """A symlink in place of the cache folder, and one open to all."""
    others = tmp_path / "others"
    others.mkdir()
    others.chmod(0o777)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "cstrace").symlink_to(others)
    run = gdb(build("basic.c"), "cstrace start", "run",
              "python from gdbext import locate; print('spool', "
              "locate.spool_dir()[0])", CSTRACE_CACHE="")
    assert "spool %s" % others not in run.out
    assert "exited normally" in run.out
