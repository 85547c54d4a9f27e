// @ts-check
import { healthOf, isLoopback } from "./endpoint.js";
import { BridgeRefused } from "./errors.js";

/** @typedef {import("./connection.js").Close} Close */
/** @typedef {(url: string, options: RequestInit) => Promise<unknown>} Fetch */

/** What it takes besides, where a page from elsewhere connects to the machine that the browser runs on. */
const PERMISSION = "the browser has to permit this page the local network: Chrome asks the user, on secure pages only";

/**
 * Tells, after a handshake that failed, a server that does not let this page in from one that is away: to a script a browser
 * says the same of both. The server's `/health` answers every page, but can be read only by those that it lets in.
 */
export class Admission {
  #health;
  #origin;
  #isFromElsewhere;
  #fetch;
  /** Ends the asking, without an answer. */
  #asking = new AbortController();

  /**
   * @param {URL} health
   * @param {{origin: string, hostname: string}} page
   * @param {Fetch} fetch
   */
  constructor(health, { origin, hostname }, fetch) {
    this.#health = health;
    this.#origin = origin;
    this.#isFromElsewhere = isLoopback(health.hostname) && hostname !== "" && !isLoopback(hostname);
    this.#fetch = fetch;
  }

  /**
   * Why the handshake failed, as far as can be found out. Never rejects.
   * @param {Close} close how it looked
   * @returns {Promise<Close>}
   */
  async judge(close) {
    const { signal } = (this.#asking = new AbortController());
    // Full or draining, or a network that failed for a moment.
    if (await this.#answers("cors", signal)) return close;
    if (!(await this.#answers("no-cors", signal))) {
      return this.#isFromElsewhere && !signal.aborted ? { ...close, reason: `${close.reason} (${PERMISSION})` } : close;
    }
    // It may have started after the first question, which then says nothing of who is let in.
    if ((await this.#answers("cors", signal)) || signal.aborted) return close;
    const cause = new BridgeRefused(this.#advice, this.#origin);
    return { ...close, reason: cause.message, cause, final: true };
  }

  /** Nobody waits for the judgement any more. */
  stop() {
    this.#asking.abort();
  }

  get #advice() {
    const server = `the server at ${this.#health.origin} does not let in`;
    const advice =
      this.#origin === "null"
        ? `${server} pages without an origin, which those of files and sandboxed frames are: serve the page over HTTP, ` +
          "or start the server with --allow-origin null, which lets in all such pages, of whomever"
        : `${server} pages of ${this.#origin}: start it with --allow-origin ${this.#origin}`;
    return this.#isFromElsewhere ? `${advice}; besides, ${PERMISSION}` : advice;
  }

  /**
   * @param {RequestMode} mode
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>}
   */
  #answers(mode, signal) {
    // Called as a method, the browser's own would refuse.
    const fetch = this.#fetch;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      signal.addEventListener("abort", () => resolve(false), { once: true });
      const options = { mode, signal, cache: /** @type {const} */ ("no-store"), credentials: /** @type {const} */ ("omit") };
      const asked = (async () => fetch(this.#health.href, options))();
      asked.then(() => resolve(true), () => resolve(false));
    });
  }
}

/**
 * The part of a client that finds out why a handshake failed. Outside of a page there is no origin that could be refused, and to the page's
 * own server there is none to tell apart.
 * @param {string | undefined} endpoint
 * @param {Fetch | undefined} fetch
 * @returns {Admission | undefined}
 */
export function admission(endpoint, fetch) {
  // Not that of `location`, which a sandboxed frame does not have.
  const { origin, location } = globalThis;
  if (endpoint === undefined || fetch === undefined || typeof origin !== "string") return undefined;
  const health = healthOf(endpoint);
  return health.origin === origin ? undefined : new Admission(health, { origin, hostname: location?.hostname ?? "" }, fetch);
}
