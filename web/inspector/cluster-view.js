// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { clock, duration, inWords, since } from "./format.js";

/** @typedef {{version: string, hash: string}} Stamp */

/** @typedef {{server: string, version: string, since: number, draining: boolean, sessions: number, clients: number, policy?: string, table?: Stamp,
 *   relays?: {in: number, out: number}}} Server */

/** Codes of those that have no cluster to show: alone, not allowed, and of a version that knows none. */
const without = [2404, 2403, -32601];

/** The servers that share their sessions. Events: `known` when it is found out that there are several, which they are, or that there are none. */
export class ClusterView extends EventTarget {
  #link;
  #count = byId("cluster-count", HTMLElement);
  #engine = byId("cluster-engine", HTMLElement);
  #lease = byId("cluster-lease", HTMLElement);
  #taken = byId("cluster-taken", HTMLElement);
  #body = byId("cluster-body", HTMLTableSectionElement);
  /** When it was told last, milliseconds since 1970. */
  #at = 0;
  /** @type {boolean | undefined} whether there is a cluster; undefined until the server has said so */
  isThere;
  /** @type {string | undefined} this server; undefined where it is alone */
  server;

  /** @param {import("./link.js").Link} link */
  constructor(link) {
    super();
    this.#link = link;
    // Who answers next may be another server.
    link.addEventListener("gap", () => (this.isThere = undefined));
    link.addEventListener("state", (/** @type {any} */ { detail: { state } }) => {
      if (state === "open" || this.#at === 0) return;
      write(this.#count, `as it was at ${clock(this.#at, false)}: there is no connection now`);
      write(this.#lease, "not known");
    });
  }

  refresh = atMost(1000, async () => {
    if (!this.#link.isWatching) return;
    try {
      const { server, engine, leaseMs, takenOver, servers } = await this.#link.request("admin.cluster");
      this.#know(true, server);
      this.#at = Date.now();
      write(this.#count, `${servers.length} ${servers.length === 1 ? "server" : "servers"}`);
      this.#tell(engine === "reached");
      write(this.#lease, leaseMs > 0 ? `${duration(leaseMs)} left` : "has run out");
      write(this.#taken, `${takenOver} ${takenOver === 1 ? "session" : "sessions"}`);
      this.#draw(server, servers);
    } catch (/** @type {any} */ error) {
      if (without.includes(error?.code)) this.#know(false, undefined);
      write(this.#count, inWords(error));
    }
  });

  /**
   * @param {boolean} isThere
   * @param {string | undefined} server
   */
  #know(isThere, server) {
    const isNew = isThere !== this.isThere || server !== this.server;
    this.isThere = isThere;
    this.server = server;
    if (isNew) this.dispatchEvent(new CustomEvent("known"));
  }

  /** @param {boolean} isReached */
  #tell(isReached) {
    this.#engine.dataset.reached = String(isReached);
    write(this.#engine, isReached ? "reached" : "away: this server goes on with its own sessions until its lease ends, and takes no new work then");
  }

  #draw = whenOther((/** @type {string} */ own, /** @type {Server[]} */ servers) => {
    const here = servers.find(({ server }) => server === own);
    this.#body.replaceChildren(...servers.map((each) => row(each, here)));
  });
}

/**
 * @param {Server} server
 * @param {Server | undefined} here the one that has told it
 */
function row(server, here) {
  const { server: name, version, since: began, draining, sessions, clients, policy, table, relays } = server;
  return element("tr", { "data-server": name, "aria-current": server === here ? "true" : null },
    element("th", { scope: "row" }, element("span", { class: "id" }, name), server === here && element("small", {}, " this server")),
    element("td", { "data-label": "State", "data-draining": draining }, draining ? "draining" : "serves"),
    element("td", { "data-label": "Since" }, since(began)),
    compared("Version", version, version !== here?.version),
    compared("Table", stamp(table), stamp(table) !== stamp(here?.table)),
    compared("Policy", policy || "none", policy !== here?.policy),
    number("Sessions", sessions), number("Clients", clients),
    number("Relays in", relays?.in), number("Relays out", relays?.out));
}

/** @param {Stamp | undefined} table */
function stamp(table) {
  return table?.hash ? `${table.version} ${table.hash.slice(0, 12)}` : "none";
}

/**
 * What is to be the same everywhere.
 * @param {string} label
 * @param {string} text
 * @param {boolean} differs from this server's
 */
function compared(label, text, differs) {
  return element("td", { "data-label": label, "data-differs": differs },
    element("span", { class: "stamp" }, text), differs && element("strong", {}, " differs"));
}

/**
 * @param {string} label
 * @param {number | undefined} value
 */
function number(label, value) {
  return element("td", { class: "number", "data-label": label }, value === undefined ? "" : String(value));
}
