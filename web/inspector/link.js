// @ts-check
import { Bridge } from "../bridge/bridge.js";

/** @typedef {import("../bridge/bridge.js").StateChange} StateChange */

/**
 * The connection to the server that is inspected. It watches as soon as it is open, and again when it had to begin anew.
 *
 * Events: `state` with `{state, text}`; `records` with `{records, dropped}`; `refused` with an error, when a token is needed.
 */
export class Link extends EventTarget {
  /** @type {Bridge | undefined} */
  #bridge;
  /** What it asks of each message: bytes. */
  #limit = 4096;
  #isWatching = false;

  /**
   * @param {string | undefined} token
   */
  connect(token) {
    void this.#bridge?.close();
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
      if (bridge === this.#bridge && detail.code === 4001) this.#emit("refused", { message: detail.reason || "The server asks who you are." });
    });
    bridge.ready.catch((error) => {
      if (bridge === this.#bridge && (error.code === 2401 || error.code === 2403)) this.#emit("refused", error);
    });
  }

  /**
   * Calls a method; rejects with what the server says.
   * @param {string} method
   * @param {Record<string, any>} [params]
   * @returns {Promise<any>}
   */
  async request(method, params) {
    if (!this.#bridge) throw new Error("there is no connection");
    return this.#bridge.request(method, params);
  }

  /**
   * How many bytes of each message are told, from now on.
   * @param {number} limit
   */
  async watch(limit) {
    this.#limit = limit;
    await this.#watch();
  }

  async #watch() {
    try {
      await this.request("admin.watch", { messages: true, limit: this.#limit });
      this.#isWatching = true;
      this.#emit("watching", {});
    } catch (/** @type {any} */ error) {
      this.#isWatching = false;
      if (error.code === 2403 || error.code === 2401) this.#emit("refused", error);
    }
  }

  /** @param {StateChange} change */
  #changed({ state, delay, code, reason }) {
    if (state === "open") void this.#watch();
    const texts = {
      connecting: "Connecting…",
      open: "Connected",
      waiting: `No connection; again in ${Math.max(1, Math.round((delay ?? 0) / 1000))} s`,
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
