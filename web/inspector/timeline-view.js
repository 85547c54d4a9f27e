// @ts-check
import { atMost, byId, element, onFrame, svg } from "./dom.js";
import { clock, duration } from "./format.js";
import { clockOffset, lanes } from "./timeline.js";

const rowHeight = 16;
const laneGap = 6;
const titleHeight = 13;
const axisHeight = 18;

/** The timeline of a session. Events: `choose` with the call of the bar that was pressed. */
export class TimelineView extends EventTarget {
  #place = byId("timeline", HTMLElement);
  #window = byId("window", HTMLSelectElement);
  #records;
  /** @type {string | undefined} */
  #session;
  /** @type {number | undefined} the offset of the server's clock from the browser's */
  #clockOffset;

  /** @param {import("./records.js").Records} records */
  constructor(records) {
    super();
    this.#records = records;
    // The whole picture is redrawn.
    records.addEventListener("change", atMost(400, this.draw));
    this.#window.addEventListener("change", this.draw);
    new ResizeObserver(this.draw).observe(this.#place);
    // Running calls grow as time passes.
    setInterval(() => {
      if (!document.hidden) this.draw();
    }, 1000);
  }

  /** @param {string | undefined} session */
  showSession(session) {
    this.#session = session;
    this.draw();
  }

  /**
   * Sets the offset of the server's clock.
   * @param {number} at
   * @param {number} requestedAt when it was requested, by this clock
   */
  setClock(at, requestedAt) {
    this.#clockOffset = clockOffset(this.#clockOffset, at, requestedAt, Date.now());
  }

  draw = onFrame(() => {
    if (this.#place.offsetParent === null) return;
    const session = this.#session;
    if (!session) return this.#place.replaceChildren(element("p", { class: "empty" }, "Select a session."));
    const width = Math.floor(this.#place.clientWidth);
    if (width === 0) return;
    const to = Date.now() + (this.#clockOffset ?? 0);
    const span = Number(this.#window.value);
    const from = to - span;
    const { lanes: shown, left } = lanes(this.#records, session, from, to);
    if (shown.length === 0) {
      return this.#place.replaceChildren(element("p", { class: "empty" }, `Nothing happened in the last ${this.#window.selectedOptions[0].label}.`));
    }
    const x = (/** @type {number} */ at) => ((Math.min(Math.max(at, from), to) - from) / span) * width;
    /** @type {SVGElement[]} */
    const parts = [];
    let y = axisHeight;
    let count = 0;
    for (const { title, rows } of shown) {
      const height = titleHeight + rows.length * rowHeight;
      parts.push(svg("text", { class: "lane-title", x: 4, y: y + 10 }, title));
      rows.forEach((row, place) => {
        for (const bar of row) {
          count += 1;
          const left = x(bar.from);
          const wide = Math.max(2, x(bar.to) - left);
          const top = y + titleHeight + place * rowHeight;
          const group = svg("g", { class: "bar", "data-kind": bar.kind, "data-error": bar.isError, "data-open": bar.isOpen },
            svg("title", {}, `${bar.text}, ${bar.isOpen ? "running for" : duration(bar.to - bar.from)} ${bar.isOpen ? duration(bar.to - bar.from) : ""}`.trim()),
            svg("rect", { x: left.toFixed(1), y: top, width: wide.toFixed(1), height: rowHeight - 3, rx: 3 }),
            wide > 46 && svg("text", { x: (left + 4).toFixed(1), y: top + 10 }, cut(bar.text, wide - 8)));
          const { call } = bar;
          if (call) group.addEventListener("click", () => this.dispatchEvent(new CustomEvent("choose", { detail: call })));
          parts.push(group);
        }
      });
      y += height + laneGap;
    }
    const label = `${count} spans of the last ${duration(span)} in ${shown.map(({ title }) => title).join(", ")}; the list of calls has the same data`;
    this.#place.replaceChildren(svg("svg", { role: "img", "aria-label": label, width, height: y, viewBox: `0 0 ${width} ${y}` },
      ...axis(from, to, x, y), ...parts));
    if (left > 0) this.#place.append(element("p", { class: "hint" }, `${left} more do not fit: select a shorter window.`));
  });
}

/**
 * @param {number} from
 * @param {number} to
 * @param {(at: number) => number} x
 * @param {number} height
 */
function axis(from, to, x, height) {
  const step = [1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000].find((each) => x(from + each) > 84) ?? 120_000;
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    marks.push(svg("line", { class: "mark", x1: x(at).toFixed(1), x2: x(at).toFixed(1), y1: axisHeight - 4, y2: height }));
    if (x(at) < x(to) - 50) marks.push(svg("text", { class: "mark-text", x: (x(at) + 3).toFixed(1), y: 11 }, clock(at, false)));
  }
  return marks;
}

/**
 * @param {string} text
 * @param {number} width pixels
 */
function cut(text, width) {
  const room = Math.max(1, Math.floor(width / 6.2));
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}
