# SPDX-License-Identifier: MIT
"""Reads the folders of other tools by those tools, into lists of calls by
(process, thread)."""

import re
import subprocess
from dataclasses import dataclass, field
from typing import Optional

from lib_formats import cstrace

STACKS_FROM = 10000000  # the tid of a stack that is not its thread's own


@dataclass
class Call:
    """What a tool knows of a call; times in ns since the trace began."""

    function: str
    depth: int
    begin: int
    end: Optional[int] = None
    fields: dict = field(default_factory=dict)


def save_folder(folder, name, *options, told=""):
    """t.cst saved under this name."""
    done = cstrace(folder, "save", "t.cst", name, *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", told)
    return folder / name


def run_tool(*words):
    """What it says; not a word on standard error."""
    done = subprocess.run(list(map(str, words)), text=True, timeout=240,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


# ---- CTF ------------------------------------------------------------------------

_EVENT = re.compile(
    r"\[(\d+)\] (?:\S+ )?(lttng_ust_\w+:\w+): "
    r'\{ vpid = (\d+), vtid = (\d+), procname = ("(?:[^"\\]|\\.)*") \}, '
    r"\{(.*)\}")
_FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|\( "\w+" : container = \d+ \)'
                    r"|\[.*?\]|0x[0-9A-F]+|\d+)")


def _value(text):
    if text.startswith("0x"):
        return int(text, 16)
    if text.startswith("("):
        return text.split('"')[1]
    if text.startswith("["):
        return [int(v, 16) for v in re.findall(r"= 0x([0-9A-F]+)", text)]
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return int(text)


def ctf_events(path):
    """(time, name, pid, tid, fields) of each event, in order of time."""
    out = run_tool("babeltrace2", "--clock-cycles", "--no-delta", path)
    found = []
    for line in out.splitlines():
        m = _EVENT.fullmatch(line)
        assert m, line
        fields = {k: _value(v) for k, v in _FIELD.findall(m.group(6))}
        fields["procname"] = _value(m.group(5))
        found.append((int(m.group(1)), m.group(2), int(m.group(3)),
                      int(m.group(4)), fields))
    times = [e[0] for e in found]
    assert times == sorted(times)
    return found


def ctf_calls(path):
    """Each exit is that of the innermost open entry, and all have one."""
    lanes, stacks = {}, {}
    for at, name, pid, tid, fields in ctf_events(path):
        stack = stacks.setdefault((pid, tid), [])
        if name == "lttng_ust_cyg_profile:func_entry":
            call = Call(fields["name"], len(stack), at, None, fields)
            stack.append(call)
            lanes.setdefault((pid, tid), []).append(call)
        elif name == "lttng_ust_cyg_profile:func_exit":
            call = stack.pop()
            assert call.fields["addr"] == fields["addr"]
            call.end = at
            call.fields["end"] = fields["end"]
            call.fields["stopped"] = fields["stopped"]
        else:
            assert name.startswith("lttng_ust_statedump:") and at == 0
    assert not any(stacks.values())
    return lanes


# ---- uftrace --------------------------------------------------------------------

_RECORD = re.compile(r"(\d+)\.(\d{9}) +(\d+): \[(entry|exit )\] "
                     r"(.*)\([0-9a-f]+\) depth: (\d+)")
_TASK = re.compile(r"(SESS|TASK) timestamp=(\d+)\.(\d{9}) (?:tid=(\d+) )?"
                   r'pid=(\d+)(?: sid=0{15}1 exename="[^"]*")?')


def _ns(seconds, ns):
    return int(seconds) * 10**9 + int(ns)


def uftrace_tasks(path):
    """(when the trace began, the process of each thread)."""
    began, tasks = set(), {}
    for line in (path / "task.txt").read_text().splitlines():
        m = _TASK.fullmatch(line)
        assert m, line
        began.add(_ns(m.group(2), m.group(3)))
        if m.group(4):
            tasks[int(m.group(4))] = int(m.group(5))
    (began,) = began
    return began, tasks


def uftrace_calls(path):
    began, tasks = uftrace_tasks(path)
    lanes, stack, last = {}, [], 0
    for line in run_tool("uftrace", "dump", "--demangle=no", "-d",
                         path).splitlines():
        m = _RECORD.fullmatch(line)
        if not m:
            assert re.match(r"uftrace file header: |reading \d+\.dat|$", line)
            assert not stack
            last = 0
            continue
        tid, at = int(m.group(3)), _ns(m.group(1), m.group(2)) - began
        assert at >= last
        last = at
        if m.group(4) == "entry":
            assert len(stack) == int(m.group(6))
            stack.append(Call(m.group(5), len(stack), at))
            lanes.setdefault((tasks[tid], tid), []).append(stack[-1])
        else:
            call = stack.pop()
            assert (call.function, len(stack)) == (m.group(5),
                                                   int(m.group(6)))
            call.end = at
    assert not stack and set(tasks) == {tid for _, tid in lanes}
    return lanes


def uftrace_tree(path, tid):
    """(depth, function) of a thread's calls, as replay draws them."""
    found = []
    for line in run_tool("uftrace", "replay", "--no-merge", "-f", "none",
                         "--demangle=no", "--tid", tid, "-d",
                         path).splitlines():
        name = line.lstrip(" ")
        if not line or name.startswith("}"):
            continue
        assert name.endswith(" {"), line
        found.append(((len(line) - len(name)) // 2, name[:-2]))
    return found


def uftrace_report(path):
    """Calls of each function."""
    lines = run_tool("uftrace", "report", "--demangle=no", "-d",
                     path).splitlines()
    found = {}
    for line in lines[2:]:
        # Times of 0 are left blank.
        m = re.fullmatch(r"(?: +[\d.]+ +\w+){0,2} +(\d+)  (.*)", line)
        assert m, line
        found[m.group(2)] = int(m.group(1))
    return found
