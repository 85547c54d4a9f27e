"""The completion scripts in their shells."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from command import WAYBRIDGE, environment, run

# Does what bash does when the tab key is pressed after a line, for a function that `complete -F` has registered.
BASH = r"""
source "$1"; shift
read -r _ _ options _ function name < <(complete -p waybridge)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
"$function" waybridge "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""

# A zsh at a terminal, in which the tab key is pressed after the line $2; ends when $3 is shown.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -U compinit; compinit -D -u; source $1; unsetopt beep; echo re''ady"
zpty -r shell shown '*ready*'
zpty -w -n shell "$2"$'\t'
zpty -r shell shown "*$3*" && print -r -- "$3"
"""

# fish prints its completions, except those for which it would run the command: they need a line at a terminal.
FISH = 'source $argv[1]; complete --do-complete $argv[2]'


class Completion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The scripts call the command by its name.
        (self.folder / "bin").mkdir()
        os.symlink(WAYBRIDGE, self.folder / "bin/waybridge")
        (self.folder / "work/tables").mkdir(parents=True)
        for name in ("routes.json", "notes.txt"):
            (self.folder / "work" / name).touch()

    def script(self, shell):
        code, script, errors = run("--generate-completion-script", shell)
        self.assertEqual((0, ""), (code, errors))
        path = self.folder / f"waybridge.{shell}"
        path.write_text(script)
        return str(path)

    def offered(self, shell, *arguments):
        """The lines that a program of the shell prints."""
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        variables = environment(
            {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder), "TERM": "dumb"}
        )
        done = subprocess.run(
            [shell, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=variables,
            cwd=self.folder / "work",
        )  # fmt: skip
        self.assertEqual("", done.stderr)
        return {line.split("\t")[0] for line in done.stdout.splitlines()}


class Bash(Completion):
    def complete(self, *words):
        return self.offered("bash", "--norc", "-c", BASH, "bash", self.script("bash"), "waybridge", *words)

    def test_completes_commands_and_options(self):
        commands = {"serve", "demo", "call", "shell", "explain", "token", "uri", "policy", "sessions", "help", "--version"}
        self.assertLessEqual(commands, self.complete(""))
        self.assertEqual({"explain"}, self.complete("e"))
        self.assertEqual({"--table", "--table-cache", "--table-interval"}, self.complete("serve", "--ta"))
        self.assertEqual({"make", "show"}, self.complete("token", "") - {"help", "-h", "--help", "--version"})

    def test_completes_methods_of_openrpc_document(self):
        self.assertEqual({"router.explain"}, self.complete("call", "router.e"))
        self.assertEqual({"$/ping"}, self.complete("call", "$/p"))
        self.assertLessEqual({"session.open", "rpc.discover", "navigation.back"}, self.complete("call", ""))

    def test_completes_json_files_and_folders_for_tables(self):
        for command in ("serve", "explain"):
            self.assertEqual({"routes.json", "tables"}, self.complete(command, "--table", ""))

    def test_completes_folders_for_session_data(self):
        for command in ("list", "show"):
            self.assertEqual({"tables"}, self.complete("sessions", command, "--data", ""))

    def test_completes_topics_of_events(self):
        self.assertEqual({"page.*"}, self.complete("call", "--watch", "p"))
        self.assertEqual({"page.*"}, self.complete("shell", "--topic", "p"))

    def test_completes_json_files_for_shell_content(self):
        self.assertEqual({"routes.json", "tables"}, self.complete("shell", "--content", ""))

    def test_completes_no_files_for_other_arguments(self):
        for words in (["call", "router.open", ""], ["uri", ""], ["explain", ""], ["serve", "--port", ""], ["token", "show", ""], ["sessions", "show", ""]):
            self.assertEqual({""}, self.complete(*words), words)


class Zsh(Completion):
    def test_completes_commands_methods_and_tables(self):
        script = self.script("zsh")
        for line, shown in [("ex", "explain"), ("call router.ex", "router.explain"), ("serve --table r", "routes.json")]:
            self.assertEqual({shown}, self.offered("zsh", "-f", "-c", ZSH, "zsh", script, "waybridge " + line, shown))


class Fish(Completion):
    def complete(self, line):
        return self.offered("fish", "--no-config", "-i", "-c", FISH, self.script("fish"), "waybridge " + line)

    def test_completes_commands_options_and_tables(self):
        self.assertEqual({"explain"}, self.complete("ex"))
        self.assertEqual({"--web"}, self.complete("serve --w"))
        self.assertEqual({"routes.json", "tables/"}, self.complete("serve --table "))


if __name__ == "__main__":
    unittest.main()
