// @ts-check
import { Bridge } from "../bridge/bridge.js";
import { inWords } from "./format.js";

/** @typedef {import("../bridge/bridge.js").StateChange} StateChange */

/** @typedef {{session?: string, limit?: number}} Wish of what is told, and how many bytes of each message: of all sessions, and 4096 */

/** Milliseconds after which it asks again to watch. */
const retryDelay = 3000;

/**
 * The connection to the server that is inspected. It watches as soon as it is open, and again when it had to begin anew.
 *
 * Events: `state` with `{state, text}`; `watching` when it watches from now on; `records` with `{records, dropped}`; `gap` when it had
 * watched, and what happened since is not told; `refused` with an error, when a token is needed.
 */
export class Link extends EventTarget {
  /** @type {Bridge | undefined} */
  #bridge;
  /** @type {Wish} */
  #wish = {};
  #isWatching = false;

  /**
   * @param {string | undefined} token
   */
  connect(token) {
    void this.#bridge?.close();
    this.#lose();
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
   * What is told from now on; rejects with what the server says. It is asked for again wherever a connection begins anew.
   * @param {Wish} wish
   */
  async watch(wish) {
    this.#wish = wish;
    await this.#ask();
  }

  #ask() {
    const { session, limit = 4096 } = this.#wish;
    return this.request("admin.watch", { session, messages: true, limit });
  }

  /** Watches, on a connection that was opened. */
  async #begin() {
    const bridge = this.#bridge;
    try {
      await this.#ask();
      if (bridge !== this.#bridge) return;
      this.#isWatching = true;
      this.#emit("watching", {});
    } catch (/** @type {any} */ error) {
      if (bridge !== this.#bridge || bridge?.state !== "open") return;
      if (error.code === 2403 || error.code === 2401) return this.#emit("refused", error);
      this.#emit("state", { state: "failed", text: `Not watching: ${inWords(error)}` });
      setTimeout(() => {
        if (bridge === this.#bridge && bridge.state === "open" && !this.#isWatching) void this.#begin();
      }, retryDelay);
    }
  }

  #lose() {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    this.#emit("gap", {});
  }

  /** @param {StateChange} change */
  #changed({ state, delay, code, reason, lost, restarted }) {
    // A session that goes on is told all; a new one, and a server that was restarted, know of nobody who watches.
    if (state === "open" && (restarted || (lost && lost.reason !== "server"))) this.#lose();
    if (state === "closed") this.#lose();
    if (state === "open" && !this.#isWatching) void this.#begin();
    const texts = {
      connecting: "Connecting…",
      open: "Connected",
      waiting: `No connection${reason ? `: ${reason}` : ""}; again in ${Math.max(1, Math.round((delay ?? 0) / 1000))} s`,
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
