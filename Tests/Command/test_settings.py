"""Settings: flags override environment variables, which override a configuration file; and errors in them."""

import json
import pathlib
import re
import tempfile
import unittest
import urllib.request

from command import ROOT, Server, run
from rawsocket import WebSocket

TABLE = ROOT / "protocol/routes/demo.json"


def limits():
    """The names of the limits of `Limits`, as in the protocol and a configuration file."""
    source = (ROOT / "Sources/WayTransport/Limits.swift").read_text()
    counts = re.findall(r"public var (\w+) =", source)
    times = re.findall(r"public var (\w+): Duration =", source)
    return {*counts, *(name + "Ms" for name in times)}


def hello(server):
    """The response to `session.open`."""
    with WebSocket(server.port, subprotocol="waybridge.v1") as client:
        params = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": params})
        return client.receive()["result"]


def variable(limit):
    return "WAYBRIDGE_LIMITS_" + re.sub("([A-Z])", r"_\1", limit).upper()


class Settings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def config(self, value):
        """Writes a configuration file; returns its path."""
        path = self.folder / "waybridge.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)


class Sources(Settings):
    def test_flag_overrides_variable_and_variable_overrides_file(self):
        config = self.config({"limits": {"maxBatch": 1, "maxDepth": 11}, "port": 1, "host": "none"})
        variables = {"WAYBRIDGE_LIMITS_MAX_BATCH": "2", "WAYBRIDGE_HOST": "none", "WAYBRIDGE_PORT": "1"}
        with Server("serve", "--config", config, "--port", "0", "--host", "localhost", **variables) as server:
            self.assertNotEqual(1, server.port)
            limits = hello(server)["limits"]
        self.assertEqual((2, 11), (limits["maxBatch"], limits["maxDepth"]))

    def test_config_flag_overrides_config_variable(self):
        first, other = self.config({"limits": {"maxBatch": 3}}), self.folder / "other.json"
        other.write_text('{"limits": {"maxBatch": 4}}')
        for arguments, limit in [([], 3), (["--config", str(other)], 4)]:
            with Server("serve", "--port", "0", *arguments, WAYBRIDGE_CONFIG=first) as server:
                self.assertEqual(limit, hello(server)["limits"]["maxBatch"])

    def test_paths_in_file_are_relative_to_its_folder(self):
        (self.folder / "table.json").write_text(TABLE.read_text())
        with Server("serve", "--config", self.config({"table": "table.json", "port": 0})) as server:
            self.assertEqual("1", hello(server)["table"]["version"])

    def test_empty_variable_counts_as_absent(self):
        with Server("serve", "--port", "0", WAYBRIDGE_TABLE="", WAYBRIDGE_LIMITS_MAX_BATCH="", WAYBRIDGE_CONFIG="") as server:
            self.assertEqual(100, hello(server)["limits"]["maxBatch"])

    def test_lists_in_flags_variables_and_file(self):
        origins = ["https://a.example", "http://localhost:*", "null"]
        config, other = self.config({"allowOrigin": origins, "port": 0}), self.folder / "other.json"
        other.write_text('{"allowOrigin": ["https://b.example"]}')
        for arguments, variables in [
            (["--allow-origin", *origins], {}),
            (["--allow-origin", origins[0], "--allow-origin", *origins[1:]], {}),
            ([], {"WAYBRIDGE_ALLOW_ORIGIN": " , ".join(origins)}),
            (["--config", config], {}),
            # The flag replaces the others, and adds nothing to them.
            (["--allow-origin", *origins, "--config", str(other)], {"WAYBRIDGE_ALLOW_ORIGIN": "https://c.example"}),
        ]:  # fmt: skip
            with Server("serve", "--port", "0", *arguments, **variables) as server:
                for origin in [*origins[::2], "http://localhost:3000"]:
                    WebSocket(server.port, fields=[f"Origin: {origin}"]).close()
                for origin in ("https://b.example", "https://c.example"):
                    with self.assertRaisesRegex(ConnectionRefusedError, " 403 "):
                        WebSocket(server.port, fields=[f"Origin: {origin}"])

    def test_empty_array_is_an_empty_list(self):
        with Server("serve", "--config", self.config({"allowOrigin": [], "port": 0})) as server:
            WebSocket(server.port).close()

    def test_web_settings_use_the_same_sources(self):
        policy = "default-src *; frame-ancestors *"
        config = self.config({"prefix": "/a", "contentSecurityPolicy": policy, "port": 0, "allowHost": ["a.example:1"]})
        with Server("serve", "--config", config) as server:
            with urllib.request.urlopen(f"{server.address}/a/bridge/bridge.js", timeout=20) as response:
                self.assertEqual(policy, response.headers["Content-Security-Policy"])
            WebSocket(server.port, "/a/bridge", host="a.example:1").close()
        with Server("demo", "--port", "0", "--allow-host", "a.example", "--allow-origin", "null") as server:
            WebSocket(server.port, host="a.example", fields=["Origin: null"]).close()

    def test_settings_apply_to_the_demo(self):
        with Server("demo", WAYBRIDGE_PORT="0", WAYBRIDGE_LIMITS_MAX_BATCH="7") as server:
            self.assertEqual(7, hello(server)["limits"]["maxBatch"])

    def test_every_limit_is_variable_key_and_in_help(self):
        with Server("serve", "--port", "0") as server:
            initial = hello(server)["limits"]
        names = limits()
        listed = dict(re.findall(r"(WAYBRIDGE_LIMITS_[A-Z_]+) \(default: (\d+)\)", run("help", "limits")[1]))
        self.assertEqual({variable(name) for name in names}, set(listed))
        common = names & set(initial)
        self.assertEqual({name: str(initial[name]) for name in common}, {name: listed[variable(name)] for name in common})
        changed = {name: initial[name] + 1 for name in common}
        config = self.config({"limits": changed})
        variables = {variable(name): str(value) for name, value in changed.items()}
        for arguments, given in [([], variables), (["--config", config], {})]:
            with Server("serve", "--port", "0", *arguments, **given) as server:
                self.assertEqual(changed, {name: hello(server)["limits"][name] for name in common})


