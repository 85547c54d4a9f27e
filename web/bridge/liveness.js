// @ts-check
import { check } from "./backoff.js";
import { ping } from "./calling.js";
import * as closeOf from "./closes.js";

/** Milliseconds that an answer may take when there is reason to doubt the connection. */
const DOUBT = 5000;
/** Milliseconds by which a timer may be late before it shows that the page itself stood still. */
const LATE = 2000;

/**
 * What it hears of a page, where it runs in one.
 * @typedef {{addEventListener?: EventTarget["addEventListener"], removeEventListener?: EventTarget["removeEventListener"],
 *   document?: {visibilityState?: string} & Pick<EventTarget, "addEventListener" | "removeEventListener">}} Surroundings
 */

/**
 * Finds out that a connection is dead, which no socket tells by itself: when nothing has come for a while it asks, and gives the
 * connection up that stays silent. When the page is looked at again, or the network is back, it asks at once.
 */
export class Liveness {
  /** @type {unknown} */ #timer;
  #heardAt = 0;
  /** Whether something has come since it asked. */
  #hasHeard = false;
  #isOpen = false;
  #after;
  #timeout;
  #client;
  /** @type {(() => void)[]} */ #unlisten = [];

  /**
   * @param {Pick<import("./client.js").Client, "clock" | "link" | "peer">} client
   * @param {object} options
   * @param {number} [options.after] milliseconds of silence before it asks
   * @param {number} [options.timeout] milliseconds that the answer may take
   * @param {Surroundings} surroundings
   */
  constructor(client, { after = 25000, timeout = 10000 }, surroundings) {
    check("ping.after", after, 1, 0x7fffffff);
    check("ping.timeout", timeout, 1, 0x7fffffff);
    this.#after = after;
    this.#timeout = timeout;
    this.#client = client;
    const { document } = surroundings;
    this.#listen(surroundings, "online", () => this.#back());
    this.#listen(surroundings, "pageshow", (event) => Reflect.get(event, "persisted") && this.#back());
    this.#listen(document, "visibilitychange", () => document?.visibilityState === "visible" && this.#back());
  }

  /** @param {import("./types.js").State} state of the connection */
  changed(state) {
    this.#isOpen = state === "open";
    this.#client.clock.clearTimeout(this.#timer);
    if (state === "closed") for (const undo of this.#unlisten.splice(0)) undo();
    if (!this.#isOpen) return;
    this.heard();
    this.#wait(this.#after);
  }

  /** Something has come. */
  heard() {
    this.#hasHeard = true;
    this.#heardAt = this.#client.clock.now();
  }

  /** There is reason to look how the connection is. */
  #back() {
    if (this.#isOpen) this.#ask(Math.min(DOUBT, this.#timeout));
    else this.#client.link.hasten();
  }

  /** @param {number} delay */
  #wait(delay) {
    this.#later(delay, () => {
      const rest = this.#heardAt + this.#after - this.#client.clock.now();
      if (rest > 0) this.#wait(rest);
      else this.#ask(this.#timeout);
    });
  }

  /** @param {number} timeout */
  #ask(timeout) {
    const { clock, link, peer } = this.#client;
    const askedAt = clock.now();
    this.#hasHeard = false;
    ping(peer).catch(() => {});
    this.#later(timeout, () => {
      if (this.#hasHeard) this.#wait(this.#after);
      // What has come meanwhile could not be heard.
      else if (clock.now() - askedAt > timeout + LATE) this.#ask(timeout);
      else link.drop(closeOf.noPong, `nothing came within ${timeout} ms after a ping`);
    });
  }

  /**
   * @param {number} delay
   * @param {() => void} body
   */
  #later(delay, body) {
    const { clock } = this.#client;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(body, delay);
  }

  /**
   * @param {Pick<EventTarget, "addEventListener" | "removeEventListener"> | Surroundings | undefined} target
   * @param {string} type
   * @param {(event: Event) => void} listener
   */
  #listen(target, type, listener) {
    if (typeof target?.addEventListener !== "function") return;
    target.addEventListener(type, listener);
    const remove = target.removeEventListener?.bind(target);
    this.#unlisten.push(() => remove?.(type, listener));
  }
}
