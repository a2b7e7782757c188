# SPDX-License-Identifier: MIT
"""What `cstrace start` and `cstrace sample` were asked for."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ..trace import Trace
from ..process.plans import PatchOptions
from ..ui.words import duration_text

PATCHING = ("road", "functions", "modules", "border")
KEEPING = ("keep_depth", "keep_size", "keep_time")


class Sampling(NamedTuple):
    """How the program is sampled."""

    hz: int
    is_wall: bool
    for_ns: int

    def text(self) -> str:
        return "%d samples a second %s%s" % (
            self.hz, "on the clock" if self.is_wall else "of CPU time",
            " for %s" % duration_text(self.for_ns) if self.for_ns else "")


class StartOptions(NamedTuple):
    """What one trace was begun with; None: what the settings say."""

    sync: bool = False
    depth: Optional[int] = None
    filter: Optional[str] = None
    exclude: Optional[str] = None
    min_ns: Optional[int] = None
    file: Optional[str] = None
    module: Optional[str] = None
    from_: Optional[str] = None
    until: Optional[str] = None
    where: Optional[str] = None
    to: Optional[str] = None
    keep_depth: Optional[int] = None
    keep_time: Optional[int] = None  # nanoseconds
    keep_size: Optional[int] = None
    is_sampled: bool = False  # by `cstrace sample` alone: no calls
    no_args: bool = False  # no values of calls, whatever the settings say
    flight_bytes: int = 0  # the newest calls only; 0: all
    road: Optional[str] = None  # one of process.plans.ROADS
    functions: Optional[str] = None  # of those without hooks
    modules: Optional[str] = None
    border: Optional[bool] = None  # calls into libraries, too

    def choice(self) -> dict[str, Any]:
        return {key: value for key, value in self._asdict().items()
                if value is not None
                and key not in ("sync", "to", "is_sampled", "flight_bytes",
                                "no_args", *PATCHING, *KEEPING)}

    def patching(self) -> dict[str, Any]:
        """What is patched, of the options that were given."""
        return {key: getattr(self, key) for key in PATCHING
                if getattr(self, key) is not None}

    def patch_options(self, road: str) -> PatchOptions:
        """What is patched; road: the setting."""
        return PatchOptions(self.road or road, self.functions, self.modules,
                            self.keep_size or 0, bool(self.border))

    def keeping(self) -> dict[str, int]:
        """What is not recorded at all, of the options that were given."""
        return {key: getattr(self, key) for key in KEEPING
                if getattr(self, key) is not None}

    def keeping_text(self) -> str:
        """"keep-depth 3, keep-time 10 us", or ""."""
        return ", ".join(
            "%s %s" % (key.replace("_", "-"),
                       duration_text(value) if key == "keep_time" else value)
            for key, value in self.keeping().items() if value)


# The settings that choose calls, by their part of a choice.
CHOOSING = {"filter": "filter", "exclude": "exclude", "depth": "depth",
            "min_ns": "min-time", "file": "in", "module": "module"}


def recorded_options(trace: Trace) -> StartOptions:
    """The choice that `cstrace record` was given for it."""
    choice = trace.choice()
    return StartOptions(**{
        key: value.decode("utf-8", "surrogateescape")
        if isinstance(value, bytes) else value
        for key, value in ((k, getattr(choice, k)) for k in (
            "filter", "depth", "min_ns", "file", "module", "from_", "until"))
        if value})
