"""`waybridge shell`: a native host, by lines and at a terminal."""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from rawsocket import ScriptedBridge, WebSocket
from shell import Shell, Terminal
from test_call import HELLO, SESSION, response

TABLE = str(ROOT / "protocol/routes/demo.json")
ADDRESSES = [
    {"id": "a1", "name": "Home", "street": "12 Larch Lane", "city": "Bergen"},
    {"id": "a2", "name": "Studio", "street": "Quay 4, Loft 2", "city": "Bergen"},
]
HOSTILE = "\x1b[2J\x07\u009b2J\u202e\r\nred"


class Caller:
    """`waybridge call` as a client of a shell's session, which runs in parallel to the test."""

    def __init__(self, server, shell, method, params):
        flags = ["--url", server.url, "--session", shell.session]
        self._process = subprocess.Popen(
            [WAYBRIDGE, "call", method, json.dumps(params), *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment({"WAYBRIDGE_JOIN": shell.join}),
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def result(self):
        output, errors = self._process.communicate(timeout=20)
        if self._process.returncode != 0:
            raise AssertionError(errors)
        return json.loads(output)

    def error(self):
        _, errors = self._process.communicate(timeout=20)
        return [line for line in errors.splitlines() if line.startswith("Error: ")][0]


class SessionClient:
    """A client of a shell's session with messages that the test writes."""

    def __init__(self, port, session, join):
        self._messages = WebSocket(port, subprotocol="waybridge.v1")
        self._sent = 0
        hello = {"protocol": ["1.0"], "join": {"session": session, "token": join}}
        self._messages.send({"jsonrpc": "2.0", "id": "hello", "method": "session.open", "params": hello})
        self.hello = self._messages.receive()["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._messages.close()

    def send(self, method, params, **more):
        self._sent += 1
        self._messages.send({"jsonrpc": "2.0", "seq": self._sent, "method": method, "params": params} | more)

    def response(self, number):
        while True:
            message = self._messages.receive()
            if message.get("id") == number:
                return message

    def until(self, method):
        while True:
            message = self._messages.receive()
            if message.get("method") == method:
                return message["params"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Shells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("serve", "--table", TABLE, "--port", "0")
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def content(self, value):
        path = self.folder / "content.json"
        path.write_text(json.dumps(value))
        return str(path)

    def shell(self, *arguments, **variables):
        shell = Shell(self.server.url, *arguments, **variables)
        self.addCleanup(shell.__exit__)
        shell.__enter__()
        shell.joined()
        return shell

    def call(self, shell, name, **params):
        caller = Caller(self.server, shell, name, params)
        self.addCleanup(caller.__exit__)
        return caller

    def open(self, shell, uri, **more):
        return self.call(shell, "router.open", uri=uri, **more)

    def client(self, shell):
        client = SessionClient(self.server.port, shell.session, shell.join)
        self.addCleanup(client.__exit__)
        return client


class Pages(Shells):
    def test_list_entry_is_result_of_call(self):
        shell = self.shell("--content", self.content({"addressList": ADDRESSES}))
        caller = self.open(shell, "native://address/list", params={"selected": "a1"})
        shown = shell.until("shown ")
        self.assertRegex(shown, r"^shown \S+ list native://address/list$")
        lines = [shell.line() for _ in range(7)]
        self.assertEqual(
            ["  Addresses", "  Lets the user pick one of the addresses.", "  called by waybridge command", "  selected: a1",
             "  1  Home, 12 Larch Lane, Bergen", "  2  Studio, Quay 4, Loft 2, Bergen", "  1 to 2, or back, cancel"],
            lines,
        )  # fmt: skip
        shell.type("3", "2")
        self.assertIn("error 3: type 1 to 2", shell.until("error"))
        self.assertEqual(f"closed {shown.split()[1]} finished", shell.until("closed"))
        outcome = caller.result()
        self.assertEqual(("finished", ADDRESSES[1]), (outcome["outcome"], outcome["data"]))

    def test_enumerated_result_is_shown_as_list(self):
        shell = self.shell()
        caller = self.open(shell, "native://share/sheet", params={"title": "Tea"})
        self.assertIn(" list ", shell.until("shown "))
        shell.type("2")
        self.assertEqual({"channel": "mail"}, caller.result()["data"])

    def test_opener_can_provide_choices(self):
        shell = self.shell()
        caller = self.open(shell, "native://date/pick", params={"choices": ["2026-02-01", "2026-02-02"]})
        shell.until("shown ")
        shell.type("1")
        self.assertEqual("2026-02-01", caller.result()["data"])

    def test_form_prompts_for_each_property_of_result(self):
        shell = self.shell()
        caller = self.open(shell, "native://address/list")
        self.assertIn(" form ", shell.until("shown "))
        shell.until("  id? text")
        shell.type("a9")
        shell.until("  name? text")
        shell.type("up", "a10", "= back", "Elm Street 1", "Ulm")
        self.assertEqual({"id": "a10", "name": "back", "street": "Elm Street 1", "city": "Ulm"}, caller.result()["data"])

    def test_invalid_field_value_prompts_again(self):
        shell = self.shell()
        caller = self.open(shell, "native://login")
        shell.until("  name? text; 1 to 40 characters")
        shell.type("", "x" * 41, "Anna")
        self.assertIn("must not be empty", shell.until("error"))
        self.assertIn("41 characters", shell.until("error"))
        self.assertEqual({"name": "Anna"}, caller.result()["data"])

    def test_back_dismisses_page_and_shows_page_beneath(self):
        shell = self.shell()
        shell.type("open native://home")
        shell.until("shown ")
        caller = self.open(shell, "native://address/list")
        shell.until("shown ")
        shell.type("back")
        self.assertRegex(shell.until("closed"), r"dismissed$")
        self.assertRegex(shell.until("top"), r"native://home$")
        self.assertEqual("dismissed", caller.result()["outcome"])

    def test_cancel_dismisses_page_beneath_others(self):
        shell = self.shell()
        shell.type("open native://home")
        shell.until("shown ")
        caller = self.open(shell, "native://login")
        shell.until("shown ")
        shell.type("cancel")
        self.assertEqual("dismissed", caller.result()["outcome"])

    def test_any_value_finishes_any_page(self):
        shell = self.shell()
        caller = self.open(shell, "native://home")
        self.assertIn(" page ", shell.until("shown "))
        shell.type('finish {"n": [1, null]}')
        self.assertEqual({"n": [1, None]}, caller.result()["data"])

    def test_caller_cancels_open_page(self):
        shell = self.shell()
        client = self.client(shell)
        client.send("router.open", {"uri": "native://login"}, id=1)
        page = shell.until("shown ").split()[1]
        client.until("$/progress")
        client.send("$/cancelRequest", {"id": 1})
        self.assertEqual(f"closed {page} cancelled", shell.until("closed"))
        self.assertEqual("cancelled", client.response(1)["result"]["outcome"])
        shell.type("1")
        self.assertIn("no page or sheet to respond to", shell.until("error"))

    def test_page_call_prompts_for_result(self):
        shell = self.shell()
        self.open(shell, "native://cart")
        page = shell.until("shown ").split()[1]
        caller = self.call(shell, "page.call", page=page, method="total")
        self.assertRegex(shell.until("asked "), r" sheet native://cart total$")
        shell.type("1250", "EUR")
        self.assertEqual({"amount": 1250, "currency": "EUR"}, caller.result())
        self.assertIn("-32601", self.call(shell, "page.call", page=page, method="nothing").error())


class Sheets(Shells):
    def test_task_is_shown_as_sheet_with_progress(self):
        shell = self.shell("--task", "action://share")
        caller = self.call(shell, "router.invoke", uri="action://share", params={"title": "Tea", "url": "https://shop.example/tea"})
        self.assertRegex(shell.until("asked "), r"^asked sheet-1 sheet action://share$")
        self.assertIn("title: Tea", shell.until("  title"))
        shell.until("  1  shared: yes")
        shell.type('progress {"percent": 50}', "1")
        self.assertEqual("closed sheet-1 answered", shell.until("closed"))
        self.assertEqual({"shared": True}, caller.result())

    def test_cancelled_sheet_returns_app_error(self):
        shell = self.shell("--task", "action://share", "action://pick")
        caller = self.call(shell, "router.invoke", uri="action://share")
        shell.until("asked ")
        shell.type("cancel")
        self.assertIn("error 1: cancelled by the user", caller.error())

    def test_cancelled_call_closes_its_sheet(self):
        shell = self.shell("--task", "action://share")
        client = self.client(shell)
        client.send("router.invoke", {"uri": "action://share"}, id=1)
        shell.until("asked ")
        client.send("$/cancelRequest", {"id": 1})
        self.assertEqual("closed sheet-1 withdrawn", shell.until("closed"))
        self.assertEqual(-32800, client.response(1)["error"]["code"])


class Calls(Shells):
    def test_calls_print_progress_and_events(self):
        shell = self.shell("--task", "action://share", "--topic", "page.opened", "page.closed")
        shell.type("open native://home", "wait", "finish 7", "run action://share", "wait", "progress 3", "2")
        self.assertRegex(shell.until("event page.opened"), r"native://home")
        # Each call prints what becomes of it when it learns of it.
        outcome, *_ = shell.until_all(
            "outcome native://home ", "progress action://share 3", 'value action://share {"shared":false}'
        )
        self.assertEqual(7, json.loads(outcome.removeprefix("outcome native://home "))["data"])
        shell.type("run action://nothing")
        self.assertIn("error 2404", shell.until("error"))

    def test_stack_and_help_commands(self):
        shell = self.shell()
        shell.type("open native://home", "wait", "stack", "help")
        shell.until("stack")
        self.assertEqual("  tab 0 native://home, 0 waiting", shell.line())
        self.assertEqual("  tab 1 native://discover, 0 waiting", shell.line())
        shell.line()
        self.assertRegex(shell.line(), r"^  \S+ native://home push \S+$")
        self.assertIn("choose an entry", shell.until("NUMBER"))

    def test_invited_page_joins_session(self):
        shell = self.shell()
        shell.type("invite https://shop.example/tea.html#top")
        address = shell.until("invitation ").removeprefix("invitation ")
        page, _, text = address.partition("&waybridge=")
        self.assertEqual("https://shop.example/tea.html#top", page)
        invitation = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        self.assertEqual((self.server.url, shell.session), (invitation["url"], invitation["session"]))
        with SessionClient(self.server.port, invitation["session"], invitation["token"]) as client:
            self.assertTrue(client.hello["guest"])

    def test_shell_joins_session_of_another_shell(self):
        shell = self.shell()
        other = Shell(self.server.url, "--scheme", "flutter", "--session", shell.session, WAYBRIDGE_JOIN=shell.join)
        with other:
            self.assertEqual(f"session {shell.session}", other.until("session "))
            caller = self.open(shell, "flutter://profile/7")
            self.assertIn("flutter://profile/7", other.until("shown "))
            followed = {"id": "7", "name": "Mira", "followed": True}
            other.type(f"finish {json.dumps(followed)}")
            self.assertEqual(followed, caller.result()["data"])

    def test_session_and_join_flags_need_each_other(self):
        for flags in (["--session", "s"], ["--join", "j"]):
            for command in (["shell"], ["call", "$/ping"]):
                code, output, errors = run(*command, "--url", self.server.url, *flags)
                self.assertEqual((1, ""), (code, output))
                self.assertIn("--session and --join belong together", errors)

    def test_join_token_can_start_with_hyphen(self):
        code, _, errors = run("call", "$/ping", "--url", self.server.url, "--session", "s-0", "--join", "-h")
        self.assertEqual(1, code)
        self.assertIn("error 2401", errors)

    def test_invalid_content_is_rejected(self):
        for value, reason in [([], "must be an object"), ({"addressList": 1}, '"addressList" must be an array')]:
            code, _, errors = run("shell", "--url", self.server.url, "--content", self.content(value))
            self.assertEqual(1, code)
            self.assertIn(reason, errors)


class Ends(Shells):
    def test_end_of_input_quit_and_signals_exit_cleanly(self):
        endings = [
            lambda shell: shell.close(), lambda shell: shell.type("quit"),
            lambda shell: shell.process.send_signal(signal.SIGTERM), lambda shell: shell.process.send_signal(signal.SIGINT),
        ]  # fmt: skip
        for end in endings:
            shell = self.shell("--topic", "page.opened")
            caller = self.open(shell, "native://home")
            shell.until("event page.opened")
            end(shell)
            self.assertEqual(0, shell.process.wait(timeout=20))
            self.assertEqual("failed", caller.result()["outcome"])

    def test_signals_end_shell_during_wait(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            shell = self.shell()
            # Lines are processed in order, so it waits once the stack is printed.
            shell.type("stack", "wait")
            shell.until("stack")
            shell.process.send_signal(number)
            self.assertEqual(0, shell.process.wait(timeout=20))

    def test_lost_connection_ends_shell_during_wait(self):
        # It requests the routes, then in any order events and the stack.
        with ScriptedBridge([response(HELLO, SESSION)], [response(1, [])], [], [4001]) as bridge, Shell(bridge.url) as shell:
            shell.type("stack", "wait")
            self.assertEqual(1, shell.process.wait(timeout=20))
            self.assertIn(b"the server has ended the session with code 4001", shell.process.stderr.read())

    def test_unreadable_input_is_an_error(self):
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run(
            [WAYBRIDGE, "shell", "--url", self.server.url], stdin=folder, capture_output=True, text=True, timeout=30, env=environment({}))
        self.assertEqual((1, "Error: standard input cannot be read: Is a directory\n"), (done.returncode, done.stderr))

    def test_lines_dropped_for_slow_reader_are_counted(self):
        shell = self.shell()
        # Far more than the shell buffers for a reader that does not read; each line causes an error.
        count = 40_000
        shell.type(*["x" * 100] * count, "quit")
        output = shell.process.stdout.read().decode().splitlines()
        error_lines = [line for line in output if line.startswith("error ")]
        left = [int(line.split()[0]) for line in output if re.fullmatch(r"\d+ lines left out", line)]
        self.assertEqual(count, len(error_lines) + sum(left))
        self.assertTrue(left)
        self.assertEqual(0, shell.process.wait(timeout=20))

    def test_unread_output_does_not_delay_exit(self):
        shell = self.shell()
        # The output for it is more than a pipe can hold, and so are its responses.
        shell.type(*["x" * 100] * 5000)
        shell.process.send_signal(signal.SIGTERM)
        shell.process.send_signal(signal.SIGINT)
        self.assertEqual(1, shell.process.wait(timeout=20))

    def test_input_before_end_is_executed(self):
        shell = self.shell()
        caller = self.open(shell, "native://home")
        shell.until("shown ")
        shell.type("finish 5", "quit")
        self.assertEqual(5, caller.result()["data"])
        self.assertEqual(0, shell.process.wait(timeout=20))

    def test_unreachable_server_is_an_error(self):
        code, output, errors = run("shell", "--url", f"ws://127.0.0.1:{free_port()}/bridge")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("is the server running?", errors)

    def test_page_survives_server_kill_and_restart(self):
        serve = ["serve", "--table", TABLE, "--data", str(self.folder / "data")]
        with Server(*serve, "--port", "0") as server, Shell(server.url) as shell:
            shell.joined()
            with SessionClient(server.port, shell.session, shell.join) as client:
                client.send("router.open", {"uri": "native://login", "key": "login"}, id=1)
                shell.until("shown ")
                client.until("$/progress")
                server.end(signal.SIGKILL)
                shell.until("lost")
                # Lines that are typed meanwhile wait.
                shell.type("Anna")
                with Server(*serve, "--port", str(server.port)) as again:
                    # In any order: the page closes on the client's thread.
                    shell.until_all("resumed", "closed p1 finished")
                    with SessionClient(again.port, shell.session, shell.join) as opener:
                        opener.send("router.open", {"uri": "native://login", "key": "login"}, id=2)
                        self.assertEqual({"name": "Anna"}, opener.response(2)["result"]["data"])

    def test_lost_session_restarts_without_pages(self):
        with Server("serve", "--table", TABLE, "--port", "0") as server, Shell(server.url) as shell:
            shell.joined()
            shell.type("open native://home")
            shell.until("shown ")
            server.end(signal.SIGKILL)
            shell.until("lost")
            with Server("serve", "--table", TABLE, "--port", str(server.port)):
                old = shell.session
                shell.until("new session: unknown, 1 pages")
                shell.joined()
                self.assertNotEqual(old, shell.session)


class Hostile(Shells):
    def test_lines_contain_no_control_characters(self):
        shell = self.shell("--content", self.content({"addressList": [HOSTILE]}))
        self.open(shell, "native://address/list", params={"selected": HOSTILE})
        shell.until("shown ")
        shell.until("  1, or")
        text = "\n".join(shell.lines)
        self.assertIn("selected: ␛[2J␇\ufffd2J\ufffd␍␊red", text)
        for character in "\x1b\x07\u009b\u202e\r":
            self.assertNotIn(character, text)

    def test_terminal_receives_no_control_characters_from_content(self):
        with Terminal(self.server.url, "--content", self.content({"addressList": [HOSTILE] * 2000})) as terminal:
            terminal.screen("others join with")
            session, join = terminal.membership()
            with SessionClient(self.server.port, session, join) as client:
                client.send("router.open", {"uri": "native://address/list", "params": {"selected": HOSTILE * 1000, HOSTILE: 1}}, id=1)
                terminal.screen("Addresses", "1  ␛[2J␇", "more")
            for character in "\x07\u009b\u202e":
                self.assertNotIn(character, terminal.sent)


class AtTerminal(Shells):
    def terminal(self, *arguments, **how):
        terminal = Terminal(self.server.url, *arguments, **how)
        self.addCleanup(terminal.__exit__)
        terminal.__enter__()
        terminal.screen("others join with", prompt=">")
        return terminal

    def test_pages_are_drawn_over_pages_beneath(self):
        terminal = self.terminal("--content", self.content({"addressList": ADDRESSES}))
        terminal.type("open native://home")
        terminal.screen("┌─ Home")
        terminal.type("open native://address/list")
        rows = terminal.screen("├─ Addresses", "2  Studio", without=["> open"], prompt=">")
        self.assertTrue(rows[1].startswith("┌─ Home ──"), rows)
        frame = [row for row in rows if row.startswith("│")]
        self.assertTrue(all(len(row) == 80 and row.endswith("│") for row in frame), rows)
        self.assertEqual(">", rows[23])
        self.assertIn("\x1b[1m", terminal.sent)
        terminal.type("2")
        terminal.screen("┌─ Home", 'outcome native://address/list {"outcome":"finished"', without=["├─ Addresses"])
        terminal.type("help")
        terminal.screen("choose an entry", "leave the session")
        terminal.type("")
        terminal.screen("┌─ Home", without=["choose an entry"])
        terminal.type("quit")
        self.assertEqual(0, terminal.ended())
        # The previous content of the screen is restored.
        self.assertTrue(terminal.sent.endswith("\x1b[?1049l"))

    def test_typed_input_stays_after_prompt(self):
        # The terminal echoes between any two writes, at the current position of the cursor.
        terminal = self.terminal("--content", self.content({"addressList": ADDRESSES}))
        terminal.type("open native://address/list")
        terminal.screen("2  Studio", "1 to 2, or back", "opened p1", prompt=">")
        visible = re.sub("\x1b7.*?\x1b8", "", terminal.sent)
        self.assertEqual({"24"}, set(re.findall("\x1b\\[(\\d+);1H", visible)))

    def test_resize_redraws_the_screen(self):
        terminal = self.terminal()
        terminal.type("open native://share/sheet")
        terminal.screen("┌─ Share sheet", "3  link")
        for columns, rows in [(40, 12), (120, 40), (20, 8), (5, 3)]:
            terminal.resize(columns, rows)
            if columns < 20:
                continue
            shown = terminal.screen("Share", "1  messages", prompt=">")
            self.assertTrue(all(len(row) <= columns for row in shown), shown)
        terminal.resize(40, 12)
        terminal.screen("┌─ Share sheet", "3  link")
        terminal.type("3")
        terminal.screen("No page is shown")
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(0, terminal.ended())

    def test_no_color_disables_colors(self):
        terminal = self.terminal(NO_COLOR="1")
        terminal.type("open native://home")
        terminal.screen("┌─ Home")
        self.assertNotRegex(terminal.sent, r"\x1b\[[\d;]*m")

    def test_first_line_shows_lost_connection(self):
        with Server("serve", "--table", TABLE, "--port", "0") as server, Terminal(server.url) as terminal:
            terminal.screen("connected")
            server.end(signal.SIGKILL)
            terminal.screen("lost; attempt")
            with Server("serve", "--table", TABLE, "--port", str(server.port)):
                terminal.screen("│ connected │")

    def test_dumb_terminal_receives_plain_lines(self):
        with Terminal(self.server.url, TERM="dumb") as terminal:
            terminal.screen("others join with")
            self.assertNotIn("\x1b", terminal.sent)


if __name__ == "__main__":
    unittest.main()
