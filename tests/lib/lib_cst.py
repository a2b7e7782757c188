# SPDX-License-Identifier: MIT
"""A second reader of trace files, made after docs/trace-format.md alone: where
the two differ, the page is wrong or the file is."""

import ctypes
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Optional, Tuple

(META, NAMES, THREADS, CALLS, PAUSES, END, INDEX, MODULES, SEAL,
 PLACES, ENDS, SIZES, SAMPLES, STACKS) = range(1, 15)
NUMBERS, OTHER_THREADS, NOTES, VALUES, SIZES_OF = 1, 2, 8, 16, 32  # of CALLS
SPAN, MESSAGE, COUNT, ASYNC, ASYNC_END, VETO, POINT = range(8, 15)  # kinds
UNWOUND, LEFT_OPEN, SEED = 1, 2, 4

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_char_p, ctypes.c_size_t]
_zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]


def decompress(data, most):
    """All frames in data, one behind the other."""
    out = ctypes.create_string_buffer(most or 1)
    size = _zstd.ZSTD_decompress(out, most, data, len(data))
    assert not _zstd.ZSTD_isError(size)
    return out.raw[:size]


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def is_over(self):
        return self.at == len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def varints(self, n):
        return [self.varint() for _ in range(n)]

    def bytes(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def text(self):
        n = self.varint()
        return self.bytes(n - 1).decode() if n else None

    def value(self):
        """One of those that a program recorded: its kind and what it is."""
        kind = chr(self.byte())
        if kind == "i":
            n = self.varint()
            return kind, n >> 1 ^ -(n & 1)
        if kind in "uxpd":
            return kind, self.varint()
        if kind in "IUP":
            return kind.lower(), int.from_bytes(
                self.bytes(6 if kind == "P" else 8), "little",
                signed=kind == "I")
        if kind in "sS":
            return kind, self.bytes(self.varint()).decode()
        if kind == "f":
            return kind, struct.unpack("<d", self.bytes(8))[0]
        if kind in "cb":
            return kind, self.byte()
        assert kind in "0?"
        return kind, None

    def column(self, n):
        codes, low = self.bytes((n + 3) // 4), self.bytes(n)
        more = [(0, 1, 3, 7)[codes[i // 4] >> i % 4 * 2 & 3]
                for i in range(n)]
        return [low[i] | int.from_bytes(self.bytes(more[i]), "little") << 8
                for i in range(n)]


@dataclass
class Call:
    lane: int
    site: int
    thread: int
    number: int
    depth: int
    start: int
    end: Optional[int] = None
    how: str = "open"
    is_seed: bool = False
    thrown: Optional[int] = None  # the function that stands for it
    values: Tuple[Tuple[str, Any], ...] = ()
    result: Tuple[Tuple[str, Any], ...] = ()


class Trace:
    """names of functions and sites, threads, lanes; calls by lane."""

    def __init__(self, data):
        assert data[:16] == b"cstrace\x1a" + struct.pack("<II", 1, 0)
        self.functions, self.sites, self.callers = {}, {}, {}
        self.kinds_of, self.value_names = {}, {}
        self.threads, self.lanes, self.calls = {}, {}, {}
        self.sizes = {}  # bytes, by function
        self.places, self.nodes = [], [None]  # of stacks
        self.samples, self.rate, self.n_samples_lost = [], None, 0
        self.kinds = []
        at = 16
        while at < len(data):
            at = self._block(data, at)

    def _block(self, data, at):
        magic, kind, n_info, n_data, info_sum, head_sum = struct.unpack_from(
            "<6I", data, at)
        assert magic == 0x6b6c4243
        assert zlib.crc32(data[at:at + 20]) == head_sum
        info = data[at + 24:at + 24 + n_info]
        body = data[at + 24 + n_info:at + 24 + n_info + n_data]
        assert zlib.crc32(info) == info_sum
        self.kinds.append(kind)
        if kind == CALLS:
            self._calls(Cursor(info), body)
        elif kind in (META, NAMES, THREADS, PLACES, SIZES, SAMPLES, STACKS):
            size = Cursor(info).varint()
            plain = decompress(body, size)
            assert len(plain) == size
            {META: self._meta, NAMES: self._names, PLACES: self._places,
             THREADS: self._threads, SIZES: self._sizes,
             SAMPLES: self._samples, STACKS: self._stacks}[kind](Cursor(plain))
        return at + 24 + n_info + n_data

    def _meta(self, c):
        self.version, self.host, self.command, self.program = (
            c.text() for _ in range(4))
        self.start_ticks, self.start_wall_ns, self.mult, self.shift = \
            c.varints(4)

    def _names(self, c):
        while not c.is_over():
            what = c.byte()
            if what == 1:
                function = c.varint()
                c.varint()  # its address
                kind = c.byte() >> 1
                name, symbol, module, _file = (c.text() for _ in range(4))
                is_exception = 0 < kind < SPAN  # its symbol is its type's
                self.functions[function] = (
                    name, None if is_exception else symbol, module)
                self.kinds_of[function] = kind
            elif what == 3:
                function = c.varint()
                self.value_names[function] = c.text().split(",")
            else:
                assert what == 2
                site, function, line = c.varints(3)
                self.sites[site] = (function, c.text(), line)

    def _places(self, c):
        while not c.is_over():
            if c.byte() == 1:
                function, space = c.varints(2)
                assert function in self.functions and space > 0
            else:
                site, space, caller, _hook = c.varints(4)
                assert site in self.sites and space > 0
                self.callers[site] = caller

    def _sizes(self, c):
        while not c.is_over():
            function, size = c.varints(2)
            assert function in self.functions and size > 0
            self.sizes[function] = size

    def _stacks(self, c):
        while not c.is_over():
            what, number = c.byte(), c.varint()
            if what == 1:
                assert number == len(self.places)
                self.places.append((c.varint(), c.varint()))
                assert self.places[-1][0] in self.functions
            else:
                assert what == 2 and number == len(self.nodes)
                self.nodes.append((c.varint(), c.varint()))
                assert self.nodes[-1][0] < number

    def _samples(self, c):
        tick = 0
        while not c.is_over():
            what = c.byte()
            if what == 1:
                self.rate = c.varints(3)
            elif what == 2:
                thread, step, node, weight = c.varints(4)
                tick = (tick + (step >> 1 ^ -(step & 1))) % 2 ** 64
                assert thread in self.threads and node < len(self.nodes)
                self.samples.append((thread, tick, node, weight >> 1))
            else:
                assert what == 3
                self.n_samples_lost = c.varint()

    def stack(self, node):
        """The names of its functions, innermost first."""
        names = []
        while node:
            node, place = self.nodes[node]
            names.append(self.functions[self.places[place][0]][0])
        return names

    def _threads(self, c):
        while not c.is_over():
            if c.byte() == 1:
                thread, process, pid, ordinal, tid = c.varints(5)
                self.threads[thread] = (process, pid, ordinal, tid, c.text())
            else:
                lane, process, thread, ordinal = c.varints(4)
                self.lanes[lane] = (process, thread, ordinal)

    def _calls(self, c, body):
        (lane, first_seq, n, n_late, number, thread, flags, depth, _parent,
         tick, _last, n_closed, n_tail, _unwound, _seeds, n_marks) = \
            c.varints(16)
        n_notes = c.varint() if flags & NOTES else 0
        n_values, n_value_bytes = c.varints(2) if flags & VALUES else (0, 0)
        assert n_notes <= n
        calls = self.calls.setdefault(lane, [])
        assert len(calls) == first_seq
        for _ in range(n_late):
            late = calls[first_seq - c.varint()]
            late.end = c.varint()
            how = c.byte()
            late.how = (None, "return", "unwound", "unwound")[how & 7]
            if how & 7 == 3:
                late.thrown = c.varint()
            if how & 8:
                late.result = self._values(c.bytes(c.varint()))
        if n:
            columns = Cursor(decompress(body, n_value_bytes + 16 + 9 * (
                6 * n + 2 * n_marks + 2 * n_values)))
            sites, pops, starts = (columns.column(n) for _ in range(3))
            ends = columns.column(n_closed)
            numbers = columns.column(n) if flags & NUMBERS else [0] * n
            threads = columns.column(n) if flags & OTHER_THREADS \
                else [thread] * n
            marks = columns.column(2 * n_marks)
            if flags & SIZES_OF:
                sizes = [columns.column(n), columns.column(n_closed)]
            else:
                pairs = columns.column(2 * n_values)
            value_bytes = Cursor(columns.bytes(n_value_bytes))
            assert columns.is_over()
            for i in range(n):  # each is at least the next one
                number = (number + numbers[i] + (i > 0)) % 2 ** 64
                numbers[i] = number
            ended = self._put(lane, tick, depth, n_tail, pops, starts, ends,
                              zip(sites, threads, numbers))
            self._mark(calls[first_seq:], marks)
            if flags & SIZES_OF:
                self._take_values(calls[first_seq:], calls, ended, sizes,
                                  value_bytes)
            else:
                self._take_pairs(calls[first_seq:], pairs, value_bytes)
            assert value_bytes.is_over()

    def _take_values(self, block, calls, ended, sizes, value_bytes):
        for call, size in zip(block, sizes[0]):
            call.values = self._values(value_bytes.bytes(size))
        for seq, size in zip(ended, sizes[1]):
            calls[seq].result = self._values(value_bytes.bytes(size))

    def _take_pairs(self, block, pairs, value_bytes):
        at = 0
        for step, size in zip(pairs[::2], pairs[1::2]):
            at += step >> 1
            values = self._values(value_bytes.bytes(size))
            if step & 1:
                block[at].result = values
            else:
                block[at].values = values

    @staticmethod
    def _values(data):
        c, values = Cursor(data), []
        while not c.is_over():
            values.append(c.value())
        return tuple(values)

    def _put(self, lane, tick, depth, n_tail, pops, starts, ends, rest):
        calls, opened, ends = self.calls[lane], [], iter(ends)
        level, ended = depth + pops[0], []

        def close():
            nonlocal tick
            tick = (tick + next(ends)) % 2 ** 64
            calls[opened[-1]].end = tick
            calls[opened[-1]].how = "return"
            ended.append(opened.pop())

        for (site, thread, number), n_pops, step in zip(rest, pops, starts):
            for _ in range(min(n_pops, len(opened))):
                close()
            level -= n_pops
            tick = (tick + step) % 2 ** 64
            calls.append(Call(lane, site, thread, number, level, tick))
            opened.append(len(calls) - 1)
            level += 1
        for _ in range(n_tail):
            close()
        assert next(ends, None) is None
        return ended

    @staticmethod
    def _mark(calls, marks):
        at = 0
        for step, mark in zip(marks[::2], marks[1::2]):
            at += step
            if mark & UNWOUND:
                calls[at].how = "unwound"
                calls[at].thrown = mark // 8 - 1 if mark >= 8 else None
            if mark & LEFT_OPEN:
                calls[at].how, calls[at].end = "open", None
            calls[at].is_seed = bool(mark & SEED)

    def ns(self, ticks):
        return ticks * self.mult >> self.shift

    def call_id(self, call):
        process, _pid, ordinal, _tid, _name = self.threads[call.thread]
        return "%s%d.%s%d" % ("%d:" % process if process > 1 else "", ordinal,
                              "s" * call.is_seed, call.number)

    def rows(self):
        """The rows by ID, with the keys of the JSON lines that mean this."""
        found = {}
        for call in (c for calls in self.calls.values() for c in calls):
            function, file, line = self.sites[call.site]
            name, symbol, module = self.functions[function]
            _process, pid, _ordinal, tid, _name = self.threads[call.thread]
            found[self.call_id(call)] = {
                "process": pid, "thread": tid,
                "lane": self.lanes[call.lane][2], "depth": call.depth,
                "function": name, "symbol": symbol, "module": module,
                "file": file, "line": line or None,
                "start_ns": None if call.is_seed else
                self.ns(call.start - self.start_ticks),
                "duration_ns": None if call.end is None else
                self.ns(call.end - max(call.start, self.start_ticks)),
                "end": call.how}
        return found
