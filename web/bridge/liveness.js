// @ts-check
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
  #options;
  #link;
  #peer;
  /** @type {(() => void)[]} */ #unlisten = [];

  /**
   * @param {object} options
   * @param {number} options.after milliseconds of silence before it asks
   * @param {number} options.timeout milliseconds that the answer may take
   * @param {import("./clock.js").Clock} options.clock
   * @param {object} client
   * @param {import("./link.js").Link} client.link
   * @param {import("./peer.js").Peer} client.peer
   * @param {Surroundings} surroundings
   */
  constructor(options, { link, peer }, surroundings) {
    this.#options = options;
    this.#link = link;
    this.#peer = peer;
    const { document } = surroundings;
    this.#listen(surroundings, "online", () => this.#back());
    this.#listen(surroundings, "pageshow", (event) => Reflect.get(event, "persisted") && this.#back());
    this.#listen(document, "visibilitychange", () => document?.visibilityState === "visible" && this.#back());
  }

  /** There is a connection with a session. */
  start() {
    this.#isOpen = true;
    this.heard();
    this.#wait(this.#options.after);
  }

  /** There is none. */
  stop() {
    this.#isOpen = false;
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** Something has come. */
  heard() {
    this.#hasHeard = true;
    this.#heardAt = this.#options.clock.now();
  }

  close() {
    this.stop();
    for (const undo of this.#unlisten.splice(0)) undo();
  }

  /** There is reason to look how the connection is. */
  #back() {
    if (this.#isOpen) this.#ask(Math.min(DOUBT, this.#options.timeout));
    else this.#link.hasten();
  }

  /** @param {number} delay */
  #wait(delay) {
    this.#later(delay, () => {
      const rest = this.#heardAt + this.#options.after - this.#options.clock.now();
      if (rest > 0) this.#wait(rest);
      else this.#ask(this.#options.timeout);
    });
  }

  /** @param {number} timeout */
  #ask(timeout) {
    const { clock, after } = this.#options;
    const askedAt = clock.now();
    this.#hasHeard = false;
    this.#peer.ping().catch(() => {});
    this.#later(timeout, () => {
      if (this.#hasHeard) this.#wait(after);
      // What has come meanwhile could not be heard.
      else if (clock.now() - askedAt > timeout + LATE) this.#ask(timeout);
      else this.#link.drop(closeOf.noPong, `nothing came within ${timeout} ms after a ping`);
    });
  }

  /**
   * @param {number} delay
   * @param {() => void} body
   */
  #later(delay, body) {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = this.#options.clock.setTimeout(body, delay);
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
