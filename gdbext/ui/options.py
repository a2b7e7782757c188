# SPDX-License-Identifier: MIT
"""The options of our commands, in gdb's style: `-depth 5`, unambiguous
prefixes, `--` ends them; and their completion."""

from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple, Optional

import gdb

from .words import instead

_UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_UNITS_BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

# One word: quoted parts keep their blanks; a backslash stands for itself
# (it belongs to a regex) unless a blank or a quote follows.
_WORD = r"""(?:"[^"]*"|'[^']*'|\\[\s"']|[^\s"'\\]|\\)+"""
_PART = r""""([^"]*)"|'([^']*)'|\\([\s"'])|([^\s"'\\]+|\\)"""


_OPERATOR = r"operator *(\(\)|<=>|<<=?|>>=?|->\*?|[<>]=?)"


class Option(NamedTuple):
    name: str
    read: Optional[Callable[[str, str], Any]]  # (option, word); None: a flag
    completion: Any = None  # a gdb.COMPLETE_... or a list of words
    default: Any = None  # the value without a word behind the option


def unquote(word: str) -> str:
    return "".join("".join(m.groups("")) for m in re.finditer(_PART, word))


def first_word(text: str) -> tuple[str, str]:
    """The first word, unquoted, and the rest of the text."""
    text = text.lstrip()
    m = re.match(_WORD, text)
    if m is None:
        if text:
            raise gdb.GdbError("unbalanced quote in: %s" % text)
        return "", ""
    rest = text[m.end():]
    if rest and not rest[0].isspace():
        raise gdb.GdbError("unbalanced quote in: %s" % text)
    return unquote(m.group()), rest.lstrip()


def _raw_word(text: str) -> tuple[str, str]:
    """The first word with its quotes and the blanks behind it, and the rest;
    with a quote that has no other half: all."""
    m = re.match(_WORD, text)
    end = m.end() if m else len(text)
    if end < len(text) and not text[end].isspace():
        return text, ""
    rest = text[end:].lstrip()
    return text[:len(text) - len(rest)], rest


def _is_balanced(name: str) -> bool:
    """Are its brackets, but for those of operators?"""
    name = re.sub(_OPERATOR, "", name)
    return all(name.count(a) == name.count(b) for a, b in (("(", ")"), ("<", ">")))


def first_function(text: str) -> tuple[str, str]:
    """The first word, as first_word() finds it; a name with its parameters, as
    completion writes it, may have blanks between its brackets."""
    word, rest = first_word(text)
    name, behind = word, rest
    while behind and not _is_balanced(name) and text.lstrip()[:1] not in "\"'":
        more, behind = first_word(behind)
        name += " " + more
    return (name, behind) if _is_balanced(name) else (word, rest)


def words(text: str) -> list[str]:
    found = []
    text = text.strip()
    while text:
        word, text = first_word(text)
        found.append(word)
    return found


def the_regex(text: str) -> Optional[str]:
    """What is left of the line as one regex: it may hold blanks, and may be
    quoted as a whole."""
    text = text.strip()
    if not text:
        return None
    if text[0] in "\"'" and re.fullmatch(_WORD, text):
        return unquote(text)
    return text


def _match(name: str, options: list[Option], command: str) -> Option:
    exact = [o for o in options if o.name == name]
    found = exact or [o for o in options if o.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    allowed = ["-" + o.name for o in (found or options)]
    if found:
        raise gdb.GdbError("%s: -%s is ambiguous: %s"
                           % (command, name, ", ".join(allowed)))
    raise gdb.GdbError("%s: no option -%s%s"
                       % (command, name, instead(name, allowed)))


def parse(text: str, options: list[Option],
          command: str) -> tuple[dict[str, Any], str]:
    """The values of the options, by name with "_" for "-", and the rest of
    the text: what stands before, between and behind them, and all behind a
    "--"."""
    values: dict[str, Any] = {}
    others: list[str] = []
    text = text.strip()
    while text:
        if not text.startswith("-"):
            other, text = _raw_word(text)
            others.append(other)
            continue
        word, rest = first_word(text)
        if word == "--":
            others.append(rest)
            break
        option = _match(word[1:], options, command)
        key = option.name.replace("-", "_")
        if option.read is None:
            values[key] = True
        elif option.default is not None and rest[:1] in ("", "-"):
            values[key] = option.default
        else:
            if not rest:
                raise gdb.GdbError("%s: -%s needs a value"
                                   % (command, option.name))
            if key in values and option.read in (
                    read_function, read_text, read_condition):
                raise gdb.GdbError(
                    "%s: -%s is there twice: %s"
                    % (command, option.name, "it takes one name"
                       if option.read is read_text else
                       "&& joins conditions"
                       if option.read is read_condition else
                       "one regex can name several functions, as "
                       "/this|that/"))
            value, rest = (first_function if option.read is read_function
                           else first_word)(rest)
            values[key] = option.read(option.name, value)
        text = rest
    return values, "".join(others).strip()


def no_more(text: str, command: str) -> None:
    if text.strip():
        raise gdb.GdbError('%s: "%s" is too much; see `help %s`'
                           % (command, text.strip(), command))


def read_text(_name: str, word: str) -> str:
    return word


def read_function(_name: str, word: str) -> str:
    return word


def read_condition(name: str, word: str) -> str:
    if not word.strip():
        raise gdb.GdbError("-%s wants a condition on values, as 'n == 3'"
                           % name)
    return word


def read_count(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise gdb.GdbError('-%s wants a number, not "%s"' % (name, word))
    if int(word) >= 2**31:
        raise gdb.GdbError("-%s: %s is too much" % (name, word))
    return int(word)


def read_thread(name: str, word: str) -> tuple[int, int]:
    """Process (0: any) and thread."""
    tag = re.fullmatch(r"(?:p(\d+):)?t(\d+)", word)  # as in rows
    process, colon, thread = word.rpartition(":")
    numbers = (tag[1] or "1", tag[2]) if tag else (process if colon else "0",
                                                   thread)
    if not all(n.isascii() and n.isdigit() for n in numbers):
        raise gdb.GdbError('-%s wants t2 or p2:t1, as in rows, or a number, not "%s"'
                           % (name, word))
    return read_count(name, numbers[0]), read_count(name, numbers[1])


def read_time_ns(name: str, word: str) -> int:
    m = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s)", word)
    if m:
        time_ns = float(m.group(1)) * _UNITS_NS[m.group(2)]
        if time_ns >= 1e18:
            raise gdb.GdbError("-%s: %s is too much" % (name, word))
        return round(time_ns)
    if word == "0":
        return 0
    raise gdb.GdbError('-%s wants a time with its unit, as 10us, 1.5ms or 2s, '
                       'not "%s"' % (name, word))


def read_share_ppm(name: str, word: str) -> int:
    """"0.5" or "0.5%" as millionths."""
    m = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)%?", word)
    if not m or float(m.group(1)) > 100:
        raise gdb.GdbError('-%s wants a percentage, as 1 or 0.5, not "%s"'
                           % (name, word))
    return round(float(m.group(1)) * 10000)


