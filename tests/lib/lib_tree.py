# SPDX-License-Identifier: MIT
"""Call trees as text that a test can hold in full:

    main
      middle  app.c:12
        leaf  app.c:7  (unwound)

made from what cstrace writes: saved text, live rows, JSON lines.  Times,
numbers of processes and columns are left out, what they look like is checked
on the way."""

import json
import re
from textwrap import dedent

from lib_build import TARGETS

_TIME = r"(?P<start> *\d+\.\d{6}| *before)  "
_DURATION = r"(?P<duration> *open| *-| *\d+ ns| *\d+(\.\d+)? (us|ms|s|m|h))([*~] |  )"
_CELL = (r"(?P<cell>(?P<tag>(p\d+:)?t\d+) +)?"
         r"(?P<id>(\d+:)?\d+\.s?\d+ +)?")
_ROW = re.compile("^" + _TIME + _DURATION + _CELL
                  + r"(?P<indent> *)(\[(?P<depth>\d+)\] )?(?P<rest>\S.*)$")
# Which thread a tag is.
_HEADING = re.compile(r"^# +(\S.*  )?CALL")
_NOTE = re.compile(r"^# (?P<tag>(p\d+:)?t\d+): (?P<name>.*) \((?P<tid>\d+)\)"
                   r"(, IDs (\d+:)?\d+\.N)?$")

_KEYS = {
    "id": str, "parent": (str, type(None)), "process": int, "thread": int,
    "lane": int, "depth": int, "function": str, "name": str, "symbol": (str, type(None)),
    "module": (str, type(None)), "file": (str, type(None)),
    "line": (int, type(None)), "start_ns": (int, type(None)),
    "duration_ns": (int, type(None)), "end": str,
}


class Row:
    """One row of text."""

    def __init__(self, match, threads, first):
        duration = match["duration"].strip()
        self.is_open = duration == "open"
        self.is_seed = match["start"].strip() == "before"
        self.id = (match["id"] or "").strip()
        tag = match["tag"] or ""
        assert tag in threads or not tag, "nothing tells who is " + tag
        # Rows with IDs have no tag: an ID's first numbers are it.
        tag = tag or re.sub(r"(?:(\d+):)?(\d+)\..*",
                            lambda m: "p%s:t%s" % m.groups() if m[1]
                            else "t" + m[2], self.id)
        self.tag = tag if tag in threads else ""
        self.thread, self.tid = threads.get(self.tag, ("", 0))
        # where the name begins, all columns before it; and where the heading
        # says that the tree does
        self.first = first
        self.column = match.end("indent")
        self.text = match["rest"]
        self.is_close = self.text.startswith("<- ")
        # beyond what is drawn by blanks
        self.deep = int(match["depth"] or 0)
        self.depth = 0

    def line(self):
        marks = "  (before)" if self.is_seed else ""
        marks += "  (open)" if self.is_open else ""
        return "  " * self.depth + self.text + marks


