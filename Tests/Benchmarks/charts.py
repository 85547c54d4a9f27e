"""The plots of `run`, as SVG that follows the reader's choice of light or dark: a panel for each shape, a line for each
server, the reference in colour."""

import math
from xml.sax.saxutils import escape

from rounds import number

WIDTH = 860
LEFT = 240  # start of the plot: names of servers are in front of it
RIGHT = 90  # space after it for figures
LINE = 22
HEAD = 30  # above the lines of a panel, for the shape's name
GAP = 14
TOP = 56
STYLE = """
  .back { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 16px; font-weight: 600 }
  .shape { font-weight: 600 } .small { font-size: 11px; fill: #59636e } .grid { stroke: #d1d9e0; stroke-width: 1 }
  .own { fill: #0969da; stroke: #0969da } .other { fill: #818b98; stroke: #818b98 } .span { stroke: #1f2328; stroke-width: 1.5 }
  .bar { stroke: none } .range { stroke-width: 2 } .hollow { fill: #ffffff; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #3d444d }
    .own { fill: #4493f8; stroke: #4493f8 } .other { fill: #9198a1; stroke: #9198a1 } .span { stroke: #e6edf3 }
    .hollow { fill: #0d1117 }
  }
"""


class Drawing:
    """A drawing that grows downwards."""

    def __init__(self, title):
        self.title = title
        self.parts = []
        self.text(16, 28, title, "title")

    def text(self, x, y, text, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def bar(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="bar {kind}"/>')

    def dot(self, x, y, radius, kind):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def svg(self, height):
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img"><title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n'
            f'<rect class="back" width="{WIDTH}" height="{height}"/>\n{body}\n</svg>\n'
        )


def steps(most):
    """About five round figures from 0; the last one is not below `most`."""
    rough = most / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * index for index in range(math.ceil(most / step - 1e-9) + 1)]


def decades(least, most):
    """The powers of ten from at most `least` to at least `most`; at least two."""
    low = math.floor(math.log10(least))
    return [10.0**power for power in range(low, max(math.ceil(math.log10(most)), low + 1) + 1)]


def duration(microseconds):
    """10 µs, 1 ms, 2 s"""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:g} {unit}"
    return f"{microseconds:g} µs"


def panels(drawing, shapes, ticks, place, label, draw):
    """Draws the shapes one below the other, with `draw(row, y, kind)` for each server, and returns the height of the whole."""
    y = TOP
    for shape in shapes:
        bottom = y + HEAD + LINE * len(shape.rows)
        drawing.text(16, y + 18, shape.name, "shape")
        for tick in ticks:
            drawing.line(place(tick), y + HEAD - 4, place(tick), bottom, "grid")
            drawing.text(place(tick), y + HEAD - 9, label(tick), "small", "middle")
        for index, row in enumerate(shape.rows):
            middle = y + HEAD + LINE * index + LINE / 2
            drawing.text(LEFT - 10, middle + 4, row.server, anchor="end")
            draw(row, middle, "own" if index == 0 else "other")
        y = bottom + GAP
    return y + 4


def costs(shapes):
    """Processor time of a call: bars of the medians, with a line from the minimum to the maximum."""
    ticks = steps(max(row.cost.high for shape in shapes for row in shape.rows))

    def place(value):
        return LEFT + value / ticks[-1] * (WIDTH - LEFT - RIGHT)

    def draw(row, y, kind):
        drawing.bar(LEFT, y - 7, place(row.cost.median) - LEFT, 14, kind)
        drawing.line(place(row.cost.low), y, place(row.cost.high), y, "span")
        drawing.text(place(row.cost.high) + 8, y + 4, number(row.cost.median))

    drawing = Drawing("Processor time a call of the server, µs (less is better)")
    return drawing.svg(panels(drawing, shapes, ticks, place, lambda tick: f"{tick:g}", draw))


def latencies(shapes):
    """Durations of calls: a line from the median over p99 to p99.9, medians of the rounds, on a logarithmic scale."""
    values = [value.median for shape in shapes for row in shape.rows for value in (row.p50, row.p99, row.p999)]
    ticks = decades(min(values), max(values))

    def place(value):
        part = math.log(value / ticks[0]) / math.log(ticks[-1] / ticks[0])
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def draw(row, y, kind):
        p50, p99, p999 = (place(value.median) for value in (row.p50, row.p99, row.p999))
        drawing.line(p50, y, p999, y, f"range {kind}")
        drawing.line(p999, y - 6, p999, y + 6, f"range {kind}")
        drawing.dot(p99, y, 4, f"{kind} hollow")
        drawing.dot(p50, y, 5, kind)

    drawing = Drawing("Time of a call: p50 ●, p99 ○, p99.9 | (less is better)")
    return drawing.svg(panels(drawing, shapes, ticks, place, duration, draw))
