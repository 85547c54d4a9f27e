"""`--help` and `--version`."""

import re
import unittest

from command import run

OPTIONS = {
    (): set(),
    ("serve",): {
        "--table", "--table-cache", "--table-interval", "--policy", "--host", "--port", "--unix", "--prefix", "--allow-origin", "--allow-host", "--trusted-proxy",
        "--web", "--content-security-policy", "--no-client", "--no-inspector", "--data", "--cluster", "--cluster-replicas", "--loops", "--drain", "--conformance", "--token-secret-file", "--token-key-file",
        "--allow-anonymous", "--log-level", "--log-format", "--config",
    },
    ("demo",): {"--port", "--data", "--allow-origin", "--allow-host", "--trusted-proxy", "--log-level", "--log-format", "--config"},
    ("call",): {"--url", "--token-file", "--session", "--join", "--watch", "--config"},
    ("shell",): {"--scheme", "--task", "--topic", "--content", "--session", "--join", "--url", "--token-file", "--config"},
    ("explain",): {"--table", "--policy", "--as", "--url", "--token-file", "--json", "--config"},
    ("replay",): {"--timed", "--ignore", "--url", "--token-file", "--config"},
    ("token",): set(),
    ("token", "make"): {"--secret-file", "--subject", "--groups", "--expires", "--audience", "--key-id", "--claims"},
    ("token", "show"): {"--secret-file", "--key-file", "--audience"},
    ("uri",): {"--base", "--json"},
    ("policy",): set(),
    ("policy", "check"): set(),
    ("policy", "test"): {"--table"},
    ("routes",): set(),
    ("routes", "check"): {"--url", "--token-file", "--strict", "--json", "--config"},
    ("routes", "generate"): {"--language", "--output", "--module", "--package", "--check"},
    ("routes", "export"): {"--format", "--demo", "--output"},
    ("routes", "diff"): {"--json", "--breaking"},
    ("sessions",): set(),
    ("sessions", "list"): {"--data", "--json"},
    ("sessions", "show"): {"--data", "--json"},
}

# Options that are no settings.
OWN = {"--strict", "--json", "--base", "--watch", "--as", "--timed", "--ignore", "--scheme", "--task", "--topic", "--content"}
OWN |= OPTIONS["token", "make"] | OPTIONS["token", "show"]
OWN |= OPTIONS["routes", "generate"] | OPTIONS["routes", "export"] | OPTIONS["routes", "diff"]


class Help(unittest.TestCase):
    def test_each_command_names_its_options_and_no_others(self):
        for command, names in OPTIONS.items():
            code, output, errors = run(*command, "--help")
            self.assertEqual((0, ""), (code, errors), command)
            options = output[output.index("USAGE:") :]
            self.assertEqual(names | {"--help", "--version"}, set(re.findall(r"(?:^|[\s\[])(--[a-z-]+)", options)), command)

    def test_the_commands_are_listed(self):
        for parent in [(), ("token",), ("policy",), ("routes",), ("sessions",)]:
            commands = {names[-1] for names in OPTIONS if names[:-1] == parent and names}
            listed = run(*parent, "--help")[1].split("SUBCOMMANDS:")[1]
            self.assertEqual(commands, set(re.findall(r"^  ([a-z]+)  ", listed, re.M)), parent)

    def test_each_command_tells_its_exit_codes_and_an_example(self):
        for command in OPTIONS:
            if not command:
                continue
            paragraphs = [" ".join(paragraph.split()) for paragraph in run(*command, "--help")[1].split("\n\n")]
            (codes,) = [paragraph for paragraph in paragraphs if paragraph.startswith("Exit code: ")]
            self.assertRegex(codes, r"^Exit code: 0 .*; 1 where .*; 64 where the command line is wrong\.$")
            (example,) = [paragraph for paragraph in paragraphs if paragraph.startswith("Example: ")]
            self.assertIn(f"waybridge {' '.join(command)} ", example)

    def test_each_option_for_a_setting_names_its_variable(self):
        for command, names in OPTIONS.items():
            text = " ".join(run(*command, "--help")[1].split())
            if command == ("policy", "test") or command[:1] == ("sessions",):
                # What it reads is named on its command line alone.
                continue
            for name in names - OWN:
                self.assertIn(f"[WAYBRIDGE_{name[2:].replace('-', '_').upper()}]", text, command)


class Version(unittest.TestCase):
    def test_the_version_is_told(self):
        code, output, errors = run("--version")
        self.assertEqual((0, ""), (code, errors))
        self.assertRegex(output, r"^waybridge 0\.1\.0 \(commit (unknown|[0-9a-f]{12}(\+changes)?)\)\n$")


if __name__ == "__main__":
    unittest.main()
