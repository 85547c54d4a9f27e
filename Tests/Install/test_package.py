"""The Debian package: its content, and its life on a machine: installed, run, upgraded, removed, purged."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from machine import Machine
from paths import PACKAGING, ROOT

from command import WAYBRIDGE, Server
from rawsocket import WebSocket

CONFFILES = {f"/etc/waybridge/{name}.json" for name in ("waybridge", "routes", "policy")}
# The package has no maintainer address, and is not for Debian itself.
BUILDER_TAGS = "bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs"


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Built(unittest.TestCase):
    """Builds the package of the program under test."""

    @classmethod
    def setUpClass(cls):
        if not hasattr(Built, "package"):
            folder = tempfile.TemporaryDirectory()
            unittest.addModuleCleanup(folder.cleanup)
            # Small enough, and quick to build.
            quick = {"DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
            made = subprocess.run(
                [PACKAGING / "package", "--binary", WAYBRIDGE, "--output", folder.name], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=os.environ | quick | {"DEBEMAIL": "waybridge@example.org"},
            )  # fmt: skip
            if made.returncode:
                raise AssertionError(made.stderr)
            Built.folder = pathlib.Path(folder.name)
            Built.package = pathlib.Path(made.stdout.strip())
            Built.files = Built.folder / "files"
            output("dpkg-deb", "-R", Built.package, Built.files)

    def later(self):
        """The package of a later version, with one more setting, and the new files of this version."""
        files = self.folder / "later"
        shutil.copytree(self.files, files, symlinks=True)
        control = files / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*", "Version: 9.9.9-1", control.read_text(), flags=re.M))
        for name in ("waybridge", "routes"):
            path = files / f"etc/waybridge/{name}.json"
            path.write_text(path.read_text().rstrip().removesuffix("}").rstrip() + (',\n  "drain": 7\n}\n' if name == "waybridge" else "\n}\n\n"))
        package = self.folder / "later.deb"
        output("dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", files, package)
        return package


class Contents(Built):
    def field(self, name):
        return output("dpkg-deb", "-f", self.package, name).strip()

    def test_version_and_dependencies_match_the_program(self):
        version = output(WAYBRIDGE, "--version").split()[1]
        self.assertEqual(version + "-1", self.field("Version"))
        needed = {re.split(r"[ (]", entry)[0] for entry in self.field("Depends").split(", ")}
        libraries = {"libwebsockets17", "libuv1", "libsimdjson14", "libsqlite3-0", "libcurl4", "libssl3", "libnats3.4", "libc6"}
        self.assertLessEqual(libraries | {"adduser"}, needed)
        linked = re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", self.files / "usr/bin/waybridge"))
        self.assertEqual([], [name for name in linked if "swift" in name or "Foundation" in name or "dispatch" in name])

    def test_settings_are_conffiles_of_package(self):
        listed = (self.files / "DEBIAN/conffiles").read_text().split()
        self.assertEqual(CONFFILES, set(listed))

    def test_lintian_reports_no_errors_or_warnings(self):
        done = subprocess.run(
            ["lintian", "--allow-root", "--suppress-tags", BUILDER_TAGS, self.package], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.assertEqual((0, ""), (done.returncode, done.stdout))

    def test_completions_match_the_program(self):
        share = self.files / "usr/share"
        for shell, path in [
            ("bash", "bash-completion/completions/waybridge"), ("zsh", "zsh/vendor-completions/_waybridge"),
            ("fish", "fish/vendor_completions.d/waybridge.fish"),
        ]:  # fmt: skip
            made = output(WAYBRIDGE, "--generate-completion-script", shell)
            self.assertTrue(made.endswith((share / path).read_text()), shell)

    def test_every_command_has_valid_manual_page(self):
        pages = {path.name.removesuffix(".1.gz") for path in (self.files / "usr/share/man/man1").iterdir()}
        self.assertEqual(set(commands()), pages)
        for name in sorted(pages):
            path = self.files / f"usr/share/man/man1/{name}.1.gz"
            roff = subprocess.run(["gzip", "-dc", path], check=True, stdout=subprocess.PIPE).stdout
            for command in (["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", "-"], ["mandoc", "-Tlint", "-W", "warning"]):
                done = subprocess.run(
                    command, input=roff, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"MANROFFSEQ": ""}
                )
                message = done.stderr + (done.stdout if command[0] == "mandoc" else b"")
                self.assertEqual("", message.decode(), name)

    def test_manual_pages_list_all_options(self):
        roff = subprocess.run(
            ["gzip", "-dc", self.files / "usr/share/man/man1/waybridge-serve.1.gz"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.replace("\\-", "-")
        help_text = output(WAYBRIDGE, "serve", "--help")
        for name in set(re.findall(r"(?:^|[\s\[])(--[a-z-]+)", help_text[help_text.index("USAGE:") :])) | {"WAYBRIDGE_LIMITS_MAX_BATCH"}:
            self.assertIn(f"\\fB{name}\\fR", roff)

    def test_served_files_are_in_package(self):
        web = self.files / "usr/share/waybridge/web"
        self.assertEqual({"index.html", "bridge", "demo", "inspector"}, {path.name for path in web.iterdir()})
        for name in ("demo", "inspector"):
            for path in (ROOT / "web" / name).glob("*.*"):
                self.assertEqual(path.read_bytes(), (web / name / path.name).read_bytes())

    def test_guides_are_readable_and_link_to_each_other(self):
        guides = self.files / "usr/share/doc/waybridge/guides"
        pages = sorted(path.relative_to(guides).as_posix() for path in guides.rglob("*.md"))
        for path in ("README.md", "protocol/PROTOCOL.md", "web/docs/start.md", "web/docs/operating.md", "web/bridge/README.md"):
            self.assertIn(path, pages)
        for page in pages:
            self.assertEqual((ROOT / page).read_bytes(), (guides / page).read_bytes())
            for target in re.findall(r"\]\(([^)#:]+\.(?:md|svg|png))[)#]", (guides / page).read_text()):
                linked = (ROOT / page).parent / target
                name = linked.resolve().relative_to(ROOT).as_posix()
                if name.startswith(("README", "protocol/", "web/docs/")):
                    self.assertTrue((guides / page).parent.joinpath(target).is_file(), f"{page} links to {target}")

    def test_control_file_names_the_project(self):
        manifest = json.loads((ROOT / "web/bridge/package.json").read_text())
        self.assertEqual(manifest["homepage"].removesuffix("#readme"), self.field("Homepage"))

    def test_examples_match_the_tested_files(self):
        examples = self.files / "usr/share/doc/waybridge/examples"
        for source in [*(PACKAGING / "monitoring").iterdir(), *(ROOT / "protocol/proxies").iterdir()]:
            self.assertEqual(source.read_bytes(), (examples / source.name).read_bytes())


def commands():
    """The names of all commands, in the form of their manual pages."""

    def below(path, command):
        yield "-".join(path)
        for each in command.get("subcommands", []):
            if each["shouldDisplay"] and each["commandName"] != "help":
                yield from below([*path, each["commandName"]], each)

    return below(["waybridge"], json.loads(output(WAYBRIDGE, "--experimental-dump-help"))["command"])


class Lifecycle(Built):
    def setUp(self):
        self.machine = self.enterContext(Machine())

    def dpkg(self, *arguments):
        code, message = self.machine.run("dpkg", "--force-unsafe-io", *arguments)
        self.assertEqual(0, code, message)
        return message

    def install(self, package):
        self.machine.put(package, "/tmp/waybridge.deb")
        # Changed files are kept, as the user would answer.
        return self.dpkg("--force-confold", "-i", "/tmp/waybridge.deb")

    def service(self):
        """The command, the user and the variables of the unit."""
        unit = self.machine.read("/lib/systemd/system/waybridge.service")
        settings = dict(re.findall(r"^(\w+)=(.*)$", unit, re.M))
        return settings["ExecStart"].split(), settings["User"], [settings["Environment"]]

    def served(self, *before):
        """Runs the unit's command as its user, with the folders that systemd would create; `before` is a command prefix that runs it."""
        command, user, own = self.service()
        for folder in ("/var/lib/waybridge", "/var/cache/waybridge"):
            self.assertEqual((0, ""), self.machine.run("install", "-d", "-o", user, "-g", user, "-m", "700", folder))
        variables = [*own, "WAYBRIDGE_PORT=0", "WAYBRIDGE_DRAIN=0"]
        line = self.machine.command(*before, *command, user=user, variables=variables)
        return Server(*line[1:], command=line[0])

    def test_package_lifecycle_from_install_to_purge(self):
        self.install(self.package)
        self.assertEqual("", self.dpkg("--verify", "waybridge"))
        self.assertTrue(self.machine.has("/etc/systemd/system/multi-user.target.wants/waybridge.service"))
        self.assertFalse(self.machine.has("/etc/systemd/system/sockets.target.wants/waybridge.socket"))
        self.assertRegex(self.machine.run("getent", "passwd", "waybridge")[1], r"^waybridge:x:\d+:\d+:[^:]*:/var/lib/waybridge:/usr/sbin/nologin$")

        self.check_the_program()
        with self.served() as server:
            self.check_the_server(server)
        self.assertTrue(self.machine.has("/var/lib/waybridge/sessions"))

        # Of two new files of another version, the one that was changed here is kept.
        settings = json.loads(self.machine.read("/etc/waybridge/waybridge.json"))
        self.machine.write("/etc/waybridge/waybridge.json", json.dumps(settings | {"drain": 3}))
        old_routes = self.machine.read("/etc/waybridge/routes.json")
        self.install(self.later())
        self.assertIn("9.9.9-1", self.machine.run("dpkg-query", "-W", "waybridge")[1])
        self.assertEqual(3, json.loads(self.machine.read("/etc/waybridge/waybridge.json"))["drain"])
        self.assertEqual(7, json.loads(self.machine.read("/etc/waybridge/waybridge.json.dpkg-dist"))["drain"])
        self.assertNotEqual(old_routes, self.machine.read("/etc/waybridge/routes.json"))
        with self.served() as server:
            self.assertEqual(0, self.ended(server))

        self.dpkg("--remove", "waybridge")
        self.assertFalse(self.machine.has("/usr/bin/waybridge"))
        for path in (*CONFFILES, "/var/lib/waybridge/sessions"):
            self.assertTrue(self.machine.has(path), path)
        self.dpkg("--purge", "waybridge")
        for path in ("/etc/waybridge", "/var/lib/waybridge", "/var/cache/waybridge", "/usr/share/waybridge", "/usr/share/doc/waybridge"):
            self.assertFalse(self.machine.has(path), path)
        self.assertFalse(self.machine.has("/etc/systemd/system/multi-user.target.wants/waybridge.service"))
        # The earlier files are unchanged.
        self.assertFalse(pathlib.Path("/usr/bin/waybridge").exists())

    def check_the_program(self):
        for arguments, message in [
            (["--version"], "waybridge "), (["routes", "check", "/etc/waybridge/routes.json"], "ok: "),
            (["policy", "check", "/etc/waybridge/policy.json"], "ok: "),
        ]:  # fmt: skip
            code, output = self.machine.run("/usr/bin/waybridge", *arguments)
            self.assertEqual((0, True), (code, output.startswith(message)), output)
        self.assertIn("waybridge-serve", self.machine.run("man", "-w", "waybridge-serve")[1])
        line = self.machine.command("/usr/bin/waybridge", "demo", "--port", "0", user="waybridge")
        with Server(*line[1:], command=line[0]) as demo, urllib.request.urlopen(demo.address + "/demo/", timeout=20) as page:
            self.assertIn(b"<!doctype html>", page.read(100).lower())

    def check_the_server(self, server):
        for path, words in [("/", b"Waybridge runs here"), ("/bridge/bridge.js", b"export"), ("/health", b'"ok"')]:
            with urllib.request.urlopen(server.address + path, timeout=20) as page:
                self.assertIn(words, page.read())
        with WebSocket(server.port) as client:
            for method, params, code in [
                ("router.canOpen", {"uri": "native://home"}, None), ("table.get", {}, 2403),
            ]:  # fmt: skip
                client.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
                self.assertEqual(code, client.receive().get("error", {}).get("code"), method)
        refusal = " notice audit .*code=2403 .*method=table.get .*rule=default"
        self.assertEqual(0, self.ended(server, [refusal]))

    def ended(self, server, records=()):
        """Ends it like systemd, and compares its log with the patterns of records; returns the exit code."""
        code, _, errors = server.end(signal.SIGTERM)
        self.assertRegex(errors, "".join(f".*{record}.*\n" for record in records) + r"\Z")
        self.assertEqual(len(records), errors.count("\n"))
        return code

    def test_systemd_units_are_valid_and_hardened(self):
        self.install(self.package)
        units = [f"/lib/systemd/system/waybridge.{kind}" for kind in ("service", "socket")]
        self.assertEqual((0, ""), self.machine.run("systemd-analyze", "verify", *units))
        code, message = self.machine.run("systemd-analyze", "security", "--offline=true", "--threshold=15", units[0])
        self.assertEqual(0, code, message)

    def test_system_call_filter_allows_calls_of_server(self):
        self.install(self.package)
        filters = re.findall(r"^SystemCallFilter=(~?)(.*)$", self.machine.read("/lib/systemd/system/waybridge.service"), re.M)
        allowed = set()
        for refuses, names in filters:
            named = {call for name in names.split() for call in calls(name)}
            allowed = allowed - named if refuses else allowed | named
        with self.served("strace", "-f", "-qq", "-c", "-U", "name", "-o", "/tmp/trace") as server:
            with WebSocket(server.port) as client:
                client.send({"jsonrpc": "2.0", "id": 1, "method": "router.canOpen", "params": {"uri": "native://home"}})
                client.receive()
            with urllib.request.urlopen(server.address + "/metrics", timeout=20) as page:
                page.read()
            (traced,) = output("pgrep", "-P", server.process.pid).split()
            os.kill(int(traced), signal.SIGTERM)
            server.process.communicate(timeout=60)
        made = set(re.findall(r"^\s*([a-z_0-9]+)\s*$", self.machine.read("/tmp/trace"), re.M)) - {"syscall", "total"}
        self.assertIn("epoll_ctl", made)
        self.assertEqual(set(), made - allowed)


def calls(name):
    """The system calls of a set `@name` of systemd, including nested sets."""
    if not name.startswith("@"):
        return {name}
    found = set()
    for line in output("systemd-analyze", "syscall-filter", "--no-pager", name).splitlines()[1:]:
        word = line.strip()
        if re.fullmatch(r"@?[a-z_0-9-]+", word):
            found |= calls(word)
    return found


if __name__ == "__main__":
    unittest.main()
