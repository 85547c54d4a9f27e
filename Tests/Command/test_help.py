"""`--help` and `--version`."""

import re
import unittest

from command import run

OPTIONS = {
    (): set(),
    ("serve",): {
        "--table", "--table-cache", "--table-interval", "--check-results", "--policy", "--host", "--port", "--unix", "--prefix", "--allow-origin", "--allow-host", "--trusted-proxy",
        "--web", "--content-security-policy", "--no-client", "--no-inspector", "--data", "--blobs", "--no-blobs", "--push-webhook", "--push-webhook-secret-file", "--cluster", "--cluster-name", "--cluster-replicas", "--cluster-secret-file", "--cluster-credentials", "--cluster-ca", "--cluster-certificate", "--cluster-key", "--loops", "--drain", "--conformance", "--token-secret-file", "--token-key-file",
        "--token-jwks", "--token-issuer", "--token-audience", "--token-groups-claim",
        "--allow-anonymous", "--log-level", "--log-format", "--config",
    },
    ("demo",): {"--port", "--data", "--allow-origin", "--allow-host", "--trusted-proxy", "--log-level", "--log-format", "--config"},
    ("call",): {"--url", "--token-file", "--session", "--join", "--watch", "--config"},
    ("shell",): {"--scheme", "--task", "--topic", "--content", "--session", "--join", "--url", "--token-file", "--config"},
    ("explain",): {"--table", "--policy", "--as", "--url", "--token-file", "--json", "--config"},
    ("replay",): {"--timed", "--ignore", "--url", "--token-file", "--config"},
    ("token",): set(),
    ("token", "make"): {"--secret-file", "--subject", "--groups", "--expires", "--audience", "--key-id", "--claims"},
    ("token", "show"): {"--secret-file", "--key-file", "--jwks", "--issuer", "--audience", "--groups-claim"},
    ("uri",): {"--base", "--json"},
    ("policy",): set(),
    ("policy", "check"): set(),
    ("policy", "test"): {"--table"},
    ("routes",): set(),
    ("routes", "check"): {"--url", "--token-file", "--strict", "--json", "--config"},
    ("routes", "generate"): {"--language", "--output", "--module", "--package", "--check"},
    ("routes", "export"): {"--format", "--demo", "--host", "--app-id", "--android-app", "--output"},
    ("routes", "diff"): {"--json", "--breaking"},
    ("sessions",): set(),
    ("sessions", "list"): {"--data", "--json"},
    ("sessions", "show"): {"--data", "--json"},
}

# Options that are not settings.
OWN = {"--strict", "--json", "--base", "--watch", "--as", "--timed", "--ignore", "--scheme", "--task", "--topic", "--content"}
OWN |= OPTIONS["token", "make"] | OPTIONS["token", "show"]
OWN |= OPTIONS["routes", "generate"] | OPTIONS["routes", "export"] | OPTIONS["routes", "diff"]


class Help(unittest.TestCase):
    def test_each_command_lists_exactly_its_options(self):
        for command, names in OPTIONS.items():
            code, output, errors = run(*command, "--help")
            self.assertEqual((0, ""), (code, errors), command)
            self.assertEqual(names | {"--help", "--version"}, set(re.findall(r"(?m)^  (?:-h, )?(--[a-z-]+)", output)), command)

    def test_subcommands_are_listed_in_help(self):
        for parent in [(), ("token",), ("policy",), ("routes",), ("sessions",)]:
            commands = {names[-1] for names in OPTIONS if names[:-1] == parent and names}
            listed = run(*parent, "--help")[1].split("SUBCOMMANDS:")[1].split("\n\n")[0]
            self.assertEqual(commands, set(re.findall(r"^  ([a-z]+)  ", listed, re.M)), parent)

    def test_each_command_documents_exit_codes_and_examples(self):
        for command in OPTIONS:
            paragraphs = run(*command, "--help")[1].split("\n\n")
            (examples,) = [paragraph for paragraph in paragraphs if paragraph.startswith("EXAMPLES:\n")]
            lines = examples.splitlines()[1:]
            self.assertEqual(2, len(lines), command)
            for line in lines:
                self.assertIn(f"waybridge {' '.join(command)}".rstrip(), line)
            if command:
                (codes,) = [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.startswith("EXIT CODE: ")]
                self.assertRegex(codes, r"^EXIT CODE: 0 .*; 1 if .*; 64 if the command line is wrong\.$")

    def test_help_begins_with_purpose_usage_and_examples(self):
        for command in OPTIONS:
            paragraphs = run(*command, "--help")[1].split("\n\n")
            self.assertRegex(paragraphs[0], r"^OVERVIEW: [^\n]{10,70}[^.\n]$", command)
            self.assertEqual(["USAGE:", "EXAMPLES:"], [paragraph.split()[0] for paragraph in paragraphs[1:3]], command)

    def test_serve_groups_options_and_ends_with_environment_and_files(self):
        paragraphs = run("serve", "--help")[1].split("\n\n")
        titles = [paragraph.splitlines()[0] for paragraph in paragraphs if re.match(r"[A-Z ]*OPTIONS:\n", paragraph)]
        self.assertEqual(
            [
                "NETWORK OPTIONS:", "ACCESS OPTIONS:", "TOKEN OPTIONS:", "TABLE AND POLICY OPTIONS:", "DURABILITY AND CLUSTER OPTIONS:", "PUSH OPTIONS:",
                "WEB FILE OPTIONS:", "PROCESS OPTIONS:", "LOG OPTIONS:", "OPTIONS:",
            ],
            titles,
        )  # fmt: skip
        self.assertEqual(["LIMITS:", "ENVIRONMENT:", "FILES:", "EXIT"], [paragraph.split()[0] for paragraph in paragraphs[-4:]])

    def test_limits_are_a_help_topic(self):
        for arguments in (["help", "limits"], ["limits"], ["limits", "--help"]):
            code, output, errors = run(*arguments)
            self.assertEqual((0, ""), (code, errors))
            self.assertIn("\n  WAYBRIDGE_LIMITS_MAX_BATCH (default: 100)\n      Messages in one batch\n", output)
        for command in ("serve", "demo"):
            help_text = run(command, "--help")[1]
            self.assertIn("see waybridge help limits", help_text)
            self.assertNotIn("WAYBRIDGE_LIMITS_", help_text)
        self.assertIn("waybridge help limits", run("--help")[1])

    def test_each_setting_option_names_its_variable(self):
        for command, names in OPTIONS.items():
            text = " ".join(run(*command, "--help")[1].split())
            if command == ("policy", "test") or command[:1] == ("sessions",):
                # Its input is named only on its command line.
                continue
            for name in names - OWN:
                self.assertIn(f"[WAYBRIDGE_{name[2:].replace('-', '_').upper()}]", text, command)


class Version(unittest.TestCase):
    def test_version_and_commit_are_printed(self):
        code, output, errors = run("--version")
        self.assertEqual((0, ""), (code, errors))
        self.assertRegex(output, r"^waybridge 0\.1\.0 \(commit (unknown|[0-9a-f]{12}(\+changes)?)\)\n$")


if __name__ == "__main__":
    unittest.main()
