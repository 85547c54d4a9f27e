// @ts-check
import { element, write } from "../shared/dom.js";
import { duration } from "./duration.js";
import { rovingTabindex } from "./roving-tabindex.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */

const kept = 200;
/** Messages that keep a connection alive, and requests of the workbench itself. */
const housekeeping = ["$/ack", "$/ping", "navigation.stack", "page.sync", "table.get", "admin.watch"];
/** Milliseconds after which the end of a call moves its row to the top again. */
const long = 1000;
/** Calls that a user starts. They are not part of the start-up, even if they come early. */
const pressed = ["router.open", "router.invoke", "task.run"];

/**
 * The messages of the sockets, newest first: one row for each request with its response. The oldest rows are removed. While the log is
 * paused, it counts new messages and does not keep them.
 */
export class MessageLog {
  /** @type {Map<Exchange, Row>} the oldest first */
  #rows = new Map();
  /** @type {StartUp | undefined} while the app starts */
  #start = new StartUp();
  #paused = false;
  #missed = 0;

  /**
   * @param {{list: HTMLOListElement, pause: HTMLButtonElement, clear: HTMLButtonElement, all: HTMLInputElement}} parts `all`: whether
   *   housekeeping messages are shown
   * @param {(exchange: Exchange) => Promise<HTMLElement[]>} code returns the code behind a row
   */
  constructor({ list, pause, clear, all }, code) {
    this.list = list;
    this.pause = pause;
    this.code = code;
    pause.addEventListener("click", () => this.#toggle());
    clear.addEventListener("click", () => this.#clear());
    all.addEventListener("change", () => list.classList.toggle("with-all", all.checked));
    rovingTabindex(list, "summary");
  }

  /**
   * Shows a new exchange, or a change of a known one.
   * @param {{exchange: Exchange, isNew: boolean}} change
   */
  show({ exchange, isNew }) {
    if (!isNew) return this.#changed(exchange);
    if (this.#paused) {
      this.#missed += 1;
      write(this.pause, `Resume (${this.#missed} missed)`);
      return;
    }
    const row = new Row(exchange, this.code);
    this.#rows.set(exchange, row);
    if (this.#start && (row.isHousekeeping || !pressed.includes(exchange.title))) {
      if (!this.#start.element.isConnected) this.list.append(this.#start.element);
      this.#start.add(row);
    } else {
      this.list.prepend(row.element);
    }
    for (const [oldest, { element: old }] of this.#rows) {
      if (this.#rows.size <= kept) break;
      this.#rows.delete(oldest);
      const fold = old.closest(".start");
      old.remove();
      if (fold && !fold.querySelector(".message")) fold.remove();
    }
  }

  /**
   * Moves a row to the top when its call has a new note, or ends after a long time. A row that has the focus stays.
   * @param {Exchange} exchange
   */
  #changed(exchange) {
    const row = this.#rows.get(exchange);
    if (!row) return;
    const isChanged = row.draw();
    const isNews = isChanged || (exchange.milliseconds ?? 0) >= long;
    if (isNews && !row.element.contains(document.activeElement) && !this.#start) this.list.prepend(row.element);
  }

  /** Ends the start-up: later messages have rows of their own. */
  started() {
    this.#start?.end();
    this.#start = undefined;
  }

  /**
   * Shows a note among the messages.
   * @param {string} text
   */
  note(text) {
    this.list.prepend(element("li", { class: "note", role: "status" }, text));
    for (const old of [...this.list.querySelectorAll(":scope > .note")].slice(20)) old.remove();
  }

  #clear() {
    this.#rows.clear();
    this.list.replaceChildren();
  }

  #toggle() {
    this.#paused = !this.#paused;
    this.#missed = 0;
    write(this.pause, this.#paused ? "Resume" : "Pause");
    this.pause.setAttribute("aria-pressed", String(this.#paused));
  }
}

/** The messages of the start-up, in a closed group. */
class StartUp {
  #began = performance.now();
  #count = 0;
  #text = element("span", { class: "start-text" });
  #list = element("ol", { class: "messages-inner" });
  element = element("li", { class: "start" },
    element("details", {}, element("summary", {}, element("strong", {}, "Start-up"), " ", this.#text), this.#list));

  /** @param {Row} row */
  add(row) {
    this.#list.prepend(row.element);
    if (!row.isHousekeeping) this.#count += 1;
    write(this.#text, `${this.#count} exchanges so far`);
  }

  end() {
    write(this.#text, `${this.#count} exchanges in ${duration(performance.now() - this.#began)}: clients connect, register hosts, and open the first tab`);
  }
}

/** A row of the list, with the details that it opens to. */
class Row {
  #title = element("span", { class: "message-title" });
  #detail = element("span", { class: "message-detail" });
  #ending = element("span", { class: "message-kind" });
  #time = element("span", { class: "message-time" });
  #words = element("span", { class: "message-words" });
  #inside = element("div", { class: "message-inside" });
  #details;
  element;

  /**
   * @param {Exchange} exchange
   * @param {(exchange: Exchange) => Promise<HTMLElement[]>} code
   */
  constructor(exchange, code) {
    this.exchange = exchange;
    this.code = code;
    const { who, direction } = exchange;
    const arrow = element("span", { class: "message-arrow", role: "img", "aria-label": direction === "out" ? "to the server" : "from the server" },
      direction === "out" ? "→" : "←");
    this.#details = element("details", { class: "message", "data-direction": direction, ontoggle: () => void this.#fill() },
      element("summary", { tabindex: -1 },
        element("span", { class: "chip", "data-technology": who === "shell" ? "native" : who }, who), arrow,
        this.#title, this.#detail, this.#ending, this.#time, this.#words),
      this.#inside);
    this.element = element("li", { "data-title": exchange.title, class: this.isHousekeeping ? "housekeeping" : null }, this.#details);
    this.draw();
  }

  get isHousekeeping() {
    const { title, uri } = this.exchange;
    return housekeeping.includes(title) || uri === "demo://features";
  }

  /** @returns {boolean} whether it has a new note */
  draw() {
    const { kind, title, detail, ending, milliseconds, words } = this.exchange;
    const before = this.#words.textContent;
    this.#details.dataset.kind = kind;
    write(this.#title, title);
    write(this.#detail, detail.startsWith(location.origin) ? detail.slice(location.origin.length) : detail);
    write(this.#ending, kind === "request" ? "waiting" : ending);
    write(this.#time, milliseconds === undefined ? "" : duration(milliseconds));
    this.#time.title = milliseconds === undefined ? "" : "time until the response";
    write(this.#words, words.join(" "));
    this.#words.hidden = words.length === 0;
    if (this.#details.open) void this.#fill();
    return this.#words.textContent !== before;
  }

  /** Lays out the code and the messages while the row is open. On opening, the marked line of the call is scrolled into view. */
  async #fill() {
    if (!this.#details.open) return this.#inside.replaceChildren();
    const isOpening = this.#inside.childElementCount === 0;
    const { bodies } = this.exchange;
    const code = await this.code(this.exchange);
    const titles = bodies.map((_, place) => (place === 0 ? "Request" : place === bodies.length - 1 && this.exchange.milliseconds !== undefined ? "Response" : "Progress"));
    this.#inside.replaceChildren(...code, ...bodies.map((body, place) => element("figure", {},
      bodies.length > 1 && element("figcaption", {}, titles[place]),
      element("pre", { tabindex: 0, "aria-label": bodies.length > 1 ? titles[place] : "Message" }, body))));
    if (!isOpening) return;
    for (const mark of [...this.#inside.querySelectorAll("mark")].reverse()) mark.scrollIntoView({ block: "nearest" });
  }
}
