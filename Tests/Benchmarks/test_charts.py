"""The plots: nothing is outside of them, nothing overlaps, and larger figures are drawn longer."""

import unittest
import xml.etree.ElementTree as ElementTree

import charts
from rounds import Row, Shape, Spread

SVG = "{http://www.w3.org/2000/svg}"


def at(value):
    return Spread(value, value * 0.9, value * 1.2)


def row(shape, server, cost, p50):
    return Row(shape, server, at(cost), at(1e6 / cost), at(1), at(p50), at(p50 * 5), at(p50 * 50))


SHAPES = [
    Shape(name, [row(name, "waybridge", 2 * factor, 30 * factor), row(name, "a < b & c", 90 / factor, 100 * factor)], 5, 0)
    for name, factor in (("1×1", 1), ("1,000×16", 9))
]


def drawn(text):
    return ElementTree.fromstring(text)


class Charts(unittest.TestCase):
    def test_every_server_and_shape_is_drawn(self):
        for draw in (charts.costs, charts.latencies):
            texts = [each.text for each in drawn(draw(SHAPES)).iter(SVG + "text")]
            for text, count in [("waybridge", 2), ("a < b & c", 2), ("1×1", 1), ("1,000×16", 1)]:
                self.assertEqual(count, texts.count(text), text)

    def test_nothing_is_drawn_outside(self):
        for draw in (charts.costs, charts.latencies):
            root = drawn(draw(SHAPES))
            width, height = float(root.get("width")), float(root.get("height"))
            for each in root.iter():
                for names, limit in [(("x", "x1", "x2", "cx"), width), (("y", "y1", "y2", "cy"), height)]:
                    for name in names:
                        self.assertTrue(0 <= float(each.get(name, 0)) <= limit, ElementTree.tostring(each))

    def test_texts_do_not_overlap(self):
        for draw in (charts.costs, charts.latencies):
            boxes = []
            for each in drawn(draw(SHAPES)).iter(SVG + "text"):
                # No letter is wider than this; those of the grid are smaller.
                width = len(each.text) * (6 if each.get("class") == "small" else 8)
                left = float(each.get("x")) - width * {"start": 0, "middle": 0.5, "end": 1}[each.get("text-anchor")]
                bottom = float(each.get("y"))
                boxes.append((left, left + width, bottom - 11, bottom, each.text))
            for index, (left, right, top, bottom, text) in enumerate(boxes):
                for other in boxes[index + 1 :]:
                    apart = right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top
                    self.assertTrue(apart, (text, other[4]))

    def test_bar_length_is_proportional_to_value(self):
        bars = [float(each.get("width")) for each in drawn(charts.costs(SHAPES)).iter(SVG + "rect") if "bar" in each.get("class")]
        self.assertEqual(4, len(bars))
        for bar, figure in zip(bars, (2, 90, 18, 10)):
            self.assertAlmostEqual(bars[1] / 90 * figure, bar, delta=0.2)

    def test_percentiles_are_drawn_in_order(self):
        places = {}
        for each in drawn(charts.latencies(SHAPES)).iter(SVG + "circle"):
            places.setdefault(each.get("cy"), []).append(float(each.get("cx")))
        self.assertEqual(4, len(places))
        for p99, p50 in places.values():
            self.assertLess(p50, p99)

    def test_scales_include_all_values(self):
        for most, expected in [(0.4, [0, 0.1, 0.2, 0.3, 0.4]), (87, [0, 20, 40, 60, 80, 100]), (100, [0, 20, 40, 60, 80, 100])]:
            found = charts.steps(most)
            self.assertEqual(len(expected), len(found), most)
            for want, value in zip(expected, found):
                self.assertAlmostEqual(want, value)
        for least, most, expected in [(12, 900, [10, 100, 1000]), (10, 10, [10, 100]), (99, 101, [10, 100, 1000])]:
            self.assertEqual(expected, charts.decades(least, most))

    def test_durations_have_a_readable_unit(self):
        for microseconds, text in [(10, "10 µs"), (1000, "1 ms"), (100000, "100 ms"), (1e6, "1 s"), (1e7, "10 s")]:
            self.assertEqual(text, charts.duration(microseconds))


if __name__ == "__main__":
    unittest.main()
