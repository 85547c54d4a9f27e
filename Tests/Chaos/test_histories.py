"""The checker of histories, Tests/Chaos/histories: a correct history, into which each test plants a fault that the checker must find."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HISTORIES = pathlib.Path(__file__).with_name("histories")
MS = 1_000_000


def program():
    """The checker, which has no suffix. No compiled file is left next to it."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("histories", str(HISTORIES))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("histories", loader))
    loader.exec_module(module)
    return module


CHECK = program().main


def owner(at, term, server, session="s"):
    return {"event": "owner", "session": session, "asked": at - MS, "came": at + MS, "server": server, "term": term, "at": at}


def call_event(number, call, at, **more):
    return {"event": "ask", "session": "s", "ask": number, "call": call, "kind": "task", "at": at, **more}


def end(number, at, how="result", **more):
    return {"event": "end", "ask": number, "how": how, "at": at, **more}


def done(call, at):
    return {"event": "done", "call": call, "at": at}


def messages_event(first, digests):
    return {"event": "heard", "client": "c", "epoch": "e", "first": first, "digests": digests}


def valid_history():
    """Two clients and a host: a takeover, a call of each kind, a key that both have requested, and a reload of one client."""
    return {
        "ada": [
            {"event": "told", "what": "open"},
            messages_event(1, "000100020003"),
            owner(10 * MS, 1, "east"),
            call_event(1, "plain", 11 * MS),
            end(1, 13 * MS, value="p"),
            call_event(2, "keyed", 14 * MS, key="k"),
            end(2, 16 * MS, value="v"),
            call_event(3, "lost", 17 * MS),
            messages_event(3, "00030004"),
            owner(40 * MS, 2, "west"),
            end(3, 41 * MS, "unknown"),
            call_event(4, "late", 42 * MS),
            end(4, 43 * MS, "refused"),
        ],
        "bob": [
            owner(12 * MS, 1, "east"),
            call_event(1, "page", 13 * MS, kind="page", key="shown"),
            call_event(2, "left", 14 * MS),
            {"event": "reload"},
            call_event(1, "page", 30 * MS, kind="page", key="shown"),
            call_event(2, "keyed", 31 * MS, key="k"),
            owner(41 * MS, 2, "west"),
            owner(41 * MS, 1, "west", session="other"),
            end(1, 44 * MS, value="u"),
            end(2, 45 * MS, value="v"),
        ],
        "host": [
            done("plain", 12 * MS), done("keyed", 15 * MS), done("lost", 18 * MS), done("left", 33 * MS),
        ],
    }


