# SPDX-License-Identifier: MIT
"""Debian's source packages, from where this machine has its packages: its own
lists of sources, with deb-src for deb, in a configuration of apt that lives in
a folder of ours. Nothing of the system's is changed."""

import os
import pathlib
import re
import subprocess

ETC = pathlib.Path("/etc/apt")


def suite():
    text = pathlib.Path("/etc/os-release").read_text()
    return re.search(r"^VERSION_CODENAME=(\S+)", text, re.M)[1]


def is_ours(suites):
    """Whether they are of the distribution itself, not of another archive."""
    name = suite()
    return any(s == name or s.startswith(name + "-")
               and s[len(name) + 1:] in ("updates", "security")
               for s in suites.split())


def stanzas():
    """The *.sources files' entries, for sources."""
    for path in sorted((ETC / "sources.list.d").glob("*.sources")):
        text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.M)
        for part in re.split(r"\n\s*\n", text):
            suites = re.search(r"^Suites:(.*)$", part, re.M)
            if suites and is_ours(suites[1]):
                yield re.sub(r"^Types:.*$", "Types: deb-src", part.strip(),
                             flags=re.M)


def lines():
    """The lines of the one-line files."""
    paths = [ETC / "sources.list", *(ETC / "sources.list.d").glob("*.list")]
    for path in filter(pathlib.Path.exists, paths):
        for line in path.read_text().splitlines():
            found = re.match(r"deb\s+((?:\[.*?\]\s+)?\S+\s+(\S+)\s.*)", line)
            if found and is_ours(found[2]):
                yield "deb-src " + found[1]


class Apt:
    def __init__(self, folder):
        self._folder = folder
        for name in ("lists/partial", "cache/archives/partial", "parts"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "parts" / "own.sources").write_text(
            "\n\n".join(stanzas()) + "\n")
        (folder / "parts" / "own.list").write_text("\n".join(lines()) + "\n")

    def _run(self, *words, cwd=None):
        options = {"Dir::Etc::sourcelist": "/dev/null",
                   "Dir::Etc::sourceparts": self._folder / "parts",
                   "Dir::State::lists": self._folder / "lists",
                   "Dir::Cache": self._folder / "cache"}
        if os.getuid() == 0:
            options["APT::Sandbox::User"] = "root"
        command = ["apt-get", "-q"]
        for name, value in options.items():
            command += ["-o", "%s=%s" % (name, value)]
        done = subprocess.run([*command, *words], cwd=cwd, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:])

    def source(self, package, folder):
        """The unpacked source and its version; fetched where it is not
        there yet."""
        place = folder / package
        if not list(place.glob("*.dsc")):
            place.mkdir(parents=True, exist_ok=True)
            self._run("update")
            self._run("source", "--only-source", package, cwd=place)
        text = next(place.glob("*.dsc")).read_text(errors="replace")
        version = re.search(r"^Version: (\S+)", text, re.M)[1]
        return next(p for p in place.iterdir() if p.is_dir()), version