def read_range(name: str, word: str) -> tuple[int, int]:
    """"1.2s..1.4s" in nanoseconds, 0 for an open end.  A bare number is in
    seconds, as in the rows."""
    start, dots, end = word.partition("..")
    wrong = gdb.GdbError('-%s wants two times, as 1.2s..1.4s, 20ms.. or '
                         '..1.4, not "%s"' % (name, word))
    if not dots or not (start or end):
        raise wrong

    def read(text: str) -> int:
        if not text:
            return 0
        bare = re.fullmatch(r"\d+(\.\d*)?", text)
        try:
            return read_time_ns(name, text + "s" if bare else text)
        except gdb.GdbError:
            raise wrong from None

    found = read(start), read(end)
    if end and found[1] <= found[0]:
        raise wrong
    return found


def read_moment_ns(name: str, word: str) -> int:
    """A time since the trace began: seconds, or with a unit."""
    if re.fullmatch(r"\d+\.\d*", word):
        word += "s"
    return read_time_ns(name, word)


def is_id(word: str) -> bool:
    """Is it a call's number, 1.42, 2:1.42 or 1.s1?"""
    return re.fullmatch(r"(\d+:)?\d+\.s?\d+", word) is not None


def read_bytes(word: str) -> Optional[int]:
    """"4G" as a number; None when it is none."""
    m = re.fullmatch(r"(\d+)\s*([kmgt]?)(?:i?b)?", word.strip().lower())
    return int(m.group(1)) * _UNITS_BYTES[m.group(2)] if m else None


LEAST_FLIGHT = 4096


def read_flight(name: str, word: str) -> int:
    n = read_bytes(word)
    if n is None:
        raise gdb.GdbError('-%s wants a size, as 512K, 16M or 1G, not "%s"'
                           % (name, word))
    if not LEAST_FLIGHT <= n < 2**40:
        raise gdb.GdbError("-%s: %s is too %s" % (
            name, word, "little (4K or more)" if n < LEAST_FLIGHT else "much"))
    return n


def read_one_of(allowed: tuple[str, ...]) -> Callable[[str, str], str]:
    def read(name: str, word: str) -> str:
        found = [w for w in allowed if w == word] or [
            w for w in allowed if w.startswith(word)]
        if len(found) != 1:
            raise gdb.GdbError('-%s wants one of %s, not "%s"'
                               % (name, ", ".join(allowed), word))
        return found[0]

    return read


def complete(text: str, word: Optional[str], options: list[Option],
             rest: Any = gdb.COMPLETE_NONE) -> Any:
    """For gdb.Command.complete(): the options, their values, else `rest`.

    gdb asks twice: once with word None, to learn which characters break
    words; then a list would be an error."""
    where = next((o for o in options if o.name == "where"), None)
    if where is not None and word is not None:
        from . import value_names  # later than gdb's start

        values = value_names.complete(text, word, where.completion or ())
        if values is not None:
            return values
    before = text if word is None else text[:len(text) - len(word)]
    # "-" breaks words in gdb: it is then not part of the word.
    typed = text.split()[-1] if text.split() and not text[-1:].isspace() else ""
    previous = before[:len(before) - len(typed) + len(word or "")].split()
    owner = next((o for o in options if o.read and previous
                  and previous[-1] == "-" + o.name), None)
    if owner is not None:
        choice = owner.completion
        if callable(choice):
            choice = sorted(choice())
        if isinstance(choice, (list, tuple)):
            return listed(word, list(choice), typed)
        return gdb.COMPLETE_NONE if choice is None else choice
    if typed.startswith("-"):
        return listed(word, ["-" + o.name for o in options], typed)
    if isinstance(rest, (list, tuple)):
        return listed(word, list(rest), typed)
    return rest


def listed(word: Optional[str], allowed: list[str], typed: str) -> Any:
    """Words that begin as typed, without what gdb takes for earlier words."""
    if word is None:
        return gdb.COMPLETE_NONE
    cut = len(typed) - len(word)
    return [a[cut:] for a in allowed if a.startswith(typed)]
