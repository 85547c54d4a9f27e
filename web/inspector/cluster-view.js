// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { clock, duration, inWords, since } from "./format.js";

/** @typedef {{version: string, hash: string}} Stamp */

/** @typedef {{server: string, version: string, since: number, draining: boolean, sessions: number, clients: number, policy?: string, table?: Stamp,
 *   relays?: {in: number, out: number}}} Server */

/** Error codes without a cluster to show: a single server, not allowed, and a server version without clusters. */
const without = [2404, 2403, -32601];

/** The servers of the cluster. Events: `known` when the server says whether there is a cluster, or that its own id has changed. */
export class ClusterView extends EventTarget {
  #connection;
  #count = byId("cluster-count", HTMLElement);
  #engine = byId("cluster-engine", HTMLElement);
  #lease = byId("cluster-lease", HTMLElement);
  #takenOver = byId("cluster-taken", HTMLElement);
  #body = byId("cluster-body", HTMLTableSectionElement);
  /** The time of the last response, in milliseconds since 1970. */
  #at = 0;
  /** @type {boolean | undefined} whether there is a cluster; undefined before the first response */
  isThere;
  /** @type {string | undefined} this server; undefined for a single server */
  server;

  /** @param {import("./connection.js").InspectorConnection} connection */
  constructor(connection) {
    super();
    this.#connection = connection;
    // The next response may come from another server.
    connection.addEventListener("gap", () => (this.isThere = undefined));
    connection.addEventListener("state", (/** @type {any} */ { detail: { state } }) => {
      if (state === "open" || this.#at === 0) return;
      write(this.#count, `state of ${clock(this.#at, false)}: there is no connection now`);
      write(this.#lease, "unknown");
    });
  }

  refresh = atMost(1000, async () => {
    if (!this.#connection.isWatching) return;
    try {
      const { server, engine, leaseMs, takenOver, servers } = await this.#connection.request("admin.cluster");
      this.#setState(true, server);
      this.#at = Date.now();
      write(this.#count, `${servers.length} ${servers.length === 1 ? "server" : "servers"}`);
      this.#showEngine(engine === "reached");
      write(this.#lease, leaseMs > 0 ? `${duration(leaseMs)} left` : "expired");
      write(this.#takenOver, `${takenOver} ${takenOver === 1 ? "session" : "sessions"}`);
      this.#draw(server, servers);
    } catch (/** @type {any} */ error) {
      if (without.includes(error?.code)) this.#setState(false, undefined);
      write(this.#count, inWords(error));
    }
  });

  /**
   * @param {boolean} isThere
   * @param {string | undefined} server
   */
  #setState(isThere, server) {
    const isNew = isThere !== this.isThere || server !== this.server;
    this.isThere = isThere;
    this.server = server;
    if (isNew) this.dispatchEvent(new CustomEvent("known"));
  }

  /** @param {boolean} isReached */
  #showEngine(isReached) {
    this.#engine.dataset.reached = String(isReached);
    write(this.#engine, isReached ? "reached" : "unreachable: this server continues its own sessions until its lease ends, and then accepts no new work");
  }

  #draw = whenOther((/** @type {string} */ own, /** @type {Server[]} */ servers) => {
    const here = servers.find(({ server }) => server === own);
    this.#body.replaceChildren(...servers.map((each) => row(each, here)));
  });
}

/**
 * @param {Server} server
 * @param {Server | undefined} here the server that responded
 */
function row(server, here) {
  const { server: name, version, since: began, draining, sessions, clients, policy, table, relays } = server;
  return element("tr", { "data-server": name, "aria-current": server === here ? "true" : null },
    element("th", { scope: "row" }, element("span", { class: "id" }, name), server === here && element("small", {}, " this server")),
    element("td", { "data-label": "State", "data-draining": draining }, draining ? "draining" : "running"),
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
 * Returns a cell whose value should be the same on all servers.
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
