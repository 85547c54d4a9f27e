"""The container file, as far as it can be tested without an engine: its content, the files that it copies, and that its commands exist."""

import json
import re
import subprocess
import unittest

from paths import PACKAGING, ROOT

WORDS = "FROM ARG WORKDIR COPY RUN USER ENV VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split()


def instructions():
    """The instructions of each stage: lists of (word, rest), continued lines joined."""
    stages = []
    text = re.sub(r"^#.*\n", "", (PACKAGING / "Containerfile").read_text(), flags=re.M)
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, rest.strip()))
    return stages


class Container(unittest.TestCase):
    def setUp(self):
        self.build, self.image = instructions()

    def of(self, stage, word):
        return [rest for each, rest in stage if each == word]

    def test_two_stages_have_known_instructions(self):
        for stage in (self.build, self.image):
            self.assertEqual([], [word for word, _ in stage if word not in WORDS])
        self.assertEqual([], self.of(self.image, "COPY"))
        self.assertRegex(self.build[0][1], r"^docker\.io/library/swift:\d+\.\d+-bookworm AS build$")
        self.assertEqual("docker.io/library/debian:bookworm-slim", self.image[0][1])

    def test_copied_files_are_in_repository(self):
        for rest in self.of(self.build, "COPY"):
            *sources, _ = rest.split()
            for source in sources:
                tracked = subprocess.run(["git", "ls-files", "--error-unmatch", source], cwd=ROOT, capture_output=True)
                self.assertEqual(0, tracked.returncode, source)
        # All paths that the build reads, starting with those that SwiftPM reads.
        copied = {source for rest in self.of(self.build, "COPY") for source in rest.split()[:-1]}
        self.assertLessEqual({"Package.swift", "Sources", "Tests", "protocol", "web", "CHANGELOG.md", "README.md"}, copied)

    def test_commands_are_valid_shell(self):
        for stage in (self.build, self.image):
            for rest in self.of(stage, "RUN"):
                command = re.sub(r"^(--\S+\s+)+", "", rest)
                done = subprocess.run(["sh", "-n", "-c", command], capture_output=True, text=True)
                self.assertEqual((0, ""), (done.returncode, done.stderr), command)
        (installed, made) = self.of(self.build, "RUN")
        script, *packages = installed.removeprefix("bash ").split()
        self.assertTrue((ROOT / script).is_file())
        known = subprocess.run(["apt-cache", "show", *packages], stdout=subprocess.PIPE, text=True)
        self.assertEqual(set(packages), set(re.findall(r"^Package: (.*)$", known.stdout, re.M)))
        self.assertTrue((ROOT / made.split()[1]).is_file())

    def test_build_libraries_match_those_of_tests(self):
        named = (ROOT / "Tests/run").read_text().split("bash Tests/install ")[1].split("||")[0].replace("\\\n", " ").split()
        libraries = {name for name in named if name.endswith("-dev")}
        self.assertEqual(libraries, {name for name in self.of(self.build, "RUN")[0].split() if name.endswith("-dev")})

    def test_runs_as_own_user_with_health_check(self):
        (user,) = self.of(self.image, "USER")
        self.assertEqual("10001:10001", user)
        self.assertIn("adduser --system --uid 10001 --gid 10001 ", self.of(self.image, "RUN")[0])
        (health,) = self.of(self.image, "HEALTHCHECK")
        check = json.loads(health.partition("CMD ")[2])
        self.assertEqual(("curl", "http://127.0.0.1:8080/health"), (check[0], check[-1]))
        (entry,), (command,) = self.of(self.image, "ENTRYPOINT"), self.of(self.image, "CMD")
        self.assertEqual(["/usr/bin/waybridge", "serve"], json.loads(entry) + json.loads(command))
        variables = dict(pair.split("=") for pair in self.of(self.image, "ENV")[0].split())
        self.assertEqual(self.of(self.image, "EXPOSE"), [variables["WAYBRIDGE_PORT"]])


if __name__ == "__main__":
    unittest.main()