class Faults(Settings):
    def refused(self, *arguments, **environment):
        code, output, errors = run("serve", *arguments, **environment)
        self.assertEqual((1, ""), (code, output), errors)
        self.assertNotIn("Usage", errors)
        return errors

    def test_invalid_variables_are_reported_with_expected_values(self):
        errors = self.refused(
            WAYBRIDGE_PORT="tcp://10.0.0.1:80", WAYBRIDGE_LIMITS_MAX_BATCH="0", WAYBRIDGE_LIMITS_HELLO_MS="5s",
            WAYBRIDGE_LIMITS_MAX_MESSAGE="99999999999999999999", WAYBRIDGE_CONFORMANCE="1",
            WAYBRIDGE_ALLOW_ORIGIN="https://a.example, a.example",
        )  # fmt: skip
        for text in (
            'WAYBRIDGE_PORT must be an integer from 0 to 65535, not "tcp://10.0.0.1:80"',
            'WAYBRIDGE_LIMITS_MAX_BATCH must be an integer from 1 to 1073741824, not "0"',
            'WAYBRIDGE_LIMITS_HELLO_MS must be an integer from 1 to 86400000, not "5s"',
            "WAYBRIDGE_LIMITS_MAX_MESSAGE must be",
            'WAYBRIDGE_CONFORMANCE must be true or false, not "1"', 'WAYBRIDGE_ALLOW_ORIGIN must be SCHEME://HOST',
            'or null, not "a.example"',
        ):
            self.assertIn(text, errors)

    def test_unused_invalid_variables_are_ignored(self):
        with Server("serve", "--port", "0", WAYBRIDGE_PORT="tcp://10.0.0.1:80") as server:
            done = run("call", "$/ping", WAYBRIDGE_URL=server.url, WAYBRIDGE_PORT="tcp://10.0.0.1:80")
        self.assertEqual((0, "null\n", ""), done)

    def test_all_faults_of_file_are_reported_with_key(self):
        config = self.config(
            {
                "port": "8080", "table": 7, "conformance": "yes", "prot": 1, "limits.maxBatch": 3, "web": None,
                "allowOrigin": "null", "allowHost": ["a", 1], "trustedProxy": ["::1", "x"], "prefix": "/",
                "limits": {"maxBatch": 1.5, "maxDepth": -1, "maxDeath": 1, "maxHosts": {}, "a\n": 0},
            }  # fmt: skip
        )
        errors = self.refused("--config", config)
        self.assertIn(config, errors)
        for text in (
            "\nport must be a number, not a string", "\ntable must be a string, not a number",
            "\nconformance must be a boolean, not a string", '\n"prot" is not a setting; did you mean "port"?',
            '\nweb must be a string, not null',
            '\nlimits.maxBatch must be an integer from 1 to 1073741824, not "1.5"',
            "\nallowOrigin must be an array of strings, not a string",
            "\nallowHost must be an array of strings, and contains a number", "\ntrustedProxy must be an IPv4 or IPv6 address",
            "\nprefix must be a path such as /app",
            "\nlimits.maxDepth must be", '\n"limits.maxDeath" is not a setting; did you mean "limits.maxDepth"?', "\nlimits.maxHosts must be a number, not an object",
            '\n"limits.a\\n" is not a setting', '\n"limits.maxBatch" is not a setting; write it as a member of an object',
        ):  # fmt: skip
            self.assertIn(text, errors)

    def test_file_must_hold_a_json_object(self):
        for text, reason in [("[]", "must contain a JSON object, not an array"), ("{,}", "is not JSON: line 1, column 2: "), ("", "is not JSON: "), ('{"limits": 3}', "limits must be an object, not a number")]:
            path = self.config(text)
            errors = self.refused("--config", path)
            self.assertIn(path, errors)
            self.assertIn(reason, errors)

    def test_invalid_utf_8_or_missing_file_is_reported(self):
        path = self.folder / "bytes.json"
        path.write_bytes(b'{"host": "\xff"}')
        self.assertIn(f'"{path}" is not UTF-8', self.refused("--config", str(path)))
        self.assertIn('"/no/such.json" cannot be read', self.refused(WAYBRIDGE_CONFIG="/no/such.json"))

    def test_unknown_variables_are_reported_with_a_suggestion(self):
        errors = self.refused(WAYBRIDGE_PROT="1", WAYBRIDGE_LIMITS_MAX_BACH="2", WAYBRIDGE_SOMETHING_ELSE="3")
        self.assertEqual(
            [
                "Error: environment variable WAYBRIDGE_LIMITS_MAX_BACH is not a setting; did you mean WAYBRIDGE_LIMITS_MAX_BATCH?",
                "environment variable WAYBRIDGE_PROT is not a setting; did you mean WAYBRIDGE_PORT?",
                "environment variable WAYBRIDGE_SOMETHING_ELSE is not a setting; see waybridge serve --help and waybridge help limits",
            ],
            errors.splitlines(),
        )
        code, output, errors = run("call", "$/ping", WAYBRIDGE_ULR="ws://127.0.0.1:1/bridge")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("WAYBRIDGE_ULR is not a setting; did you mean WAYBRIDGE_URL?", errors)

    def test_variables_of_other_programs_are_ignored(self):
        # Kubernetes sets these for a service named waybridge.
        variables = {
            "WAYBRIDGE_SERVICE_HOST": "10.0.0.1", "WAYBRIDGE_SERVICE_PORT": "80", "WAYBRIDGE_PORT_80_TCP": "tcp://10.0.0.1:80",
            "WAYBRIDGE_COMMIT": "0123456789ab", "WAYBRIDGE_UNKNOWN": "",
        }  # fmt: skip
        with Server("serve", "--port", "0", **variables) as server:
            WebSocket(server.port).close()

    def test_invalid_flag_is_a_usage_error(self):
        for arguments, text in [
            (["--port", "http"], '--port must be an integer from 0 to 65535, not "http"'),
            (["--allow-origin", "https://a.example/x"], "--allow-origin must be SCHEME://HOST or SCHEME://HOST:PORT without"),
            (["--allow-origin", "null", "*"], 'for the first label of the host, or null, not "*"'),
            (["--allow-origin", "null,,null"], "--allow-origin must be"),
            (["--allow-host", "https://a.example"], "--allow-host must be NAME or NAME:PORT, such as app.example.org"),
            (["--trusted-proxy", "nginx"], "--trusted-proxy must be an IPv4 or IPv6 address, a network such as"),
            (["--prefix", "app/"], '--prefix must be a path such as /app, of letters, digits and -._~'),
        ]:  # fmt: skip
            code, output, errors = run("serve", *arguments)
            self.assertEqual((64, ""), (code, output))
            self.assertIn(text, " ".join(errors.split()))


if __name__ == "__main__":
    unittest.main()
