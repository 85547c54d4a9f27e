// @ts-check
import { Backoff, check } from "./backoff.js";
import * as closeOf from "./closes.js";
import { connect } from "./connection.js";
import { BridgeError, textOf } from "./errors.js";

/** Milliseconds that a session has to live for its end to count as the first trouble and not as one more. */
const STEADY = 5000;

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./connection.js").Close} Close */

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
  #client;
  #WebSocket;
  #connectTimeout;
  /** @type {Backoff | undefined} none: the first connection is the last */ #backoff;

  /**
   * @param {import("./client.js").Client} client
   * @param {import("./types.js").BridgeOptions} options
   */
  constructor(client, { WebSocket = globalThis.WebSocket, connectTimeout = 10000, reconnect = {} }) {
    check("connectTimeout", connectTimeout, 1, 0x7fffffff);
    this.#client = client;
    this.#WebSocket = WebSocket;
    this.#connectTimeout = connectTimeout;
    // Where something stands in for a bridge, nobody should have to wait for one.
    const attempts = client.entry.isOptional ? 1 : Infinity;
    if (reconnect !== false) this.#backoff = new Backoff({ attempts, ...reconnect }, client.clock);
  }

  /** Connects for the first time. */
  start() {
    const { absence, url } = this.#client.entry;
    if (url === undefined) queueMicrotask(() => this.#end(absence));
    else this.#connect();
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
    connection?.close();
    this.#end({ code: 1000, reason: "" });
    await connection?.ended;
  }

  #connect() {
    const { admission, clock, entry: { url } } = this.#client;
    this.#tries += 1;
    /** @type {Connection} */
    const connection = connect(/** @type {string} */ (url), this.#WebSocket, {
      opened: () => void this.#greet(connection),
      received: (data) => this.#client.received(data),
      closed: (close) => this.#closed(close),
    });
    this.#connection = connection;
    this.#timer = clock.setTimeout(() => {
      connection.close({ code: 1006, reason: `no session within ${this.#connectTimeout} ms` });
      admission?.stop();
    }, this.#connectTimeout);
  }

  /** @param {Connection} connection */
  async #greet(connection) {
    const isCurrent = () => connection === this.#connection && this.state === "connecting";
    try {
      await this.#client.membership.greet(isCurrent);
    } catch (cause) {
      const again = this.#client.entry.forgives(cause, this.wasOpen);
      // When it ended by itself, that has been told already.
      connection.close({ code: again ? 1006 : 1000, reason: textOf(cause), cause, final: !again });
      return;
    }
    if (!isCurrent()) return;
    const { clock } = this.#client;
    clock.clearTimeout(this.#timer);
    this.wasOpen = true;
    this.#tries = 0;
    this.#openSince = clock.now();
    this.#become({ state: "open", attempt: 0 });
  }

  /** @param {Close} close */
  #closed(close) {
    const { admission } = this.#client;
    // Who had a session was let in. What answers then without letting this page read it may be a proxy, whose server restarts.
    if (!close.unopened || this.wasOpen || admission === undefined) return this.#over(close);
    void admission.judge(close).then((judged) => {
      if (this.state === "connecting") this.#over(judged);
    });
  }

  /** @param {Close} close */
  #over(close) {
    const { clock, entry, membership } = this.#client;
    const backoff = this.#backoff;
    clock.clearTimeout(this.#timer);
    const next = close.final ? "none" : entry.next(close.code);
    if (backoff === undefined || next === "none" || this.#tries >= backoff.attempts) return this.#end(close);
    if (this.state === "open" && clock.now() - this.#openSince >= STEADY) this.#troubles = 0;
    const delay = next === "resume" && this.#troubles === 0 ? 0 : backoff.delay(this.#troubles);
    this.#troubles += 1;
    this.#timer = clock.setTimeout(() => this.#retry(), delay);
    membership.lost(close, this.state === "open");
    this.#become({ state: "waiting", attempt: this.#tries + 1, delay, ...told(close) });
  }

  #retry() {
    this.#client.clock.clearTimeout(this.#timer);
    this.#become({ state: "connecting", attempt: this.#tries + 1 });
    // Who heard of it may have closed all.
    if (this.state === "connecting") this.#connect();
  }

  /** @param {Close} close */
  #end(close) {
    if (this.state === "closed") return;
    this.#client.clock.clearTimeout(this.#timer);
    this.#client.admission?.stop();
    this.state = "closed";
    this.#client.ended(close);
    this.#client.changed({ state: "closed", attempt: this.#tries, ...told(close) });
  }

  /** @param {import("./types.js").StateChange} change */
  #become(change) {
    // `lost` may have closed all.
    if (this.state === "closed") return;
    this.state = change.state;
    this.#client.changed(change);
  }
}

/** @param {Close} close */
function told({ code, reason: given, cause }) {
  const reason = given === "" && code === closeOf.takenOver ? "taken over by another connection" : given;
  return cause instanceof BridgeError ? { code, reason, error: cause } : { code, reason };
}
