// @ts-check
import { Backoff, check } from "./backoff.js";
import { platformClock } from "./clock.js";
import { Entry } from "./entry.js";
import { BridgeError, closedError } from "./errors.js";
import { Link } from "./link.js";
import { Membership } from "./membership.js";
import { Peer } from "./peer.js";

/** @typedef {import("./connection.js").Close} Close */

/**
 * What makes a client one that others call.
 * @typedef {object} Duty
 * @property {typeof import("./serving.js").Serving} Serving
 * @property {(client: Client) => import("./duties.js").Duties} of
 */

/** How this client names itself when the application does not. */
const CLIENT = { name: "waybridge-js", version: "0.1.0" };

/** A member of a session, over all its connections, and of a new one when that is lost. Its parts know it, and one another by it. */
export class Client {
  #closedByApp = false;
  #liveness;
  #membership;
  /** How it names itself. */
  about;
  clock;
  emit;
  entry;
  peer;
  /** Who answers what others ask; none: nobody. */
  duties;
  /** Who hears what is published; none: nobody. */
  events;
  /** What keeps the session for the next load of the page. */
  store;
  /** What lets the session outlive its connections. */
  resumption;
  /** @type {Link} */ link;

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {import("./types.js").Parts} parts
   * @param {(type: string, detail: unknown) => void} emit
   */
  constructor(options, { duties, events, reload, resume = reload?.resume, admission, fallback }, emit) {
    const { clock = platformClock, connectTimeout = 10000, reconnect = {}, queue: { count = 256, bytes = 1 << 20 } = {} } = options;
    check("connectTimeout", connectTimeout, 1, 0x7fffffff);
    check("queue.count", count, 0);
    check("queue.bytes", bytes, 0);
    this.clock = clock;
    this.emit = emit;
    this.about = options.client ?? CLIENT;
    const isOptional = fallback !== undefined;
    // Where something stands in for a bridge, nobody should have to wait for one.
    const backoff = reconnect === false ? undefined : new Backoff({ ...(isOptional && { attempts: 1 }), ...reconnect }, clock);
    const entry = (this.entry = new Entry(options, isOptional, reload?.keeping(globalThis)));
    const duty = /** @type {Duty | undefined} */ (duties);
    this.peer = new Peer({
      send: (text, how) => this.resumption?.send(text, how) ?? this.link.send(text),
      takes: (message, units) => this.resumption?.takes(message, units) ?? true,
      acknowledged: (params) => this.resumption?.acknowledged(params),
      report: this.report,
      Serving: duty?.Serving,
      request: (method) => this.duties?.request(method),
      notification: (method) => (method === "event" ? (event) => this.events?.hear(event) : this.duties?.notification(method)),
      queue: { count, bytes },
      clock,
    });
    this.#membership = new Membership(this);
    this.duties = duty?.of(this);
    /** @type {import("./news.js").News | undefined} */
    this.events = events?.(this, options);
    /** @type {import("./reload-store.js").ReloadStore | undefined} */
    this.store = reload?.store(this, options);
    /** @type {import("./resumption.js").Resumption | undefined} */
    this.resumption = resume?.resumption(this, options);
    /** @type {import("./liveness.js").Liveness | undefined} */
    this.#liveness = resume?.liveness(this, options);
    const told = admission?.(entry.url, options.fetch ?? globalThis.fetch);
    this.link = new Link({ entry, admission: told, WebSocket: options.WebSocket ?? globalThis.WebSocket, backoff, connectTimeout, clock }, {
      greet: (isCurrent) => this.#membership.greet(isCurrent),
      received: (data) => this.#received(data),
      lost: (close) => this.#membership.lost(close, this.state === "open"),
      ended: (close) => this.#ended(close),
      changed: (change) => this.#changed(change),
    });
  }

  get state() {
    return this.link.state;
  }

  get session() {
    return this.#membership.session;
  }

  get ready() {
    return this.#membership.ready;
  }

  /** @param {BridgeError} error what no caller waits for */
  report = (error) => this.emit("error", error);

  /**
   * @param {string} method
   * @param {object} [params]
   * @param {import("./types.js").CallOptions} options
   * @returns {Promise<any>}
   */
  async request(method, params, { onBehalfOf, ...options } = {}) {
    if (onBehalfOf === undefined) return this.peer.request(method, params, options);
    // At once or not at all: to the next session that id is another request's.
    return this.peer.request(method, { ...params, onBehalfOf: onBehalfOf.asked(method) }, { ...options, first: true });
  }

  close() {
    this.#closedByApp ||= this.state !== "closed";
    return this.link.close();
  }

  /** @param {unknown} data */
  #received(data) {
    this.#liveness?.heard();
    this.peer.receive(data);
    this.resumption?.settle();
  }

  /** @param {import("./types.js").StateChange} change */
  #changed(change) {
    this.#liveness?.changed(change.state);
    this.events?.compare(this.session?.table);
    this.emit("statechange", change.state === "open" ? { ...change, ...this.#membership.takeNews() } : change);
  }

  /** @param {Close} close */
  #ended(close) {
    const { code, reason, cause } = close;
    // Whether there was no session, and will be none.
    const told = { ...close, absent: !this.link.wasOpen && !this.#closedByApp };
    this.store?.end({ forget: this.#closedByApp || close.final === true });
    this.#membership.leave();
    this.peer.close(told);
    this.#membership.fail(cause instanceof BridgeError ? cause : closedError(told, false));
    this.emit("close", { code, reason });
  }
}
