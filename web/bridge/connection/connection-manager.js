// @ts-check
import { backoff, check, MAX_DELAY, retryAfter } from "./backoff.js";
import * as closeOf from "./close-codes.js";
import { connect } from "./connection.js";
import { BridgeError, textOf } from "../values/errors.js";

/** Milliseconds after which an open session is stable: if it ends later, the count of consecutive failures starts again. */
const STABLE_DURATION = 5000;

/** @typedef {import("../types/api.js").State} State */
/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./connection.js").Close} Close */

/** Keeps a session open over several connections, one at a time. */
export class ConnectionManager {
  /** @type {State} */ state = "connecting";
  /** Whether there ever was a session. */
  wasOpen = false;
  /** @type {Connection | undefined} */ #connection;
  /** @type {unknown} */ #timer;
  /** Attempts since there was a session, and consecutive failures. A session that ends at once counts as a failure. */
  #attempts = 0;
  #failures = 0;
  #openSince = 0;
  #client;
  #WebSocket;
  #connectTimeout;
  /** @type {ReturnType<typeof backoff> | undefined} `undefined`: the client does not reconnect */ #backoff;

  /**
   * @param {import("../session/client.js").Client} client
   * @param {import("../types/api.js").BridgeOptions} options
   */
  constructor(client, { WebSocket = globalThis.WebSocket, connectTimeout = 10000, reconnect = {} }) {
    check("connectTimeout", connectTimeout, 1, MAX_DELAY);
    this.#client = client;
    this.#WebSocket = WebSocket;
    this.#connectTimeout = connectTimeout;
    // With a fallback for the bridge, calls should not have to wait for further attempts.
    const attempts = client.access.isOptional ? 1 : Infinity;
    if (reconnect !== false) this.#backoff = backoff({ attempts, ...reconnect }, client.clock);
  }

  /** Connects for the first time. */
  start() {
    const { absence, url } = this.#client.access;
    if (url === undefined) queueMicrotask(() => this.#end(absence));
    else this.#connect();
  }

  /**
   * @param {string} text
   * @returns {boolean} `false` if no socket is open
   */
  send(text) {
    return this.#connection?.send(text) ?? false;
  }

  /** Reconnects now, if it waits to reconnect. */
  reconnect() {
    if (this.state === "waiting") this.#retry();
  }

  /**
   * Closes the connection in order to reconnect.
   * @param {number} code
   * @param {string} reason
   */
  drop(code, reason) {
    this.#connection?.close({ code, reason });
  }

  /** Closes the connection permanently. Resolves when the socket is closed. */
  async close() {
    const connection = this.#connection;
    const close = { code: closeOf.normal, reason: "", final: true, isByApp: true };
    connection?.close(close);
    this.#end(close);
    await connection?.ended;
  }

  #connect() {
    const { admission, clock, access: { url } } = this.#client;
    this.#attempts += 1;
    /** @type {Connection} */
    const connection = connect(/** @type {string} */ (url), this.#WebSocket, {
      opened: () => void this.#openSession(connection),
      received: (data) => this.#client.receive(data),
      closed: (close) => this.#connectionClosed(close),
    });
    this.#connection = connection;
    this.#timer = clock.setTimeout(() => {
      connection.close({ code: 1006, reason: `No session within ${this.#connectTimeout} ms` });
      admission?.stop();
    }, this.#connectTimeout);
  }

  /** @param {Connection} connection */
  async #openSession(connection) {
    const isCurrent = () => connection === this.#connection && this.state === "connecting";
    try {
      await this.#client.openSession(isCurrent);
    } catch (cause) {
      const isRetryable = this.#client.access.canRetry(cause, this.wasOpen);
      // This has no effect if the connection has already closed by itself.
      connection.close({ code: isRetryable ? 1006 : 1000, reason: textOf(cause), cause, final: !isRetryable });
      return;
    }
    if (!isCurrent()) return;
    const { clock } = this.#client;
    clock.clearTimeout(this.#timer);
    this.wasOpen = true;
    this.#attempts = 0;
    this.#openSince = clock.now();
    this.#changeState({ state: "open", attempt: 0 });
  }

  /** @param {Close} close */
  #connectionClosed(close) {
    const { admission } = this.#client;
    // A client that had a session was accepted, so a failure now can have other reasons: a proxy whose server restarts may answer a request
    // without a header that allows this page to read the response.
    if (!close.unopened || this.wasOpen || admission === undefined) return this.#connectionLost(close);
    void admission.diagnose(close).then((diagnosed) => {
      if (this.state === "connecting") this.#connectionLost(diagnosed);
    });
  }

  /** @param {Close} close */
  #connectionLost(close) {
    const { clock, access } = this.#client;
    clock.clearTimeout(this.#timer);
    const next = close.final ? "none" : access.next(close.code);
    if (this.#backoff === undefined || next === "none" || this.#attempts >= this.#backoff.attempts) return this.#end(close);
    if (this.state === "open" && clock.now() - this.#openSince >= STABLE_DURATION) this.#failures = 0;
    const delay = Math.max(retryAfter(close.cause), next === "resume" && this.#failures === 0 ? 0 : this.#backoff.delay(this.#failures));
    this.#failures += 1;
    this.#timer = clock.setTimeout(() => this.#retry(), delay);
    this.#client.connectionLost(close, this.state === "open");
    this.#changeState({ state: "waiting", attempt: this.#attempts + 1, delay, ...closeDetails(close) });
  }

  #retry() {
    this.#client.clock.clearTimeout(this.#timer);
    this.#changeState({ state: "connecting", attempt: this.#attempts + 1 });
    // A listener of the event may have closed the client.
    if (this.state === "connecting") this.#connect();
  }

  /** @param {Close} close */
  #end(close) {
    if (this.state === "closed") return;
    this.#client.clock.clearTimeout(this.#timer);
    this.#client.admission?.end();
    this.state = "closed";
    this.#client.ended(close);
    this.#client.changed({ state: "closed", attempt: this.#attempts, ...closeDetails(close) });
  }

  /** @param {import("../types/api.js").StateChange} change */
  #changeState(change) {
    // `lost` may have closed the client.
    if (this.state === "closed") return;
    this.state = change.state;
    this.#client.changed(change);
  }
}

/** @param {Close} close */
function closeDetails({ code, reason: stated, cause }) {
  const reason = !globalThis.__waybridgeBrief && stated === "" && code === closeOf.takenOver ? "Another connection took over" : stated;
  return { code, reason, ...(cause instanceof BridgeError && { error: cause }) };
}
