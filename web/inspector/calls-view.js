// @ts-check
import { byId, element, onFrame, write } from "./dom.js";
import { clock, duration, short } from "./format.js";
import { textOf } from "./records.js";

/** @typedef {import("./records.js").Call} Call */

/** The list of calls. Only visible rows are elements, so that any number of calls can be listed. */
export class CallsView extends EventTarget {
  #grid = byId("calls", HTMLElement);
  #scroll = byId("calls-scroll", HTMLElement);
  #filter = byId("calls-filter", HTMLInputElement);
  #kind = byId("calls-kind", HTMLSelectElement);
  #follow = byId("follow", HTMLButtonElement);
  #count = byId("calls-count", HTMLElement);
  #found = byId("calls-found", HTMLElement);
  #space = element("div", { class: "grid-space", role: "presentation" });
  /** @type {HTMLElement[]} */
  #rows = [];
  #records;
  /** @type {Call[]} the calls that pass the filter */
  #shown = [];
  /** @type {WeakMap<Element, Call>} the call of each row */
  #callOfRow = new WeakMap();
  /** The number of the last call that was filtered. */
  #seen = 0;
  /** @type {string | undefined} */
  #session;
  /** @type {Call | undefined} */
  #chosen;
  /** Whether the filter has changed: screen readers then announce the count. */
  #isOtherFilter = false;
  /** Whether the current row gets the focus with the next drawing. */
  #takesFocus = false;
  #follows = true;
  #height = 30;

  /** @param {import("./records.js").Records} records */
  constructor(records) {
    super();
    this.#records = records;
    this.#scroll.append(this.#space);
    const draw = this.draw;
    records.addEventListener("change", (/** @type {any} */ { detail: { isInOrder } }) => (isInOrder ? this.#reset() : draw()));
    const filter = () => {
      this.#isOtherFilter = true;
      this.#reset();
    };
    this.#filter.addEventListener("input", filter);
    this.#kind.addEventListener("change", filter);
    this.#scroll.addEventListener("scroll", () => {
      const isAtEnd = this.#scroll.scrollTop + this.#scroll.clientHeight >= this.#scroll.scrollHeight - this.#height;
      if (!isAtEnd && this.#follows) this.#setFollow(false);
      draw();
    }, { passive: true });
    new ResizeObserver(draw).observe(this.#scroll);
    this.#follow.addEventListener("click", () => this.#setFollow(!this.#follows));
    this.#scroll.addEventListener("click", ({ target }) => {
      const call = this.#callOf(target);
      if (call) this.choose(call);
    });
    this.#grid.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * Shows the calls of one session; undefined shows all.
   * @param {string | undefined} session
   */
  showSession(session) {
    this.#session = session;
    this.#reset();
  }

  /** @param {Call | undefined} call to open */
  choose(call) {
    this.#chosen = call;
    if (call) this.dispatchEvent(new CustomEvent("choose", { detail: call }));
    this.draw();
  }

  /**
   * Chooses a call and scrolls to it.
   * @param {Call} call
   */
  reveal(call) {
    this.#update();
    const place = this.#shown.indexOf(call);
    if (place < 0) {
      this.#filter.value = "";
      this.#kind.value = "all";
      this.#reset();
      this.#update();
    }
    this.#setFollow(false);
    this.#scrollTo(this.#shown.indexOf(call));
    this.choose(call);
  }

  focus() {
    this.#takesFocus = true;
    this.draw();
  }

  /** @param {boolean} follows */
  #setFollow(follows) {
    this.#follows = follows;
    this.#follow.setAttribute("aria-pressed", String(follows));
    this.draw();
  }

