// @ts-check
import { element } from "../shared/dom.js";
import { duration } from "./duration.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */

/** How many calls are shown, the running ones first. */
const most = 4;

/** The calls between clients: the running ones first, then the latest that ended. */
export class CallsView {
  /** @type {Exchange[]} the newest first */
  #calls = [];
  /** The drawn state, so that only changes are drawn. */
  #drawn = "";
  /** @type {number | undefined} */
  #timer;

  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.list = list;
  }

  /** @param {Exchange[]} running */
  show(running) {
    const fresh = running.filter((call) => !this.#calls.includes(call));
    this.#calls = [...fresh.reverse(), ...this.#calls];
    const waits = (/** @type {Exchange} */ call) => call.kind === "request";
    const calls = [...this.#calls.filter(waits), ...this.#calls.filter((call) => !waits(call))];
    this.#calls = this.#calls.filter((call) => calls.indexOf(call) < most);
    const shown = calls.slice(0, most);
    const now = shown.map(({ began, kind, to }) => `${began} ${kind} ${to}`).join();
    if (now === this.#drawn) return;
    this.#drawn = now;
    this.list.replaceChildren(...shown.map(drawn));
    clearInterval(this.#timer);
    if (running.length > 0) this.#timer = setInterval(() => this.#tick(), 1000);
  }

  #tick() {
    for (const item of this.list.querySelectorAll("[data-began]")) {
      item.textContent = waited(Number(item.getAttribute("data-began")));
    }
  }
}

/** @param {Exchange} call */
function drawn({ kind, from, to, uri, title, began, milliseconds, ending }) {
  const runs = kind === "request";
  const what = uri ?? title;
  return element("li", { "data-state": runs ? "running" : kind },
    element("span", { class: "chip", "data-technology": from }, from),
    element("span", { class: "way", role: "img", "aria-label": "calls" }),
    element("span", { class: "chip", "data-technology": to }, to),
    runs
      ? element("span", { class: "call-state", "data-began": began }, waited(began))
      : element("span", { class: "call-state" }, `${kind === "error" ? `error ${ending.split(" ", 1)[0]}` : ending || "responded"} · ${duration(milliseconds ?? 0)}`),
    element("span", { class: "call-what" }, what.startsWith(location.origin) ? what.slice(location.origin.length) : what));
}

/** @param {number} began */
function waited(began) {
  return `waiting · ${Math.floor((performance.now() - began) / 1000)} s`;
}
