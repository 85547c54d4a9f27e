// @ts-check
import { Bridge } from "../bridge/bridge.min.js";
import { inWords } from "./format.js";

/** @typedef {import("../bridge/bridge.js").StateChange} StateChange */

/** @typedef {{session?: string, limit?: number}} RecordFilter `session`: all by default; `limit`: bytes of each message, 4096 by default */

/** Milliseconds before it tries again to watch. */
const retryDelay = 3000;

/**
 * The connection to the inspected server. It watches as soon as it is open, and again in a new session.
 *
 * Events: `state` with `{state, text}`; `watching` when it begins to watch; `records` with `{records, dropped}`; `gap` when records are
 * missing from then on; `refused` with an error, when a token is needed.
 */
export class InspectorConnection extends EventTarget {
  /** @type {Bridge | undefined} */
  #bridge;
  /** @type {RecordFilter} */
  #filter = {};
  #isWatching = false;

  /**
   * @param {string | undefined} token
   */
  connect(token) {
    void this.#bridge?.close();
    this.#stopWatching();
    const bridge = new Bridge({
      url: new URL("../bridge", location.href).href.replace(/^http/, "ws"),
      client: { name: "waybridge-inspector", version: "1.0" },
      keep: "connection",
      token,
      methods: { "admin.records": (/** @type {any} */ params) => this.#emit("records", params) },
    });
    this.#bridge = bridge;
    bridge.addEventListener("statechange", (/** @type {any} */ { detail }) => {
      if (bridge === this.#bridge) this.#changed(detail);
    });
    bridge.addEventListener("close", (/** @type {any} */ { detail }) => {
      if (bridge === this.#bridge && detail.code === 4001) this.#emit("refused", { message: detail.reason || "The server requires a token." });
    });
    bridge.ready.catch((error) => {
      if (bridge === this.#bridge && (error.code === 2401 || error.code === 2403)) this.#emit("refused", error);
    });
  }

  /**
   * Calls a method; rejects with the error of the server.
   * @param {string} method
   * @param {Record<string, any>} [params]
   * @returns {Promise<any>}
   */
  async request(method, params) {
    if (!this.#bridge) throw new Error("there is no connection");
    return this.#bridge.request(method, params);
  }

  /**
   * Sets the filter of the records; rejects with the server's error. Each new connection sends it again.
   * @param {RecordFilter} filter
   */
  async watch(filter) {
    this.#filter = filter;
    await this.#requestRecords();
  }

  #requestRecords() {
    const { session, limit = 4096 } = this.#filter;
    return this.request("admin.watch", { session, messages: true, limit });
  }

  /** Watches, on a connection that was opened. */
  async #startWatching() {
    const bridge = this.#bridge;
    try {
      await this.#requestRecords();
      if (bridge !== this.#bridge) return;
      this.#isWatching = true;
      this.#emit("watching", {});
    } catch (/** @type {any} */ error) {
      if (bridge !== this.#bridge || bridge?.state !== "open") return;
      if (error.code === 2403 || error.code === 2401) return this.#emit("refused", error);
      this.#emit("state", { state: "failed", text: `The server sends no records: ${inWords(error)}` });
      setTimeout(() => {
        if (bridge === this.#bridge && bridge.state === "open" && !this.#isWatching) void this.#startWatching();
      }, retryDelay);
    }
  }

  #stopWatching() {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    this.#emit("gap", {});
  }

  /** @param {StateChange} change */
  #changed({ state, delay, code, reason, lost, restarted }) {
    // A resumed session receives all records. A new session and a restarted server no longer watch.
    if (state === "open" && (restarted || (lost && lost.reason !== "server"))) this.#stopWatching();
    if (state === "closed") this.#stopWatching();
    if (state === "open" && !this.#isWatching) void this.#startWatching();
    const texts = {
      connecting: "Connecting…",
      open: "Connected",
      waiting: `No connection${reason ? `: ${reason}` : ""}; reconnecting in ${Math.max(1, Math.round((delay ?? 0) / 1000))} s`,
      closed: `Closed${reason ? `: ${reason}` : code ? ` (${code})` : ""}`,
    };
    this.#emit("state", { state, text: texts[state] });
  }

  /** The inspector's own session. */
  get session() {
    return this.#bridge?.session?.session;
  }

  get isWatching() {
    return this.#isWatching;
  }

  /**
   * @param {string} type
   * @param {any} detail
   */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
