"""README's commands that build and start the demo, run as the one block that a reader pastes."""

import os
import re
import signal
import subprocess
import unittest
import urllib.request

from readme import ROOT, blocks


class ReadmeCommands(unittest.TestCase):
    def test_first_block_builds_program_and_starts_demo(self):
        (block,) = blocks("Try it", "sh")
        server = subprocess.Popen(
            ["bash", "-e", "-c", f"{block} --port 0"], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            # The build prints its steps before.
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
                with urllib.request.urlopen(url) as response:
                    self.assertIn(content, response.read().decode())
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            # The output ends when the shell and the demo have ended.
            server.stdout.read()
            server.stdout.close()
            server.wait(timeout=30)

    def test_contributors_run_the_tests_of_continuous_integration(self):
        commands = blocks("Run all tests", "sh", ".github/CONTRIBUTING.md")[0].splitlines()
        self.assertEqual(["bash Tests/run", "bash Tests/run --long", "bash Tests/run --long --browsers"], commands)
        self.assertIn(commands[1], (ROOT / ".ci/run").read_text())


if __name__ == "__main__":
    unittest.main()
