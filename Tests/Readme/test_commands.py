"""The commands of README, taken out of README: a newcomer types exactly these."""

import os
import re
import signal
import subprocess
import unittest
import urllib.request

from readme import ROOT, blocks


def commands():
    """The three lines of the section that shows how to try it."""
    return blocks("Try it", "sh")


class ReadmeCommands(unittest.TestCase):
    def test_there_are_three_commands_of_one_line(self):
        self.assertEqual([1, 1, 1], [len(command.splitlines()) for command in commands()])

    def test_the_first_command_installs_and_starts_the_demo(self):
        line = commands()[0] + " --port 0"
        server = subprocess.Popen(
            ["bash", "-c", line], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            # What the build says of its steps comes before.
            lines = []
            for line in server.stdout:
                lines.append(line.strip())
                if lines[-1].startswith("listening"):
                    break
            address = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)", lines[-1] if lines else "")
            self.assertIsNotNone(address, lines)
            second = server.stdout.readline()
            page = re.search(r"http://\S+", second)
            self.assertIsNotNone(page, second)
            for url, content in [(address[1] + "/health", '"ok"'), (page[0], "<html")]:
                with urllib.request.urlopen(url) as answer:
                    self.assertIn(content, answer.read().decode())
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            code = server.wait(timeout=30)
            server.stdout.close()
        self.assertEqual(0, code)

    def test_the_second_command_installs_and_builds_what_test_site_reads(self):
        install, build = commands()[1].split(" && ")
        subprocess.run(["bash", "-c", install], cwd=ROOT, check=True)
        self.assertIn(build, (ROOT / "Tests/Readme/test_site.py").read_text())

    def test_the_third_command_is_what_continuous_integration_runs(self):
        command = commands()[2]
        self.assertEqual("bash Tests/run", command)
        self.assertIn(command, (ROOT / ".ci/run").read_text())


if __name__ == "__main__":
    unittest.main()
