"""Which rounds count, and how they are evaluated."""

import json
import unittest

import rounds


def figures(cost, rate=1000, other=0.0, steal=0.0, p50=10):
    """The output of `wsload -j` for a server that needs `cost` µs per call."""
    return {
        "server_cpu": cost * rate / 1e6, "msgs_per_s": rate, "other_cpu": other, "steal": steal,
        "us": {"p50": p50, "p99": 2 * p50, "p999": 3 * p50},
    }


def turn(shape, number, **servers):
    return {"shape": shape, "round": number, "figures": servers}


class Disturbance(unittest.TestCase):
    def test_turn_is_disturbed_by_8_percent_of_a_core(self):
        for others, is_disturbed in [
            ([(0.0, 0.0), (0.0, 0.0)], False), ([(0.079, 0.0), (0.0, 0.0)], False), ([(0.08, 0.0), (0.0, 0.0)], True),
            ([(0.0, 0.0), (0.2, 0.0)], True), ([(0.0, 0.09), (0.0, 0.0)], True), ([(0.05, 0.04), (0.0, 0.0)], True),
            # The machine's time is counted in ticks, so that the rest for other programs can be negative.
            ([(-0.05, 0.07), (0.0, 0.0)], False),
        ]:
            first, second = (figures(1, other=other, steal=steal) for other, steal in others)
            self.assertEqual(is_disturbed, rounds.is_disturbed(turn("1×1", 0, a=first, b=second)), others)

    def test_disturbed_turns_are_discarded_for_all_servers(self):
        turns = [
            turn("1×1", 0, a=figures(2), b=figures(4)), turn("1×1", 1, a=figures(100), b=figures(200, other=0.5)),
            turn("1×1", 2, a=figures(3), b=figures(3)),
        ]
        (shape,) = rounds.summary(turns, "a")
        self.assertEqual((2, 1, False), (shape.counted, shape.disturbed, shape.is_all_disturbed))
        self.assertEqual([3, 4], [round(row.cost.high, 6) for row in shape.rows])
        self.assertEqual(2, rounds.undisturbed_count(turns, "1×1"))
        self.assertEqual(0, rounds.undisturbed_count(turns, "100×1"))

    def test_all_turns_count_if_all_are_disturbed(self):
        shapes = rounds.summary([turn("1×1", 0, a=figures(2, other=1)), turn("100×1", 0, a=figures(2))], "a")
        self.assertEqual([(1, True), (1, False)], [(shape.counted, shape.is_all_disturbed) for shape in shapes])
        remarks = rounds.remarks(shapes, 3, "a")
        self.assertIn("in every round at 1×1: these figures are disturbed", remarks)
        self.assertNotIn("in every round at 100×1", remarks)


class Summary(unittest.TestCase):
    turns = [
        turn("1×1", 0, a=figures(2, 100), b=figures(4, 10)), turn("1×1", 1, a=figures(10, 300), b=figures(10, 30)),
        turn("1×1", 2, a=figures(4, 200, p50=40), b=figures(6, 20)), turn("1×16", 0, a=figures(1), b=figures(1)),
    ]

    def test_figures_are_medians_with_minimum_and_maximum(self):
        shapes = rounds.summary(self.turns, "a")
        self.assertEqual(["1×1", "1×16"], [shape.name for shape in shapes])
        own, other = shapes[0].rows
        self.assertEqual(("a", "b"), (own.server, other.server))
        for expected, value in [
            ((4, 2, 10), own.cost), ((200, 100, 300), own.rate), ((1, 1, 1), own.ratio), ((10, 10, 40), own.p50),
            ((30, 30, 120), own.p999), ((6, 4, 10), other.cost), ((1.5, 1, 2), other.ratio),
        ]:
            for want, is_value in zip(expected, (value.median, value.low, value.high)):
                self.assertAlmostEqual(want, is_value)

    def test_table_has_a_line_per_server_and_shape(self):
        lines = rounds.table(rounds.summary(self.turns, "a")).splitlines()
        self.assertEqual(6, len(lines))
        self.assertEqual({9}, {line.count("|") for line in lines})
        self.assertEqual("| 1×1 | b | 6.00 (4.00–10.0) | 1.50 | 20.0 (10.0–30.0) | 10.0 | 20.0 | 30.0 |", lines[3])

    def test_remarks_list_counted_and_discarded_rounds(self):
        disturbed = turn("1×1", 3, a=figures(9, other=0.3), b=figures(9))
        for turns, expected in [
            (self.turns[:3], ["Medians of 3 rounds of 3 s", "to a in the same round", "No round was thrown away"]),
            (self.turns[:3] + [disturbed], ["Medians of 3 rounds", "Thrown away, since something else used 8 % of a core or more: 1 at 1×1"]),
            (self.turns, ["Medians of 1 to 3 rounds"]),
        ]:
            remarks = rounds.remarks(rounds.summary(turns, "a"), 3, "a")
            for text in expected:
                self.assertIn(text, remarks)

    def test_measurements_can_be_stored_as_json(self):
        again = json.loads(json.dumps(self.turns))
        self.assertEqual(rounds.table(rounds.summary(self.turns, "a")), rounds.table(rounds.summary(again, "a")))


class Texts(unittest.TestCase):
    def test_numbers_have_three_digits_or_more(self):
        for value, text in [(0.1234, "0.123"), (2.149, "2.15"), (31.44, "31.4"), (100, "100"), (359181.4, "359,181")]:
            self.assertEqual(text, rounds.number(value))


if __name__ == "__main__":
    unittest.main()