class Histories(unittest.TestCase):
    def setUp(self):
        self.history = valid_history()

    def read(self):
        """The exit code, the faults and the last line of the checker."""
        with tempfile.TemporaryDirectory() as folder:
            for name, events in self.history.items():
                lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
                pathlib.Path(folder, f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                code = CHECK([folder])
        *faults, last = output.getvalue().splitlines()
        return code, faults, last

    def expect(self, *faults):
        code, found, last = self.read()
        self.assertEqual(list(faults), found)
        self.assertEqual(1, code)
        self.assertTrue(last.endswith(f": {len(faults)} faults"), last)

    def expect_unreadable(self, text):
        code, faults, last = self.read()
        self.assertEqual((2, []), (code, faults))
        self.assertIn(text, last)

    def test_valid_history_has_no_faults(self):
        code, faults, last = self.read()
        self.assertEqual((0, []), (code, faults))
        self.assertEqual(
            "2 sessions, 5 answers of owners in 3 terms, 0.0 s at most between two of them, 6 calls, 5 numbers: all held", last)

    def test_two_servers_in_one_term(self):
        self.history["bob"][0]["server"] = "west"
        self.expect("one-owner: session s: term 1 is that of west (bob.jsonl:1) and of east (ada.jsonl:3)")

    def test_previous_owner_responds_after_takeover(self):
        self.history["carl"] = [owner(40 * MS + 500_000, 1, "east")]
        self.expect("two-owners: session s: east answered in term 1 (carl.jsonl:1) 0.500 ms after west in term 2 (ada.jsonl:10)")

    def test_previous_owner_responds_at_time_of_takeover(self):
        self.history["carl"] = [owner(40 * MS, 1, "east")]
        self.expect("two-owners: session s: east answered in term 1 (carl.jsonl:1) 0.000 ms after west in term 2 (ada.jsonl:10)")

    def test_intermediate_term_does_not_hide_late_owner(self):
        self.history["carl"] = [owner(60 * MS, 1, "east"), owner(70 * MS, 3, "east")]
        self.history["dora"] = [owner(50 * MS, 3, "east")]
        self.expect(
            "two-owners: session s: east answered in term 1 (carl.jsonl:1) 20.000 ms after west in term 2 (ada.jsonl:10)",
            "two-owners: session s: east answered in term 1 (carl.jsonl:1) 10.000 ms after east in term 3 (dora.jsonl:1)")

    def test_client_observes_decreasing_terms(self):
        # Delivered late, although made in time.
        self.history["ada"].append({**owner(12 * MS, 1, "east"), "came": 50 * MS})
        self.expect("term-back: session s: term 1 (ada.jsonl:14) after 2 (ada.jsonl:10)")

    def test_owner_responds_before_request(self):
        self.history["ada"][2]["at"] -= 2 * MS
        self.expect(f"clock: session s: east answered at {8 * MS}, asked at {9 * MS} and heard at {11 * MS} (ada.jsonl:3)")

    def test_owner_responds_after_response_arrived(self):
        self.history["ada"][2]["at"] += 2 * MS
        self.expect(f"clock: session s: east answered at {12 * MS}, asked at {9 * MS} and heard at {11 * MS} (ada.jsonl:3)")

    def test_idempotency_key_with_two_results(self):
        self.history["bob"][9]["value"] = "w"
        self.expect('one-result: session s: the key k has the results "w" (bob.jsonl:10) and "v" (ada.jsonl:7)')

    def test_idempotency_key_without_result(self):
        self.history["bob"][8]["how"] = "unknown"
        self.expect("no-result: session s: the key shown has no result (bob.jsonl:2)")

    def test_task_with_key_done_twice(self):
        self.history["host"].append(done("keyed", 32 * MS))
        self.expect("once: session s: keyed was done 2 times (host.jsonl:2, host.jsonl:5)")

    def test_task_without_key_done_twice(self):
        self.history["host"].append(done("lost", 19 * MS))
        self.expect("once: session s: lost was done 2 times (host.jsonl:3, host.jsonl:5)")

    def test_result_of_task_that_was_not_done(self):
        del self.history["host"][0]
        self.expect("once: session s: plain has a result (ada.jsonl:5) and was not done")

    def test_idempotency_key_of_task_that_was_not_done(self):
        self.history["host"] = [event for event in self.history["host"] if event["call"] != "keyed"]
        self.expect("once: session s: keyed has a result (ada.jsonl:7) and was not done")

    def test_task_rejected_but_done(self):
        self.history["host"].append(done("late", 43 * MS))
        self.expect("once: session s: late was refused (ada.jsonl:13) and done (host.jsonl:5)")

    def test_task_done_without_call(self):
        self.history["host"].append(done("nobody", 43 * MS))
        self.expect("called: nobody was done and never called (host.jsonl:5)")

    def test_task_done_before_call(self):
        self.history["host"][0]["at"] = 10 * MS
        self.expect("called: session s: plain was done (host.jsonl:1) before it was called (ada.jsonl:4)")

    def test_result_before_task_was_done(self):
        self.history["host"][0]["at"] = 14 * MS
        self.expect("called: session s: plain has its result (ada.jsonl:5) before it was done (host.jsonl:1)")

    def test_call_without_end(self):
        del self.history["ada"][10]
        self.expect("ended: session s: lost has no end (ada.jsonl:8)")

    def test_call_that_ends_twice(self):
        self.history["ada"].append(end(1, 44 * MS, value="p"))
        self.expect("ended: what ends here has ended before (ada.jsonl:5) (ada.jsonl:14)")

    def test_end_of_unknown_call(self):
        self.history["ada"].append(end(9, 44 * MS, value="p"))
        self.expect("ended: what ends here was never asked (ada.jsonl:14)")

    def test_end_of_call_before_reload(self):
        self.history["bob"].insert(4, end(2, 29 * MS, "unknown"))
        self.expect("ended: what ends here was never asked (bob.jsonl:5)")

    def test_gap_in_sequence_numbers(self):
        self.history["ada"][8]["first"] = 5
        self.expect("numbers: c of the epoch e heard 5 (ada.jsonl:9) after 3 (ada.jsonl:2)")

    def test_sequence_numbers_that_start_late(self):
        self.history["ada"][1] = messages_event(2, "00020003")
        self.expect("numbers: c of the epoch e heard 2 (ada.jsonl:2) after 0 (its begin)")

    def test_sequence_numbers_skipped_by_server(self):
        resumed = {"event": "resumed", "client": "c", "epoch": "e", "sent": 6}
        self.history["ada"] += [resumed, messages_event(7, "0007"), messages_event(5, "0005")]
        self.assertEqual((0, []), self.read()[:2])
        self.history["ada"] += [messages_event(9, "0009")]
        self.expect("numbers: c of the epoch e heard 9 (ada.jsonl:17) after 7 (ada.jsonl:16)")
        self.history["ada"][-1] = messages_event(5, "ffff")
        self.expect("numbers: c of the epoch e heard two messages under 5 (ada.jsonl:16, ada.jsonl:17)")

    def test_two_messages_with_one_sequence_number(self):
        self.history["ada"][8]["digests"] = "ffff0004"
        self.expect("numbers: c of the epoch e heard two messages under 3 (ada.jsonl:2, ada.jsonl:9)")

    def test_all_faults_are_reported(self):
        self.history["bob"][0]["server"] = "west"
        del self.history["ada"][10]
        self.expect(
            "one-owner: session s: term 1 is that of west (bob.jsonl:1) and of east (ada.jsonl:3)",
            "ended: session s: lost has no end (ada.jsonl:8)")

    def test_invalid_events_are_rejected(self):
        valid_lines = self.history["ada"]
        for line, message in [
            ("{", "ada.jsonl:14: no JSON: "),
            ("[]", "ada.jsonl:14: none of the events owner, "),
            ({"event": "seen"}, "ada.jsonl:14: none of the events owner, "),
            ({"event": "done", "call": "c"}, "ada.jsonl:14: done needs at, of the type int"),
            ({**owner(1, 1, "east"), "term": True}, "ada.jsonl:14: owner needs term, of the type int"),
            (call_event(7, "c", 1, key=7), "ada.jsonl:14: ask needs key, of the type str"),
            (end(7, 1, "somehow"), "ada.jsonl:14: how is one of refused, result, unknown"),
            (messages_event(1, "123"), "ada.jsonl:14: digests are 4 digits each"),
        ]:
            with self.subTest(line):
                self.history["ada"] = [*valid_lines, line]
                self.expect_unreadable(message)

    def test_history_without_owner_is_rejected(self):
        self.history = {name: [event for event in events if event["event"] != "owner"] for name, events in self.history.items()}
        self.expect_unreadable("no owner has answered")
        self.history = {}
        self.expect_unreadable("no owner has answered")

    def test_help_prints_usage(self):
        for arguments, code in ((["--help"], 0), ([], 64), (["a", "b"], 64)):
            done = subprocess.run([HISTORIES, *arguments], capture_output=True, text=True)
            self.assertEqual((code, "usage:"), (done.returncode, done.stdout[:6]))


if __name__ == "__main__":
    unittest.main()
