// @ts-check
import { check, MAX_DELAY, retryAfter } from "./backoff.js";
import { ping } from "../calls/peer.js";
import * as closeOf from "./close-codes.js";

/** Milliseconds without a response to a ping when there is a reason to check the connection. */
const CHECK_TIMEOUT = 5000;
/** Milliseconds by which a timer can be late. If it is later, the page itself was suspended. */
const MAX_TIMER_DELAY = 2000;

/**
 * The event targets of a page; absent outside of a page.
 * @typedef {Partial<Pick<EventTarget, "addEventListener">>} Target
 * @typedef {Target & {document?: {visibilityState?: string} & Target}} Surroundings
 */

/**
 * Detects a dead connection, which a socket does not report by itself. After a time without messages it sends a ping, and drops the connection
 * if there is no response. When the page becomes visible again, or the network returns, it sends a ping at once.
 */
export class Liveness {
  /** @type {unknown} */ #timer;
  /** @type {number | undefined} when the last message was received; `undefined`: none since the last ping */ #receivedAt;
  /** The time before which the server does not want another attempt to connect. */
  #retryAt = 0;
  #after;
  #timeout;
  #client;
  /** Removes the listeners. */
  #listening = new AbortController();

  /**
   * @param {Pick<import("../session/client.js").Client, "clock" | "connection" | "peer">} client
   * @param {object} options
   * @param {number} [options.after] milliseconds without a message before it sends a ping
   * @param {number} [options.timeout] milliseconds that the response can take
   * @param {Surroundings} surroundings
   */
  constructor(client, { after = 25000, timeout = 10000 }, surroundings) {
    check("ping.after", after, 1, MAX_DELAY);
    check("ping.timeout", timeout, 1, MAX_DELAY);
    this.#after = after;
    this.#timeout = timeout;
    this.#client = client;
    const { document } = surroundings;
    const { signal } = this.#listening;
    surroundings.addEventListener?.("online", () => this.#check(), { signal });
    surroundings.addEventListener?.("pageshow", (event) => Reflect.get(event, "persisted") && this.#check(), { signal });
    document?.addEventListener?.("visibilitychange", () => document.visibilityState === "visible" && this.#check(), { signal });
  }

  /** @param {import("../types/api.js").StateChange} change of the connection */
  changed({ state, error }) {
    const { clock } = this.#client;
    this.#retryAt = clock.now() + retryAfter(error);
    clock.clearTimeout(this.#timer);
    if (state === "closed") this.#listening.abort();
    if (state !== "open") return;
    this.received();
    this.#scheduleCheck(this.#after);
  }

  /** Called when a message was received. */
  received() {
    this.#receivedAt = this.#client.clock.now();
  }

  /** Called when there is a reason to check the connection. */
  #check() {
    const { clock, connection } = this.#client;
    if (connection.state === "open") this.#sendPing(Math.min(CHECK_TIMEOUT, this.#timeout));
    else if (clock.now() >= this.#retryAt) connection.reconnect();
  }

  /** @param {number} delay */
  #scheduleCheck(delay) {
    this.#startTimer(delay, () => {
      const rest = (this.#receivedAt ?? -Infinity) + this.#after - this.#client.clock.now();
      if (rest > 0) this.#scheduleCheck(rest);
      else this.#sendPing(this.#timeout);
    });
  }

  /** @param {number} timeout */
  #sendPing(timeout) {
    const { clock, connection, peer } = this.#client;
    const sentAt = clock.now();
    this.#receivedAt = undefined;
    ping(peer).catch(() => {});
    this.#startTimer(timeout, () => {
      if (this.#receivedAt !== undefined) this.#scheduleCheck(this.#after);
      // The page was suspended: a message that arrived meanwhile could not be processed.
      else if (clock.now() - sentAt > timeout + MAX_TIMER_DELAY) this.#sendPing(timeout);
      else connection.drop(closeOf.noPong, `No message within ${timeout} ms after a ping`);
    });
  }

  /**
   * @param {number} delay
   * @param {() => void} body
   */
  #startTimer(delay, body) {
    const { clock } = this.#client;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(body, delay);
  }
}
