// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { duration, inWords } from "./format.js";

/** How many routes are shown at once: a table may have ten thousand. */
const maxShown = 300;

/** @typedef {{name: string, kind: string, patterns: string[], title?: string, served: {by: string, count?: number, clients?: {session: string, client: string}[]},
 *   calls?: number, errors?: number, p50?: number | null, p99?: number | null}} Route */

/** The routes, their handlers, and the numbers of their calls. */
export class RoutesView {
  #connection;
  #body = byId("routes-body", HTMLTableSectionElement);
  #filter = byId("routes-filter", HTMLInputElement);
  #count = byId("routes-count", HTMLElement);
  /** @type {Route[]} */
  #routes = [];
  /** @type {any} */
  #response = {};
  #order = { by: "name", isDown: false };

  /** @param {import("./connection.js").InspectorConnection} connection */
  constructor(connection) {
    this.#connection = connection;
    this.#filter.addEventListener("input", () => this.#draw());
    byId("routes", HTMLTableElement).tHead?.addEventListener("click", ({ target }) => {
      if (!(target instanceof HTMLButtonElement)) return;
      const by = target.value;
      // Numbers are sorted from the largest first.
      const isDown = this.#order.by === by ? !this.#order.isDown : !["name", "kind", "served"].includes(by);
      this.#order = { by, isDown };
      for (const head of target.closest("tr")?.children ?? []) head.removeAttribute("aria-sort");
      target.closest("th")?.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      this.#draw();
    });
  }

  refresh = atMost(1000, async () => {
    try {
      this.#response = await this.#connection.request("admin.routes");
      this.#routes = this.#response.routes;
      this.#draw();
    } catch (error) {
      write(this.#count, inWords(error));
    }
  });

  #draw() {
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.#routes.filter((route) => {
      const text = [route.name, route.title ?? "", ...route.patterns].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const { by, isDown } = this.#order;
    const value = (/** @type {any} */ route) => (by === "served" ? route.served.by : route[by] ?? -1);
    found.sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      return (a < b ? -1 : a > b ? 1 : 0) * (isDown ? -1 : 1) || (one.name < other.name ? -1 : 1);
    });
    this.#list(found.slice(0, maxShown));
    const since = this.#response.since ? `, calls since ${new Date(this.#response.since).toLocaleTimeString()}` : "";
    const rest = found.length > maxShown ? `, the first ${maxShown} are shown` : "";
    const others = this.#response.undeclared?.calls ? `, calls without a route: ${this.#response.undeclared.calls}` : "";
    write(this.#count, `${found.length} of ${this.#routes.length} routes${rest}${since}${others}`);
  }

  #list = whenOther((/** @type {Route[]} */ routes) => this.#body.replaceChildren(...routes.map(row)));
}

/** @param {Route} route */
function row({ name, kind, patterns, title, served, calls, errors, p50, p99 }) {
  return element("tr", { "data-served": served.by },
    element("th", { scope: "row" }, name, title ? element("small", {}, ` ${title}`) : null),
    element("td", {}, ...patterns.map((pattern) => element("code", {}, pattern))),
    element("td", { "data-label": "Kind" }, kind),
    element("td", { "data-label": "Handled by" }, ...servedBy(served)),
    number("Calls", calls), number("Errors", errors, Boolean(errors)),
    number("p50", duration(p50)), number("p99", duration(p99)));
}

/**
 * @param {string} label
 * @param {number | string | undefined} value
 * @param {boolean} [isBad]
 */
function number(label, value, isBad) {
  return element("td", { class: "number", "data-label": label, "data-bad": isBad }, value === undefined ? "" : String(value));
}

/** @param {Route["served"]} served */
function servedBy({ by, count = 0, clients = [] }) {
  if (by === "server") return ["Swift code in the server"];
  if (by === "nobody") return ["no client now"];
  const names = clients.slice(0, 2).flatMap(({ client }, place) => [place > 0 && ", ", element("span", { class: "id" }, client)]);
  return [`${count} ${count === 1 ? "client" : "clients"}: `, ...names, count > 2 && " …"];
}