def rows(text):
    """The rows among the lines, in order, their depth filled in."""
    found, threads, first = [], {}, None
    for line in text.splitlines():
        note, row = _NOTE.match(line), _ROW.match(line)
        if _HEADING.match(line):
            first = line.index("CALL")
        if note:
            threads[note["tag"]] = note["name"], int(note["tid"])
        elif row:
            found.append(Row(row, threads, first))
    if found and found[0].first is None:
        first = min(row.column for row in found)
    for row in found:
        column = row.column - (first if row.first is None else row.first)
        # Two blanks a level, one beyond eight levels.
        assert column >= 16 or (column >= 0 and column % 2 == 0), \
            "crooked: " + row.text
        row.depth = row.deep or (column // 2 if column < 16 else column - 8)
    return found


def tree_of_text(text):
    """Rows of one thread, or of all, as a tree."""
    return "".join(row.line() + "\n" for row in rows(text))


def saved_tree(path):
    """A saved .txt: nothing but headings and rows may be in it."""
    text = path.read_text()
    for line in text.splitlines():
        assert line.startswith("#") or _ROW.match(line), "odd row: " + line
    assert "\033" not in text
    return tree_of_text(text)


def saved_trees(path):
    """The tree of each thread, by its name."""
    trees = {}
    for row in rows(path.read_text()):
        trees[row.thread] = trees.get(row.thread, "") + row.line() + "\n"
    return trees


def live_tree(text):
    """Live rows, closing rows folded into what they close: what the saved
    tree would be.  One thread only."""
    lines, stack = [], []
    for row in rows(text):
        if row.is_close:
            line = stack[row.depth]
            name = row.text[3:].replace("  (unwound)", "")
            assert lines[line].lstrip().startswith(name), row.text
            lines[line] = lines[line].replace("  (open)", "")
            if "  (unwound)" in row.text:
                lines[line] += "  (unwound)"
            continue
        del stack[row.depth:]
        stack.append(len(lines))
        lines.append(row.line())
    return "".join(line + "\n" for line in lines)


def read_jsonl(path):
    """The calls of a saved .jsonl, each checked against the contract."""
    calls = [json.loads(line) for line in path.read_text().splitlines()]
    for call in calls:
        for key, kind in _KEYS.items():
            assert key in call, "no %r in %s" % (key, call)
            assert isinstance(call[key], kind), "%r of %s" % (key, call)
        assert not set(call) - set(_KEYS) - {"args", "result", "kind",
                                             "exception", "from", "stopped"}
        assert call["end"] in ("return", "unwound", "open")
        assert (call["end"] == "open") == (call["duration_ns"] is None)
        assert re.fullmatch(r"(\d+:)?\d+\.s?\d+", call["id"])
    check_ids(calls)
    return calls


def check_ids(calls):
    """No ID twice, parents come first, on the same thread or lane."""
    seen = {}
    for call in calls:
        assert call["id"] not in seen, "twice: " + call["id"]
        seen[call["id"]] = call
        parent = call["parent"]
        if parent is not None:
            assert parent in seen, "%(id)s before its parent %(parent)s" % call
        if call["lane"] == 0 and parent is None:
            assert call["depth"] == 0, call
        elif call["lane"] == 0:
            assert call["depth"] == seen[parent]["depth"] + 1, call


def _base(path):
    return path.rsplit("/", 1)[-1]


def json_line(call, depth):
    text = "  " * depth + call["name"]
    place = call.get("from", call)
    if place["file"] is not None:
        text += "  " + _base(place["file"])
        if place["line"]:
            text += ":%d" % place["line"]
    text += "  (unwound)" if call["end"] == "unwound" else ""
    text += "  (before)" if call["start_ns"] is None else ""
    text += "  (open)" if call["end"] == "open" else ""
    return text + "\n"


def json_trees(calls):
    """The trees by thread id, from the links to the parents alone."""
    depths, trees = {}, {}
    for call in calls:
        parent = call["parent"]
        depth = 0 if parent is None else depths[parent] + 1
        depths[call["id"]] = depth
        trees.setdefault(call["thread"], []).append(json_line(call, depth))
    return {thread: "".join(lines) for thread, lines in trees.items()}


def json_tree(path):
    """The tree of a trace with one thread."""
    trees = list(json_trees(read_jsonl(path)).values())
    assert len(trees) == 1, "%d threads" % len(trees)
    return trees[0]


def tree(text):
    """The expectation as a test writes it: an indented block."""
    return dedent(text).strip("\n") + "\n"


def own_sites(text):
    """Call sites in the test programs only: whether the C library's are
    known depends on what is installed.  A destructor's is each compiler's
    choice, so it goes as well."""
    def keep(match):
        is_ours = (TARGETS / match["file"]).exists()
        is_destructor = "::~" in match["name"]
        return match["name"] + (
            match["site"] if is_ours and not is_destructor else "")

    return re.sub(r"^(?P<name>.*?)(?P<site>  (?P<file>[^ /:]+\.\w+)(:\d+)?)"
                  r"(?=  \(|$)", keep, text, flags=re.M)


def outcome(folder, name="t"):
    """What `save t.txt` and `save t.jsonl` have written, which must agree."""
    text = own_sites(saved_tree(folder / (name + ".txt")))
    json_text = own_sites(json_tree(folder / (name + ".jsonl")))
    assert text == json_text
    return text


# What tests/targets/calls.c does, in every build.
CALLS = tree("""
    main
      spread  calls.c:47
        pair  calls.c:38
          leaf  calls.c:16
          leaf  calls.c:16
        leaf  calls.c:40
        leaf  calls.c:40
      down  calls.c:49
        down  calls.c:23
          down  calls.c:23
            down  calls.c:23
      compare
      compare
      compare
      through  calls.c:51
        leaf  calls.c:33
      leaf  calls.c:53
      leaf  calls.c:53
    """)


def without_values(text):
    """Rows without the arguments and results of their calls."""
    return re.sub(r"(?<=\w)\([^\n]*?\)(?= = |  |$)| = [^ \n]+(?=  |$)", "",
                  text, flags=re.M)
