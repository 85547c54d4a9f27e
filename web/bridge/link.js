// @ts-check
import * as closeOf from "./closes.js";
import { Connection } from "./connection.js";
import { BridgeError, textOf } from "./errors.js";

/** Milliseconds that a session has to live for its end to count as the first trouble and not as one more. */
const STEADY = 5000;

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./connection.js").Close} Close */

/**
 * @typedef {object} LinkEvents
 * @property {(isCurrent: () => boolean) => Promise<void>} greet opens the session on a connection that has just opened, as long
 *   as that is the current one; rejects when it does not open
 * @property {(data: unknown) => void} received
 * @property {(close: Close) => void} lost the connection ended, and another will come
 * @property {(close: Close) => void} ended the last one did
 * @property {(change: import("./types.js").StateChange) => void} changed after all of these
 */

/** Keeps a session open over as many connections as that takes, one at a time. */
export class Link {
  /** @type {State} */ state = "connecting";
  /** Whether there ever was a session. */
  wasOpen = false;
  /** @type {Connection | undefined} */ #connection;
  /** @type {unknown} */ #timer;
  /** Tries since there was a session, and troubles in a row: a session that ends at once is one too. */
  #tries = 0;
  #troubles = 0;
  #openSince = 0;
  #options;
  #events;

  /**
   * @param {object} options
   * @param {import("./entry.js").Entry} options.entry without a `url` there is no bridge
   * @param {import("./admission.js").Admission | undefined} options.admission tells why a first handshake failed; none: nobody asks
   * @param {import("./types.js").BridgeOptions["WebSocket"]} options.WebSocket
   * @param {import("./backoff.js").Backoff | undefined} options.backoff none: the first connection is the last
   * @param {number} options.connectTimeout
   * @param {import("./clock.js").Clock} options.clock
   * @param {LinkEvents} events
   */
  constructor(options, events) {
    this.#options = options;
    this.#events = events;
    const { absence, url } = options.entry;
    if (url === undefined) queueMicrotask(() => this.#end(absence));
    else this.#connect(url);
  }

  /**
   * @param {string} text
   * @returns {boolean} false when it could not be handed to an open socket
   */
  send(text) {
    return this.#connection?.send(text) ?? false;
  }

  /** Connects now, where it waits to connect. */
  hasten() {
    if (this.state === "waiting") this.#retry();
  }

  /**
   * Gives the connection up, to go on with another.
   * @param {number} code
   * @param {string} reason
   */
  drop(code, reason) {
    this.#connection?.close({ code, reason });
  }

  /** Ends everything. Resolves when the last socket is gone. */
  async close() {
    const connection = this.#connection;
    if (this.state === "connecting" || this.state === "open") connection?.close();
    this.#end({ code: 1000, reason: "" });
    await connection?.ended;
  }

  /** @param {string} url */
  #connect(url) {
    const { admission, WebSocket, clock, connectTimeout } = this.#options;
    this.#tries += 1;
    /** @type {Connection} */
    const connection = new Connection(url, WebSocket, {
      opened: () => void this.#greet(connection),
      received: (data) => this.#events.received(data),
      closed: (close) => this.#closed(close),
    });
    this.#connection = connection;
    this.#timer = clock.setTimeout(() => {
      connection.close({ code: 1006, reason: `no session within ${connectTimeout} ms` });
      admission?.stop();
    }, connectTimeout);
  }

  /** @param {Connection} connection */
  async #greet(connection) {
    const isCurrent = () => connection === this.#connection && this.state === "connecting";
    try {
      await this.#events.greet(isCurrent);
    } catch (cause) {
      const again = this.#options.entry.forgives(cause, this.wasOpen);
      // When it ended by itself, that has been told already.
      connection.close({ code: again ? 1006 : 1000, reason: textOf(cause), cause, final: !again });
      return;
    }
    if (!isCurrent()) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.wasOpen = true;
    this.#tries = 0;
    this.#openSince = this.#options.clock.now();
    this.#become({ state: "open", attempt: 0 });
  }

  /** @param {Close} close */
  #closed(close) {
    const { admission } = this.#options;
    // Who had a session was let in. What answers then without letting this page read it may be a proxy, whose server restarts.
    if (!close.unopened || this.wasOpen || admission === undefined) return this.#over(close);
    void admission.judge(close).then((judged) => {
      if (this.state === "connecting") this.#over(judged);
    });
  }

  /** @param {Close} close */
  #over(close) {
    const { backoff, clock, entry } = this.#options;
    clock.clearTimeout(this.#timer);
    const next = close.final ? "none" : entry.next(close.code);
    if (backoff === undefined || next === "none" || this.#tries >= backoff.attempts) return this.#end(close);
    if (this.state === "open" && clock.now() - this.#openSince >= STEADY) this.#troubles = 0;
    const delay = next === "resume" && this.#troubles === 0 ? 0 : backoff.delay(this.#troubles);
    this.#troubles += 1;
    this.#timer = clock.setTimeout(() => this.#retry(), delay);
    this.#events.lost(close);
    this.#become({ state: "waiting", attempt: this.#tries + 1, delay, ...told(close) });
  }

  #retry() {
    this.#options.clock.clearTimeout(this.#timer);
    this.#become({ state: "connecting", attempt: this.#tries + 1 });
    // Who heard of it may have closed all.
    if (this.state === "connecting") this.#connect(/** @type {string} */ (this.#options.entry.url));
  }

  /** @param {Close} close */
  #end(close) {
    if (this.state === "closed") return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#options.admission?.stop();
    this.state = "closed";
    this.#events.ended(close);
    this.#events.changed({ state: "closed", attempt: this.#tries, ...told(close) });
  }

  /** @param {import("./types.js").StateChange} change */
  #become(change) {
    // `lost` may have closed all.
    if (this.state === "closed") return;
    this.state = change.state;
    this.#events.changed(change);
  }
}

/** @param {Close} close */
function told({ code, reason: given, cause }) {
  const reason = given === "" && code === closeOf.takenOver ? "another connection goes on with this client" : given;
  return cause instanceof BridgeError ? { code, reason, error: cause } : { code, reason };
}
