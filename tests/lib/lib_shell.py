# SPDX-License-Identifier: MIT
"""A shell on a terminal, for what happens when somebody types a TAB."""

import os

import pexpect

from lib_build import BUILD, ROOT

LIMIT_S = 120

# Ctrl-X a writes all that could stand at the cursor into the line, Ctrl-X p
# prints the line as it is.
ALL, PRINT, CLEAR = "\x18a", "\x18p", "\x15"

BASH = r"""
. {completion}/cstrace
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind '"\C-xa": insert-completions'
bind -x '"\C-xp": printf "LINE<%s>\n" "$READLINE_LINE"'
"""

BASH_WITH_PACKAGE = ". /usr/share/bash-completion/bash_completion\n" + BASH

ZSH = r"""
fpath=({completion} $fpath)
autoload -Uz compinit
compinit -D -u
bindkey -e
unsetopt prompt_cr prompt_sp
say() {{ print -r -- "LINE<$BUFFER>" }}
zle -N say
bindkey '^Xp' say
all() {{ _main_complete; compstate[insert]=all }}
zle -C all complete-word all
bindkey '^Xa' all
"""

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile"], BASH),
    "bash-completion": (["bash", "--norc", "--noprofile"], BASH_WITH_PACKAGE),
    "zsh": (["zsh", "-f"], ZSH),
}


class Shell:
    """A shell in the folder that completes cstrace; end() it."""

    def __init__(self, kind, folder, home):
        words, setup = SHELLS[kind]
        environment = {
            "PATH": "%s:%s" % (BUILD, os.environ["PATH"]), "TERM": "dumb",
            "HOME": str(home), "LC_ALL": "C.UTF-8", "PS1": "",
        }
        self._child = pexpect.spawn(
            words[0], words[1:], cwd=str(folder), env=environment,
            timeout=LIMIT_S, encoding="utf-8", dimensions=(24, 2000))
        self._child.delaybeforesend = None
        setup_file = home / "setup"
        setup_file.write_text(setup.format(completion=ROOT / "completion"))
        # What is typed comes back, so it must not look like the answer.
        self._child.sendline(". %s; echo rea''dy" % setup_file)
        self._child.expect("ready\r?\n")

    def _line(self, keys):
        self._child.send(CLEAR + keys + PRINT)
        self._child.expect(r"LINE<(.*?)>\r?\n")
        return self._child.match.group(1)

    def complete(self, line):
        """The line after a TAB."""
        return self._line(line + "\t").rstrip()

    def listed(self, line):
        """What a TAB shows below the line, before any word is chosen."""
        self._line(line + "\t")
        return self._child.before

    def offers(self, line):
        """All words that could stand at its end; a folder with a slash."""
        begin = line.rpartition(" ")[0] + " "
        text = self._line(line + ALL)
        assert text.startswith(begin)
        return sorted(text[len(begin):].split())

    def end(self):
        self._child.close(force=True)
