# SPDX-License-Identifier: MIT
"""A server that runs already, its clients, and whether its code is as it was."""

import os
import socket
import subprocess
import threading
import time

from lib_build import TARGETS

LIMIT_S = 120
HOOKS = "-finstrument-functions"


def is_as_in_file(pid, library=None):
    """Is the code of the process that of its file, or of this library?"""
    program = library or os.readlink("/proc/%d/exe" % pid)
    n = 0
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps, \
            open("/proc/%d/mem" % pid, "rb") as memory, \
            open(program, "rb") as file:
        for line in maps:
            fields = line.split()
            if fields[-1] != program or "x" not in fields[1]:
                continue
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            memory.seek(begin)
            file.seek(int(fields[2], 16))
            code = file.read(end - begin)
            assert memory.read(end - begin)[:len(code)] == code
            n += 1
    return n > 0


def hook_words(pid, path):
    """What the words of the program hold that lead to the hooks."""
    table = subprocess.run(["readelf", "-rW", path], capture_output=True,
                           text=True, check=True).stdout
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        base = next(int(line.split("-")[0], 16) for line in maps
                    if line.rstrip().endswith(str(path)))
    places = [base + int(line.split()[0], 16) for line in table.splitlines()
              if "__cyg_profile_func" in line]
    with open("/proc/%d/mem" % pid, "rb") as memory:
        found = []
        for place in places:
            memory.seek(place)
            found.append(memory.read(8))
    return found


class Clients:
    """Ask the server until stop() is called."""

    def __init__(self, path, n):
        self.path, self.is_over = str(path), False
        self.wrong, self.n_asked = [], 0
        self.threads = [threading.Thread(target=self.ask) for _ in range(n)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        try:
            while not self.is_over:
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(LIMIT_S)
                    s.connect(self.path)
                    for i in range(50):
                        s.sendall(b"%d\n" % i)
                        if s.recv(64) != b"%d\n" % (i + 1):
                            self.wrong.append(i)
                        self.n_asked += 1
        except OSError as e:
            self.wrong.append(e)

    def wait(self):
        """Until there has been an answer."""
        until = time.monotonic() + LIMIT_S
        while not self.n_asked:
            assert time.monotonic() < until
            time.sleep(0.01)

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(LIMIT_S)
        return self.wrong


def server(folder, *flags):
    path = folder / "line_server"
    subprocess.run(["gcc", "-g", "-O2", str(TARGETS / "line_server.c"), "-o",
                    str(path), "-pthread", *flags], check=True)
    return path