  #reset() {
    this.#seen = 0;
    this.#shown = [];
    this.draw();
  }

  /** Filters new calls, and removes calls that the records no longer have. */
  #update() {
    const { calls } = this.#records;
    const first = calls.length > 0 ? calls[0].number : Infinity;
    const firstKept = this.#shown.findIndex((call) => call.number >= first);
    if (firstKept !== 0) {
      const removed = this.#shown.splice(0, firstKept < 0 ? this.#shown.length : firstKept).length;
      // Visible rows stay in their place.
      if (!this.#follows) this.#scroll.scrollTop -= removed * this.#height;
    }
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    // Calls that were filtered before may have changed.
    if (this.#kind.value !== "all" || words.length > 0) {
      this.#seen = 0;
      this.#shown = [];
    }
    let from = calls.length;
    while (from > 0 && calls[from - 1].number > this.#seen) from -= 1;
    for (const call of calls.slice(from)) if (this.#fits(call, words)) this.#shown.push(call);
    this.#seen = calls.length > 0 ? calls[calls.length - 1].number : this.#seen;
  }

  /**
   * @param {Call} call
   * @param {string[]} words
   */
  #fits(call, words) {
    if (this.#session && call.session !== this.#session) return false;
    if (this.#kind.value === "errors" && !call.code && !call.fault) return false;
    if (this.#kind.value === "waiting" && !isWaiting(call)) return false;
    return words.length === 0 || words.every((word) => textOf(call).includes(word));
  }

  draw = onFrame(() => this.#drawNow());

  #drawNow() {
    this.#update();
    const shown = this.#shown;
    this.#height = parseFloat(getComputedStyle(this.#scroll).getPropertyValue("--row")) || 30;
    const whole = shown.length * this.#height;
    this.#space.style.height = `${whole}px`;
    const visible = this.#scroll.clientHeight;
    if (this.#follows) this.#scroll.scrollTop = whole;
    const top = this.#scroll.scrollTop;
    const first = Math.max(0, Math.floor(top / this.#height) - 4);
    const last = Math.min(shown.length, Math.ceil((top + visible) / this.#height) + 4);
    while (this.#rows.length < last - first) {
      const row = makeRow();
      this.#rows.push(row);
      this.#scroll.append(row);
    }
    const focused = document.activeElement;
    const hadFocus = this.#callOf(focused) !== undefined;
    const stop = this.#stop(first, last);
    this.#rows.forEach((row, place) => {
      const call = shown[first + place];
      const isUsed = first + place < last;
      row.hidden = !isUsed;
      if (!isUsed || !call) return;
      row.style.transform = `translateY(${(first + place) * this.#height}px)`;
      fillRow(row, call, first + place);
      this.#callOfRow.set(row, call);
      row.setAttribute("aria-selected", String(call === this.#chosen));
      row.tabIndex = call === stop ? 0 : -1;
      if (call === stop && (this.#takesFocus || (hadFocus && stop === this.#chosen)) && document.activeElement !== row) row.focus({ preventScroll: true });
    });
    this.#takesFocus = false;
    this.#grid.setAttribute("aria-rowcount", String(shown.length + 1));
    const { calls, dropped } = this.#records;
    const some = shown.length === calls.length ? `${calls.length}` : `${shown.length} of ${calls.length}`;
    const text = `${some} ${calls.length === 1 ? "call" : "calls"}${dropped > 0 ? `, ${dropped} not recorded` : ""}`;
    write(this.#count, text);
    if (this.#isOtherFilter) write(this.#found, text);
    this.#isOtherFilter = false;
  }

  /**
   * Returns the call whose row is the tab stop.
   * @param {number} first
   * @param {number} last
   */
  #stop(first, last) {
    const isInSight = this.#shown.slice(first, last).some((call) => call === this.#chosen);
    return isInSight ? this.#chosen : this.#shown[last - 1];
  }

  /**
   * Returns the call of the row that contains an element. The numbers of calls may have changed since it was drawn.
   * @param {EventTarget | null} target
   */
  #callOf(target) {
    const row = target instanceof Element ? target.closest("[role=row]") : null;
    return row ? this.#callOfRow.get(row) : undefined;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // The calls may have changed since the last frame.
    this.#update();
    const page = Math.max(1, Math.floor(this.#scroll.clientHeight / this.#height) - 1);
    const call = this.#callOf(event.target);
    const place = call ? this.#shown.indexOf(call) : -1;
    if (place < 0) return;
    const end = this.#shown.length - 1;
    const next = { ArrowUp: place - 1, ArrowDown: place + 1, PageUp: place - page, PageDown: place + page, Home: 0, End: end, Enter: place, " ": place }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const to = Math.min(Math.max(next, 0), end);
    this.#setFollow(false);
    this.#scrollTo(to);
    this.#takesFocus = true;
    this.choose(this.#shown[to]);
    // A second key press within the frame continues from there.
    this.#drawNow();
  }

  /** @param {number} place */
  #scrollTo(place) {
    const top = place * this.#height;
    const { scrollTop, clientHeight } = this.#scroll;
    if (top < scrollTop) this.#scroll.scrollTop = top;
    else if (top + this.#height > scrollTop + clientHeight) this.#scroll.scrollTop = top + this.#height - clientHeight;
  }
}

function makeRow() {
  return element("div", { class: "row", role: "row", tabindex: "-1" },
    ...["time", "client", "call", "handler", "duration", "outcome"].map((name) => element("span", { class: name, role: "gridcell" })));
}

/**
 * @param {HTMLElement} row
 * @param {Call} call
 * @param {number} place
 */
function fillRow(row, call, place) {
  const texts = [clock(call.at), callerName(call), calledName(call), by(call), call.ms === undefined || call.fault ? "" : duration(call.ms), outcome(call)];
  const key = texts.join("\n");
  row.setAttribute("aria-rowindex", String(place + 2));
  row.dataset.state = isWaiting(call) ? "waiting" : call.ms === undefined ? "lost" : call.code || call.fault ? "error" : "done";
  if (row.dataset.key === key) return;
  row.dataset.key = key;
  texts.forEach((text, index) => write(row.children[index], text));
}

/** @param {Call} call */
export function callerName(call) {
  const client = call.name ?? call.client ?? "app code";
  return call.from ? `${client} in ${call.from}` : client;
}

/** @param {Call} call */
function calledName(call) {
  const method = call.method.replace(/^router\./, "");
  return call.uri ? `${method} ${short(call.uri)}` : method;
}

/** @param {Call} call */
function by(call) {
  return [call.route, call.page, call.host].filter(Boolean).join(" · ");
}

/** @param {Call} call */
function isWaiting(call) {
  return call.ms === undefined && call.lostAt === undefined;
}

/** @param {Call} call */
export function outcome(call) {
  if (isWaiting(call)) return "waiting";
  if (call.ms === undefined) return "unknown";
  if (call.code) return `${call.code} ${call.error ?? ""}`.trim();
  return call.outcome ?? "ok";
}
