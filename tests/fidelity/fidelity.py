# SPDX-License-Identifier: MIT
"""Runs programs that say themselves what their call tree is (expect.h), and
compares that with what cstrace recorded of them.

A case is one program; a build is one compiler and level. compare() answers
None where the tree is right, else what exactly is not.
"""

import collections
import functools
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

import recipes
from recipes import build, recipe

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))

from lib_build import builds, once  # noqa: E402
from lib_debug import gdb_words  # noqa: E402

TOP = HERE.parent.parent
TIMEOUT = 400
OR_NONE = 10000  # as in lines.c
NAMELESS = "(anonymous namespace)::"  # which no regex meets
# What the linker's optimizer adds to the symbols of static functions.
CLONE = re.compile(r"(\.lto_priv)?\.\d+$")


def deep_stack():
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))
    except (ValueError, OSError):
        pass


def record(program, folder, start="cstrace start", settings=()):
    """gdb's output and the two files: of the program and of the recorder."""
    told = folder / (program.name + ".told")
    tree = folder / (program.name + ".jsonl")
    # All of the run, whatever signals it has.
    commands = ["handle all nostop noprint pass", "set cstrace live off",
                *settings, start, "run 9>%s" % told,
                "cstrace save %s" % tree]
    words = [os.environ.get("GDB", "gdb"), "-q", "-nx", *gdb_words(), "-batch",
             "-x", str(TOP / "cstrace.py")]
    for c in commands:
        words += ["-ex", c]
    done = subprocess.run([*words, str(program)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=TIMEOUT, errors="replace",
                          cwd=folder, env={**os.environ, "SHELL": "/bin/sh"},
                          preexec_fn=deep_stack)
    return done.stdout, told, tree


def record_alone(program, folder, *options):
    """Records without gdb."""
    told = folder / (program.name + ".told")
    tree = folder / (program.name + ".jsonl")
    trace = folder / (program.name + ".cst")
    command = str(recipes.BUILD / "cstrace")
    output = ""
    for words in (["record", *options, "-o", trace, "--", "sh", "-c",
                   'exec "$0" 9>"$1"', program, told],
                  ["save", trace, tree]):
        output += subprocess.run(
            [command, *map(str, words)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=TIMEOUT, errors="replace", cwd=folder,
            preexec_fn=deep_stack).stdout
    return output, told, tree


def functions_told(program, folder):
    """The functions that the program tells of, as a regex: a run of it alone
    says so.  They are those that would have hooks.  None: they have no names.
    """
    told = folder / (program.name + ".names")
    subprocess.run(["sh", "-c", 'exec "$0" 9>"$1"', program, told],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=TIMEOUT, cwd=folder,
                   preexec_fn=deep_stack, check=False)
    groups, counts = told_groups(told)
    names = {re.sub(r"(?<=.)\(.*", "", n.replace(NAMELESS, "")) for n in {
        *counts, *(c[1] for stack in groups.values() for c in stack)}}
    if any("+0x" in name for name in names):
        return None
    return "^(%s)" % "|".join(re.escape(n).replace("\\ ", ".")
                              for n in sorted(names))


def record_patched(program, folder):
    """In gdb, where there are no hooks."""
    names = functions_told(program, folder)
    return record(program, folder, start="cstrace start -no-args -patch" +
                  (" -functions '%s'" % names if names else ""))


def record_patched_alone(program, folder):
    names = functions_told(program, folder)
    return record_alone(program, folder,
                        "--patch=" + names if names else "--patch")


def n_left_out(output):
    """How many functions cstrace says that it has not patched."""
    line = re.search(r"left out (.*)", output)
    return sum(map(int, re.findall(r"(\d+) as ", line[1]))) if line else 0


def without(groups, names):
    """What the program tells, as if it had no such functions."""
    kept = {}
    for key, calls in groups.items():
        taken, kept[key] = [], []  # the depths of those that are open
        for depth, name, line in calls:
            while taken and taken[-1] >= depth:
                taken.pop()
            if name in names:
                taken.append(depth)
            else:
                kept[key].append((depth - len(taken), name,
                                  None if taken else line))
    return {key: calls for key, calls in kept.items() if calls}


def told_groups(path):
    """What the program wrote: {stack: [(depth, name, line)]}, where a line of
    None was not written and one above 10000 may be unknown, and counts by name."""
    groups, counts = collections.defaultdict(list), {}
    for line in path.read_text().splitlines():
        if line.startswith("counts "):
            words = line.split()[1:]
            counts.update(zip(words[::2], map(int, words[1::2])))
            continue
        pid, tid, stack, depth, name = line.split(" ", 4)
        key = (pid, tid) if stack == "-" else (pid, stack)
        name, _, number = name.partition("\t")
        groups[key].append((int(depth), name,
                            int(number) if number else None))
    return groups, counts


def read_calls(path):
    with open(path) as f:
        for line in f:
            call = json.loads(line)
            if "kind" not in call:  # an exception, thrown or caught
                yield call


def only(calls, names):
    """The calls of these functions, as if there were no others.  Without hooks
    each function has calls, those too that the program says nothing of."""
    kept = {None: (None, 0)}  # of each call: the nearest one that stays
    for c in calls:
        parent, depth = kept[c["parent"]]
        if CLONE.sub("", c["function"]) in names:
            kept[c["id"]] = (c["id"], depth + 1)
            yield {**c, "parent": parent, "depth": depth}
        else:
            kept[c["id"]] = (parent, depth)


def recorded_groups(calls):
    groups = collections.defaultdict(list)
    for c in calls:
        key = ((c["process"], c["thread"]) if not c["lane"]
               else (c["process"], "lane", c["lane"]))
        groups[key].append((c["depth"], CLONE.sub("", c["function"]),
                            c["line"]))
    return groups


def tree_fault(calls):
    """Each call lies within its caller, in place and in time."""
    seen, last = {}, {}
    for c in calls:
        parent = seen.get(c["parent"])
        if c["parent"] is not None:
            if parent is None:
                return "%s: its caller %s does not come before it" % (
                    c["id"], c["parent"])
            if parent["depth"] + 1 != c["depth"]:
                return "%s is not one below %s" % (c["id"], c["parent"])
        start, duration = c["start_ns"], c["duration_ns"]
        lane = (c["process"], c["thread"], c["lane"])
        if start is not None:
            if start < last.get(lane, 0):
                return "%s began before the call before it" % c["id"]
            last[lane] = start
            if (parent and parent["start_ns"] is not None
                    and parent["duration_ns"] is not None
                    and duration is not None
                    and start + duration > parent["start_ns"]
                    + parent["duration_ns"] + 1):
                return "%s outlives its caller" % c["id"]
        seen[c["id"]] = c
    return None


def difference(told, recorded):
    for i, (a, b) in enumerate(zip(told, recorded)):
        if a[:2] != b[:2]:
            return "call %d is %r at depth %d, not %r at %d" % (
                i + 1, b[1], b[0], a[1], a[0])
        line = a[2] and a[2] % OR_NONE
        if line not in (None, b[2]) and (a[2] < OR_NONE or b[2]):
            return "call %d, of %r, is in line %s, not %d" % (
                i + 1, a[1], b[2], line)
    if len(recorded) != len(told):
        return "%d calls, not %d" % (len(recorded), len(told))
    return None


def shape(calls):
    return [c[:2] for c in calls]


def counts_fault(counts, calls):
    have = collections.Counter(c["function"] for c in calls)
    have["(open)"] = sum(c["end"] == "open" for c in calls)
    for name, n in counts.items():
        if have[name] != n:
            return "%d calls of %s, not %d" % (have[name], name, n)
    return None


def cut(groups, depth):
    """What there is of these groups down to so many levels."""
    kept = {key: [c for c in calls if c[0] < depth]
            for key, calls in groups.items()}
    return {key: calls for key, calls in kept.items() if calls}


def compare(told_path, tree_path, has_lines=True, keep_depth=None,
            has_hooks=True, n_out=0):
    groups, counts = told_groups(told_path)
    calls = list(read_calls(tree_path))
    if not has_hooks:
        fault = tree_fault(calls)
        if fault:
            return fault
        names = {*counts, *(c[1] for g in groups.values() for c in g)}
        missing = names - {CLONE.sub("", c["function"]) for c in calls}
        if len(missing) <= n_out:
            groups = without(groups, missing)
            counts = {n: counts[n] for n in counts if n not in missing}
        calls = list(only(calls, names))
    if keep_depth is not None:
        groups, counts = cut(groups, keep_depth), {}
    fault = tree_fault(calls) or counts_fault(counts, calls)
    if not has_lines and any(c["line"] and c["depth"] for c in calls):
        fault = fault or "lines from nowhere"
    if fault or not groups:
        return fault or (None if counts else "the program told nothing")
    told = sorted(groups.values(), key=shape)
    recorded = sorted(recorded_groups(calls).values(), key=shape)
    if len(told) != len(recorded):
        return "%d stacks, not %d" % (len(recorded), len(told))
    return next(filter(None, map(difference, told, recorded)), None)


def built(case, compiler, level, make=build, folder="fidelity"):
    """The program, built once for all the ways to record it; or None."""
    path = builds() / folder / ("%s-%s%s" % (case, compiler, level))
    once(path, lambda: make(case, compiler, level, path.parent))
    return path if path.exists() else None


def check(case, compiler, level, folder, recorder=record, keep_depth=None,
          has_hooks=True, **how):
    """None: right; "skip": no such compiler; else the fault."""
    program = built(case, compiler, level) if has_hooks else built(
        case, compiler, level, functools.partial(build, has_hooks=False),
        "fidelity-without-hooks")
    if program is None:
        return "skip"
    output, told, tree = recorder(program, folder, **how)
    if not tree.exists() and not has_hooks and n_left_out(output):
        return "all left out"
    if not tree.exists():
        return "no tree was saved: %s" % output.strip()[-300:]
    return compare(told, tree, has_lines="-g" in recipe(case).base,
                   keep_depth=keep_depth, has_hooks=has_hooks,
                   n_out=n_left_out(output))
