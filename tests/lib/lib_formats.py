# SPDX-License-Identifier: MIT
"""Reads the formats of other tools strictly, each into the same: lists of
calls by lane, checked for strict nesting."""

import json
import re
from typing import NamedTuple

import jsonschema

from lib_build import TESTS, build
from lib_cstrace import command

# Ways to choose calls, which each format honours alike.
CHOICES = [[], ["--depth", "2"], ["--filter", "even"],
           ["--exclude", "odd|leap"], ["--min-time", "200ns"],
           ["--thread", "2"], ["--std"], ["--below", "1.1", "--depth", "3"]]


def cstrace(folder, *words):
    return command(*words, cwd=folder)


def formats():
    """The names of all formats."""
    done = cstrace(".", "--complete", "save", "--format", "")
    return done.stdout.split()


def record(folder, *args):
    """formats.cc with these arguments, as FOLDER/t.cst."""
    record_program(folder, build("formats.cc"), *args)


def record_program(folder, program, *args):
    """Records another program; returns the folder."""
    done = cstrace(folder, "record", "-o", "t.cst", "--", program, *args)
    assert done.returncode == 0, done.stderr
    return folder


def save(folder, name, *options, told=""):
    """The bytes of t.cst, saved under this name."""
    done = cstrace(folder, "save", "t.cst", name, *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", told)
    return (folder / name).read_bytes()


def json_lines(folder, *options):
    """The calls as the JSON lines have them, which other tests look after."""
    return [json.loads(line)
            for line in save(folder, "t.jsonl", *options).splitlines()]


def calls_alone(folder, *options):
    """Without the lines that say where exceptions are thrown and caught."""
    return [c for c in json_lines(folder, *options) if "kind" not in c]


class Span(NamedTuple):
    function: str
    begin: int  # in nanoseconds
    end: int


def check_nesting(spans):
    """In order of entry: each within what is around it, or after it."""
    stack = []
    last = 0
    for span in spans:
        assert last <= span.begin <= span.end
        last = span.begin
        while stack and stack[-1].end <= span.begin and not (
                span.end <= stack[-1].end):
            stack.pop()
        if stack:
            assert span.end <= stack[-1].end, (stack[-1], span)
        stack.append(span)


def _no_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def strict_json(raw):
    """One JSON text in valid UTF-8, no key twice, nothing but JSON."""
    def no_constant(word):
        raise AssertionError(word)

    return json.loads(raw.decode("utf-8"), object_pairs_hook=_no_duplicates,
                      parse_constant=no_constant)


def _ps(number_text):
    whole, _, part = number_text.partition(".")
    assert re.fullmatch(r"\d+", whole)
    assert re.fullmatch(r"\d{3}(\d{3}(?<!000))?", part), number_text
    return int(whole) * 10**6 + int(part.ljust(6, "0"))


def _add_as_readers_do(tracks):
    """In floating point, after the track's first start or from zero: even so
    nothing but two starts may be equal, and each call is within its caller."""
    for track in tracks.values():
        for origin in (0.0, track[0][0]):
            ends = []
            last = -1.0
            for ts, dur in track:
                begin = ts - origin
                while ends and ends[-1] < begin:
                    last = max(last, ends.pop())
                assert last < begin, (ts, dur)
                assert not ends or begin + dur < ends[-1], (ts, dur)
                ends.append(begin + dur)


def chrome(raw):
    """(events, tracks): complete events with times in ns, and the names of
    (pid, tid)."""
    # It stays text, so that what is compared was not rounded by us.
    whole = json.loads(raw.decode("utf-8"), parse_float=lambda text: text,
                       object_pairs_hook=_no_duplicates)
    assert set(whole) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert whole["displayTimeUnit"] == "ns"
    names, events, tracks = {}, [], {}
    for e in whole["traceEvents"]:
        if e["ph"] == "M":
            assert not events
            names.setdefault(e["name"], {})[e["pid"], e["tid"]] = e["args"]
            continue
        assert e["ph"] == "X"
        tracks.setdefault((e["pid"], e["tid"]), []).append(
            (float(e["ts"]), float(e["dur"])))
        # What is between nanoseconds only keeps calls apart.
        begin, length = _ps(e["ts"]), _ps(e["dur"])
        e["ts"] = round(begin / 1000)
        e["dur"] = round((begin + length) / 1000) - e["ts"]
        events.append(e)
    _add_as_readers_do(tracks)
    return events, names


def speedscope(raw, unit="nanoseconds"):
    """Calls of each profile, in order of entry; the file obeys its schema."""
    whole = strict_json(raw)
    schema = json.loads((TESTS / "schema" / "speedscope.json").read_text())
    jsonschema.validate(whole, schema)
    frames = [f["name"] for f in whole["shared"]["frames"]]
    found = {}
    for profile in whole["profiles"]:
        assert profile["type"] == "evented"
        assert profile["unit"] == unit
        stack, spans, last = [], [], profile["startValue"]
        # The app exports sums of differences: the last may round past it.
        end = profile["endValue"] * (1 + 1e-12)
        for e in profile["events"]:
            assert last <= e["at"] <= end
            last = e["at"]
            if e["type"] == "O":
                stack.append(len(spans))
                spans.append(Span(frames[e["frame"]], e["at"], None))
            else:
                i = stack.pop()
                assert spans[i].function == frames[e["frame"]]
                spans[i] = spans[i]._replace(end=e["at"])
        assert not stack and spans
        assert profile["name"] not in found
        found[profile["name"]] = spans
    return found


def folded(raw):
    """Nanoseconds by stack, a tuple of functions."""
    found = {}
    for line in raw.decode("utf-8").splitlines():
        m = re.fullmatch(r"([^;]+(?:;[^;]+)*) (\d+)", line)
        assert m, line
        stack = tuple(m.group(1).split(";"))
        assert stack not in found
        found[stack] = int(m.group(2))
    return found


def stacks(calls, events):
    """The stacks from JSON lines: (own nanoseconds, calls) by stack.  What the
    open calls took is in the events only."""
    took = {e["args"]["id"]: e["dur"] for e in events}
    by_id = {c["id"]: c for c in calls}
    paths, own = {}, {}
    for c in calls:
        parent = by_id.get(c["parent"])
        path = (paths[parent["id"]] if parent else ()) + (
            c["function"].replace(";", ":"),)
        paths[c["id"]] = path
        total, n = own.get(path, (0, 0))
        own[path] = (total + took[c["id"]], n + 1)
        if parent:
            total, n = own[path[:-1]]
            own[path[:-1]] = (total - took[c["id"]], n)
    return own
