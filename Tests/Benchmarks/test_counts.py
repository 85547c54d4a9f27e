"""When a count fails, and that a stored one can be compared."""

import json
import pathlib
import unittest

import callgrind
import counts
import frames
import kinds

KEPT = pathlib.Path(__file__).with_name("instructions.json")


class ComparisonTests(unittest.TestCase):
    def test_increase_above_three_percent_fails(self):
        for kept, found, has_failed, is_outdated, text in [
            (10_000, 10_000, False, False, "kept 10,000 (+0.0%)"), (10_000, 10_299, False, False, "(+3.0%)"),
            (10_000, 10_301, True, False, "(+3.0%)  FAILED: more than 3% up"), (10_000, 9_701, False, False, "(-3.0%)"),
            (10_000, 9_699, False, True, "(-3.0%)  more than 3% down"),
        ]:
            result = counts.compare({"page": kept}, {"page": found})
            self.assertEqual((has_failed, is_outdated), (result.has_failed, result.is_outdated), found)
            self.assertIn(text, result.lines[0])
            self.assertIn(f"page: {found:,}", result.lines[0])

    def test_one_failed_kind_fails_comparison(self):
        result = counts.compare({"page": 100, "event": 100, "hosted": 100}, {"page": 100, "event": 110, "hosted": 80})
        self.assertEqual((True, True, 3), (result.has_failed, result.is_outdated, len(result.lines)))

    def test_kind_without_stored_count_fails(self):
        self.assertTrue(counts.compare({}, {"page": 1}).has_failed)
        self.assertEqual([], counts.compare({"page": 1}, {}).lines)
        self.assertFalse(counts.compare({"page": 1}, {}).has_failed)

    def test_different_conditions_are_listed(self):
        found = {"swift": "6.4", "glibc": "2.36", "avx2": True}
        self.assertEqual(
            ["swift was 6.3 and is 6.4", "avx2 was unknown and is True"],
            counts.differing({"swift": "6.3", "glibc": "2.36"}, found),
        )


class CountTests(unittest.TestCase):
    def test_count_is_least_with_spread(self):
        self.assertEqual(counts.Count(100, 0.4), counts.Count.of([110, 100, 140]))

    def test_least_count_needs_another_one_like_it(self):
        for found, is_disturbed in [([100], False), ([100, 101, 140], False), ([140, 102, 100], True), ([130, 131, 100], True)]:
            self.assertEqual(is_disturbed, counts.is_disturbed(found), found)

    def test_total_of_callgrind_dump(self):
        self.assertEqual(1234567, callgrind.total("version: 1\nevents: Ir\nsummary: 12\nfn=(1) f\n1 5\ntotals: 1234567\n"))
        with self.assertRaises(ValueError):
            callgrind.total("events: Ir\n")

    def test_every_kind_has_stored_count(self):
        kept = json.loads(KEPT.read_text())["instructions"]
        self.assertEqual(set(kinds.KINDS), set(kept))

    def test_last_rules_of_policy_match(self):
        rules = json.loads(kinds.policy())["rules"]
        self.assertEqual(20, len(rules))
        self.assertEqual(["actions"], [rule["name"] for rule in rules if "action://*" in rule.get("routes", [])])
        self.assertEqual(["events", "actions"], [rule["name"] for rule in rules[-2:]])


class Frames(unittest.TestCase):
    def test_client_frames_are_masked(self):
        for size, head in [(5, b"\x81\x85"), (125, b"\x81\xfd"), (126, b"\x81\xfe\x00\x7e"), (65_535, b"\x81\xfe\xff\xff")]:
            text = bytes(index % 251 for index in range(size))
            frame = frames.masked(text)
            self.assertEqual(head + frames.KEY, frame[: len(head) + 4])
            payload = frame[len(head) + 4 :]
            self.assertEqual(text, bytes(byte ^ frames.KEY[index % 4] for index, byte in enumerate(payload)))

    def test_split_returns_whole_texts_and_rest(self):
        small, middle, large = b"a", b"b" * 300, b"c" * 70_000
        data = b"\x81\x01" + small + b"\x81\x7e\x01\x2c" + middle + b"\x81\x7f" + (70_000).to_bytes(8) + large
        self.assertEqual(([small, middle, large], b""), frames.split(data))
        for cut in (0, 1, 2, 3, 5, 7, 306, 307, 310, 320, len(data) - 1):
            texts, rest = frames.split(data[:cut])
            more, left = frames.split(rest + data[cut:])
            self.assertEqual(([small, middle, large], b""), (texts + more, left), cut)

    def test_pings_are_skipped_and_close_is_an_error(self):
        self.assertEqual(([b"a"], b""), frames.split(b"\x89\x00\x81\x01a"))
        with self.assertRaises(ConnectionError):
            frames.split(b"\x88\x02\x10\x69")

    def test_every_request_needs_its_result(self):
        requests = [{"id": 1}, {"id": 2}]
        responses = [{"id": 2, "result": "b"}, {"id": 1, "result": "a"}]
        self.assertEqual(["a", "b"], frames.results(responses, requests))
        for wrong in ([responses[0], responses[0]], [responses[0], {"id": 1, "error": {}}], [responses[0], {"id": 3, "result": 1}]):
            with self.assertRaises(ConnectionError):
                frames.results(wrong, requests)


if __name__ == "__main__":
    unittest.main()
