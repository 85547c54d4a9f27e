// @ts-check
import { Admission } from "./admission.js";
import { Announcements } from "./announcements.js";
import { Backoff, check } from "./backoff.js";
import { platformClock } from "./clock.js";
import { closeCodes } from "./codes.js";
import { Entry } from "./entry.js";
import { BridgeAbsent, BridgeError, closedError, failure } from "./errors.js";
import { Hosting } from "./hosting.js";
import { Link } from "./link.js";
import { Liveness } from "./liveness.js";
import { Membership } from "./membership.js";
import { Methods } from "./methods.js";
import { Notices } from "./notices.js";
import { Peer } from "./peer.js";
import { ReloadStore } from "./reload-store.js";
import { Resumption } from "./resumption.js";

/** @typedef {import("./connection.js").Close} Close */

/** How this client names itself when the application does not. */
const CLIENT = { name: "waybridge-js", version: "0.1.0" };

/** A member of a session, over all its connections, and of a new one when that is lost. */
export class Client {
  #closedByApp = false;
  /** @type {Link} */ #link;
  /** @type {Peer} */ #peer;
  /** @type {Resumption} */ #resumption;
  /** @type {Membership} */ #membership;
  /** @type {Liveness | undefined} */ #liveness;
  #store;
  #emit;
  #deputy;
  entry;
  methods = new Methods();
  hosting = new Hosting(this.methods);
  announcements;

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {(type: string, detail: unknown) => void} emit
   * @param {(request?: import("./serving.js").Served) => import("./types.js").Deputy} deputy what acts for the caller of a request, or for
   *   this client itself
   */
  constructor(options, emit, deputy) {
    this.#emit = emit;
    this.#deputy = deputy;
    const { clock = platformClock, connectTimeout = 10000, reconnect = {}, queue: { count = 256, bytes = 1 << 20 } = {} } = options;
    const { keep = "reload", ping = {} } = options;
    const { after = 25000, timeout = 10000 } = ping || {};
    check("connectTimeout", connectTimeout, 1, 0x7fffffff);
    check("queue.count", count, 0, Number.MAX_SAFE_INTEGER);
    check("queue.bytes", bytes, 0, Number.MAX_SAFE_INTEGER);
    check("ping.after", after, 1, 0x7fffffff);
    check("ping.timeout", timeout, 1, 0x7fffffff);
    if (!["reload", "connection", "nothing"].includes(keep)) {
      throw failure("invalidParams", `keep is ${String(keep)}; give "reload", "connection" or "nothing"`);
    }
    // Where something stands in for a bridge, nobody should have to wait for one.
    const usual = options.fallback === undefined ? {} : { attempts: 1 };
    const backoff = reconnect === false ? undefined : new Backoff({ ...usual, ...reconnect }, () => clock.random());
    this.entry = new Entry(options);
    const client = options.client ?? CLIENT;
    const report = (/** @type {BridgeError} */ error) => this.#emit("error", error);
    const request = (/** @type {string} */ method, /** @type {object} */ params, /** @type {any} */ how) => this.#peer.request(method, params, how);
    const { entry, hosting } = this;
    const notices = new Notices({ session: () => this.session, request, entry, hosting, emit, report });
    this.announcements = new Announcements(this.hosting, notices.subscriptions, {
      request,
      ready: () => this.ready,
      refused: (error) => this.state === "closed" || report(error),
    });
    const { url, absence } = this.entry;
    const place = keep === "reload" && url !== undefined ? { url, name: client.name, frame: entry.frame } : undefined;
    this.#store = place && ReloadStore.of(place, clock, () => {
      const { identity, received, kept } = this.#resumption;
      return kept ?? (identity && { ...identity, received, calls: this.#peer.asked, ...this.announcements.told });
    });
    this.#resumption = new Resumption({
      isWanted: keep !== "nothing",
      send: (text) => this.#link.send(text),
      drop: (code, reason) => this.#link.drop(code, reason),
      room: () => this.#peer.flush(),
      store: this.#store,
      clock,
    });
    this.#peer = new Peer({
      send: (text, how) => this.#resumption.send(text, how),
      takes: (message, units) => this.#resumption.takes(message, units),
      acknowledged: (params) => this.#resumption.acknowledged(params),
      report,
      request: (method) => this.#acting(this.hosting.requests.get(method) ?? this.methods.handler(method)),
      notification: (method) => notices.handler(method) ?? this.#acting(this.methods.handler(method)),
      queue: { count, bytes },
      clock,
    });
    this.#membership = new Membership({
      client, clock, own: () => deputy(), entry, hosting, report, announcements: this.announcements, resumption: this.#resumption, store: this.#store, peer: this.#peer,
      lost: (lost) => emit("statechange", { state: this.state, attempt: 0, lost }),
    });
    this.#liveness = ping === false ? undefined : new Liveness({ after, timeout, clock }, {
      ask: () => void this.#peer.request("$/ping", undefined, { first: true }).catch(() => {}),
      dead: (reason) => this.#link.drop(closeCodes.noPong.code, reason),
      hasten: () => this.#link.hasten(),
    }, /** @type {any} */ (globalThis));
    const admission = Admission.to(url, options.fetch ?? globalThis.fetch);
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    this.#link = new Link({ url, absence, admission, WebSocket, backoff, connectTimeout, clock }, {
      greet: (isCurrent) => this.#membership.greet(isCurrent),
      forgives: (error) => this.entry.forgives(error, this.#link.wasOpen),
      next: (code) => this.entry.next(code),
      received: (data) => this.#received(data),
      lost: (close) => this.#membership.lost(close, this.state === "open"),
      ended: (close) => this.#ended(close),
      changed: (change) => this.#changed(change),
    });
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
    return this.#membership.pending;
  }

  /** Whether there was no session, and will be none. */
  get #isAbsent() {
    return this.state === "closed" && !this.#link.wasOpen && !this.#closedByApp;
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @param {import("./types.js").CallOptions} options
   * @returns {Promise<any>}
   */
  request(method, params, { onBehalfOf, ...options } = {}) {
    if (onBehalfOf === undefined) return this.#peer.request(method, params, options);
    const { id, isRunning } = onBehalfOf;
    // A null would be read as none: the call would be made with this client's own rights.
    if (id === null || !isRunning()) {
      const why = "the request has been answered, or its connection has ended, or it was a notification";
      return Promise.reject(failure("invalidParams", `${method} can not be called on behalf of who asked: ${why}`, { method }));
    }
    // At once or not at all: to the next session that id is another request's.
    return this.#peer.request(method, { ...params, onBehalfOf: id }, { ...options, first: true });
  }

  /**
   * What the server answered, or, where there never was a bridge, what stands in for it.
   * @template T
   * @param {Promise<T>} sent
   * @param {() => Promise<any> | undefined} own undefined: nothing does
   * @returns {Promise<T>}
   */
  async orElse(sent, own) {
    try {
      return await sent;
    } catch (error) {
      const stand = error instanceof BridgeAbsent ? own() : undefined;
      if (stand === undefined) throw error;
      return stand;
    }
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
    this.#resumption.settle();
  }

  /**
   * @param {import("./types.js").MethodHandler | undefined} handler
   * @returns {import("./serving.js").RequestHandler | undefined}
   */
  #acting(handler) {
    return handler && ((params, { request, ...context }) => handler(params, { ...context, ...this.#deputy(request) }));
  }

  /** @param {import("./types.js").StateChange} change */
  #changed(change) {
    const { state } = change;
    if (state === "closed") this.#liveness?.close();
    else if (state === "open") this.#liveness?.start();
    else this.#liveness?.stop();
    const news = state === "open" ? this.#membership.takeNews() : {};
    this.#emit("statechange", { ...change, ...news });
  }

  /** @param {Close} close */
  #ended(close) {
    const { code, reason, cause } = close;
    const told = { ...close, absent: this.#isAbsent };
    this.#store?.end({ forget: this.#closedByApp || close.final === true });
    this.#membership.leave();
    this.#peer.close(told);
    this.#membership.fail(cause instanceof BridgeError ? cause : closedError(told, false));
    this.#emit("close", { code, reason });
  }
}
