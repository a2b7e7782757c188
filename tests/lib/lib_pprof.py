# SPDX-License-Identifier: MIT
"""Reads pprof's profile.proto, after its own description of the fields."""

import gzip
from collections import namedtuple

Sample = namedtuple("Sample", "stack values")  # names, innermost first
Profile = namedtuple("Profile", "types samples period mappings")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each; the value is a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            assert at + size <= len(data)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def read(path):
    with gzip.open(path) as file:
        parts = list(fields(file.read()))
    strings = [v.decode() for n, v in parts if n == 6]
    assert strings[0] == ""

    def messages(field):
        return [dict(fields(v)) for n, v in parts if n == field]

    functions = {f[1]: strings[f[2]] for f in messages(5)}
    names = {m[1]: functions[dict(fields(m[4]))[1]] for m in messages(4)}
    samples = [Sample([names[i] for i in numbers(s.get(1, b""))],
                      numbers(s[2])) for s in messages(2)]
    return Profile([(strings[t[1]], strings[t[2]]) for t in messages(1)],
                   samples, dict(parts).get(12),
                   [strings[m[5]] for m in messages(3)])
