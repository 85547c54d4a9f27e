// @ts-check
import { Announcements } from "./announcements.js";
import { Backoff, check } from "./backoff.js";
import { platformClock } from "./clock.js";
import { Entry } from "./entry.js";
import { BridgeError, closedError, failure } from "./errors.js";
import { Link } from "./link.js";
import { Membership } from "./membership.js";
import { News } from "./news.js";
import { Peer } from "./peer.js";
import { Topics } from "./topics.js";

/** @typedef {import("./connection.js").Close} Close */

/**
 * What makes a client one that others call.
 * @typedef {object} Duty
 * @property {typeof import("./serving.js").Serving} Serving
 * @property {(client: import("./duties.js").Employer) => import("./duties.js").Duties} of
 */

/** How this client names itself when the application does not. */
const CLIENT = { name: "waybridge-js", version: "0.1.0" };

/** A member of a session, over all its connections, and of a new one when that is lost. */
export class Client {
  #closedByApp = false;
  /** @type {Link} */ #link;
  /** @type {Peer} */ #peer;
  /** @type {import("./resumption.js").Resumption | undefined} */ #resumption;
  /** @type {Membership} */ #membership;
  /** @type {import("./liveness.js").Liveness | undefined} */ #liveness;
  #store;
  #emit;
  entry;
  /** @type {Topics} */ topics;
  /** @type {import("./duties.js").Duties | undefined} */ duties;

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {import("./types.js").Parts} parts
   * @param {(type: string, detail: unknown) => void} emit
   */
  constructor(options, { duties: own, reload, resume = reload?.resume, admission, fallback }, emit) {
    this.#emit = emit;
    const duties = /** @type {Duty | undefined} */ (own);
    const { clock = platformClock, connectTimeout = 10000, reconnect = {}, queue: { count = 256, bytes = 1 << 20 } = {} } = options;
    const { keep = "reload", ping = {}, client = CLIENT } = options;
    const { after = 25000, timeout = 10000 } = ping || {};
    check("connectTimeout", connectTimeout, 1, 0x7fffffff);
    check("queue.count", count, 0);
    check("queue.bytes", bytes, 0);
    check("ping.after", after, 1, 0x7fffffff);
    check("ping.timeout", timeout, 1, 0x7fffffff);
    if (!["reload", "connection", "nothing"].includes(keep)) {
      throw failure("invalidParams", `keep is ${String(keep)}; give "reload", "connection" or "nothing"`);
    }
    // Where something stands in for a bridge, nobody should have to wait for one.
    const usual = fallback === undefined ? {} : { attempts: 1 };
    const backoff = reconnect === false ? undefined : new Backoff({ ...usual, ...reconnect }, () => clock.random());
    const entry = (this.entry = new Entry(options, fallback !== undefined, reload?.keeping(globalThis)));
    const report = (/** @type {BridgeError} */ error) => emit("error", error);
    const { url, absence, frame } = entry;
    /** @type {import("./reload-store.js").ReloadStore | undefined} */
    const store = keep === "reload" && url !== undefined ? reload?.store({ url, name: client.name, frame }, clock, () => {
      const { identity, received, asked: calls } = /** @type {import("./resumption.js").Resumption} */ (this.#resumption);
      return identity && { ...identity, received, calls, hosts: this.duties?.hosting.declarations ?? [], topics: this.topics.asked };
    }) : undefined;
    this.#store = store;
    /** @type {Peer} */
    const peer = (this.#peer = new Peer({
      send: (text, how) => this.#resumption?.send(text, how) ?? this.#link.send(text),
      takes: (message, units) => this.#resumption?.takes(message, units) ?? true,
      acknowledged: (params) => this.#resumption?.acknowledged(params),
      report,
      Serving: duties?.Serving,
      request: (method) => this.duties?.request(method),
      notification: (method) => (method === "event" ? (event) => news.hear(event) : this.duties?.notification(method)),
      queue: { count, bytes },
      clock,
    }));
    const announcements = new Announcements({
      request: (method, params, how) => peer.request(method, params, how),
      ready: () => this.ready,
      refused: (error) => this.state === "closed" || report(error),
    });
    const topics = (this.topics = new Topics(announcements));
    this.duties = duties?.of({ peer, announcements, entry, clock, emit, report });
    const news = new News({ session: () => this.session, peer, entry, topics, emit, report });
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    this.#link = new Link({ url, absence, admission: admission?.(url, options.fetch ?? globalThis.fetch), WebSocket, backoff, connectTimeout, clock }, {
      greet: (isCurrent) => this.#membership.greet(isCurrent),
      forgives: (error) => entry.forgives(error, this.#link.wasOpen),
      next: (code) => entry.next(code),
      received: (data) => this.#received(data),
      lost: (close) => this.#membership.lost(close, this.state === "open"),
      ended: (close) => this.#ended(close),
      changed: (change) => this.#changed(change),
    });
    const link = this.#link;
    const lost = (/** @type {import("./types.js").Lost} */ loss) => emit("statechange", { state: this.state, attempt: 0, lost: loss });
    this.#resumption = keep === "nothing" ? undefined : resume?.resumption({ link, peer, announcements, lost, store, clock });
    this.#membership = new Membership({ client, entry, topics, duties: this.duties, resumption: this.#resumption, peer });
    this.#liveness = ping === false ? undefined : resume?.liveness({ after, timeout, clock }, { link, peer });
  }

  get state() {
    return this.#link.state;
  }

  get session() {
    return this.#membership.session;
  }

  get ready() {
    return this.#membership.ready;
  }

  /** The calls of the load before. */
  get pending() {
    return [...this.#store?.pending ?? []];
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @param {import("./types.js").CallOptions} options
   * @returns {Promise<any>}
   */
  async request(method, params, { onBehalfOf, ...options } = {}) {
    if (onBehalfOf === undefined) return this.#peer.request(method, params, options);
    // At once or not at all: to the next session that id is another request's.
    return this.#peer.request(method, { ...params, onBehalfOf: onBehalfOf.asked(method) }, { ...options, first: true });
  }

  hasten() {
    this.#link.hasten();
  }

  close() {
    this.#closedByApp ||= this.state !== "closed";
    return this.#link.close();
  }

  /** @param {unknown} data */
  #received(data) {
    this.#liveness?.heard();
    this.#peer.receive(data);
    this.#resumption?.settle();
  }

  /** @param {import("./types.js").StateChange} change */
  #changed(change) {
    const { state } = change;
    if (state === "closed") this.#liveness?.close();
    else if (state === "open") this.#liveness?.start();
    else this.#liveness?.stop();
    this.#emit("statechange", state === "open" ? { ...change, ...this.#membership.takeNews() } : change);
  }

  /** @param {Close} close */
  #ended(close) {
    const { code, reason, cause } = close;
    // Whether there was no session, and will be none.
    const told = { ...close, absent: !this.#link.wasOpen && !this.#closedByApp };
    this.#store?.end({ forget: this.#closedByApp || close.final === true });
    this.#membership.leave();
    this.#peer.close(told);
    this.#membership.fail(cause instanceof BridgeError ? cause : closedError(told, false));
    this.#emit("close", { code, reason });
  }
}
