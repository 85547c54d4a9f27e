// @ts-check
import { Admission } from "./admission.js";
import { Announcements } from "./announcements.js";
import { Backoff, check } from "./backoff.js";
import { platformClock } from "./clock.js";
import { codes } from "./codes.js";
import { Entry } from "./entry.js";
import { BridgeAbsent, BridgeError, bridgeError, closedError, failure, textOf } from "./errors.js";
import { Hosting } from "./hosting.js";
import { Link } from "./link.js";
import { Methods } from "./methods.js";
import { Peer } from "./peer.js";
import { Subscriptions } from "./subscriptions.js";

/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./connection.js").Close} Close */

/** How this client names itself when the application does not. */
const CLIENT = { name: "waybridge-js", version: "0.1.0" };

/** A member of a session, and of a new one when that is lost. */
export class Client {
  #closedByApp = false;
  /** @type {(info: SessionInfo) => void} */ #opened = () => {};
  /** @type {(error: unknown) => void} */ #failed = () => {};
  /** @type {Link} */ #link;
  /** @type {Peer} */ #peer;
  #subscriptions = new Subscriptions();
  #name;
  #emit;
  #deputy;
  entry;
  methods = new Methods();
  hosting = new Hosting(this.methods);
  announcements;
  /** @type {SessionInfo | undefined} */ session;
  /** @type {Promise<SessionInfo>} */ ready = this.#newReady();

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {(type: string, detail: unknown) => void} emit
   * @param {(request: import("./serving.js").Served) => import("./types.js").Deputy} deputy what acts for the caller of a request
   */
  constructor(options, emit, deputy) {
    this.#name = options.client ?? CLIENT;
    this.#emit = emit;
    this.#deputy = deputy;
    const { clock = platformClock, connectTimeout = 10000, reconnect = {}, queue: { count = 256, bytes = 1 << 20 } = {} } = options;
    check("connectTimeout", connectTimeout, 1, 0x7fffffff);
    check("queue.count", count, 0, Number.MAX_SAFE_INTEGER);
    check("queue.bytes", bytes, 0, Number.MAX_SAFE_INTEGER);
    // Where something stands in for a bridge, nobody should have to wait for one.
    const usual = options.fallback === undefined ? {} : { attempts: 1 };
    const backoff = reconnect === false ? undefined : new Backoff({ ...usual, ...reconnect }, () => clock.random());
    this.entry = new Entry(options);
    this.announcements = new Announcements(this.hosting, this.#subscriptions, {
      request: (method, params, how) => this.#peer.request(method, params, how),
      ready: () => this.ready,
      refused: (error) => this.state === "closed" || this.#report(error),
    });
    this.#peer = new Peer({
      send: (text) => this.#link.send(text),
      report: (error) => this.#report(error),
      request: (method) => this.#acting(this.hosting.requests.get(method) ?? this.methods.handler(method)),
      notification: (method) => this.#notification(method),
      queue: { count, bytes },
      clock,
    });
    const { url, absence } = this.entry;
    const admission = Admission.to(url, options.fetch ?? globalThis.fetch);
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    this.#link = new Link({ url, absence, admission, WebSocket, backoff, connectTimeout, clock }, {
      greet: (isCurrent) => this.#greet(isCurrent),
      forgives: (error) => this.entry.forgives(error, this.#link.wasOpen),
      next: (code) => this.entry.next(code),
      received: (data) => this.#peer.receive(data),
      lost: (close) => this.#lost(close),
      ended: (close) => this.#ended(close),
      changed: (change) => this.#emit("statechange", change),
    });
  }

  get state() {
    return this.#link.state;
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

  /** @param {() => boolean} isCurrent whether the connection is still the one to greet */
  async #greet(isCurrent) {
    const { entry } = this;
    const shown = entry.varies ? await entry.anew() : entry.shown;
    if (!isCurrent()) return;
    const hosts = this.announcements.greet();
    const hello = { protocol: ["1.0"], client: this.#name, hosts, ...shown };
    const info = await this.#peer.request("session.open", hello, { first: true });
    if (!isCurrent()) return;
    if (typeof info?.session !== "string") {
      throw bridgeError(codes.internal.code, "the server's answer to session.open names no session", { kind: "malformed" });
    }
    entry.passed(info);
    // The pages that it showed went with the session that was lost.
    this.hosting.lost((error) => this.#hostFailed("close", error));
    this.hosting.page = info.page ?? shown.page;
    this.session = info;
    this.announcements.resubscribe();
    this.#peer.start(info.limits?.maxMessage);
    this.#opened(info);
  }

  /**
   * @param {import("./types.js").MethodHandler | undefined} handler
   * @returns {import("./serving.js").RequestHandler | undefined}
   */
  #acting(handler) {
    return handler && ((params, { request, ...context }) => handler(params, { ...context, ...this.#deputy(request) }));
  }

  /**
   * @param {string} method
   * @returns {import("./peer.js").NotificationHandler | undefined}
   */
  #notification(method) {
    if (method === "page.resume") return (/** @type {any} */ { page }) => this.#resume(page);
    if (method === "event") return (/** @type {any} */ event) => this.#event(event);
    return this.#acting(this.methods.handler(method));
  }

  /** @param {any} event */
  #event(event) {
    if (typeof event.topic !== "string") return;
    if (event.topic === "session.expiring") void this.#expiring(event.data);
    this.#subscriptions.deliver(event, (cause) => {
      this.#report(failure("internal", `a handler of ${event.topic} failed: ${textOf(cause)}`, { cause }));
    });
  }

  /**
   * The server says so to whom it concerns, and beforehand; subscribers hear it of others as well.
   * @param {any} data
   */
  async #expiring(data) {
    const { session } = this;
    if (session === undefined || data?.client !== session.client) return;
    this.#emit("expiring", { expiresAt: data.expiresAt });
    const isCurrent = () => session === this.session;
    try {
      const asked = (/** @type {string} */ token) => this.#peer.request("session.renew", { token }, { first: true });
      await this.entry.renew(session, async (token) => isCurrent() && asked(token));
    } catch (cause) {
      // The next session begins with a new token anyhow.
      if (!isCurrent()) return;
      this.#report(cause instanceof BridgeError ? cause : failure("notAuthenticated", `no new token: ${textOf(cause)}`, { cause }));
    }
  }

  /** @param {string} page */
  #resume(page) {
    this.#emit("resume", { page });
    this.hosting.resume(page).catch((cause) => this.#hostFailed("resume", cause));
  }

  /** @param {Close} close */
  #lost(close) {
    this.#leave();
    this.#peer.interrupt(close);
  }

  /** @param {Close} close */
  #ended(close) {
    const { code, reason, cause } = close;
    const told = { ...close, absent: this.#isAbsent };
    this.#leave();
    this.#failed(cause instanceof BridgeError ? cause : closedError(told, false));
    this.#peer.close(told);
    this.hosting.lost((error) => this.#hostFailed("close", error));
    this.#emit("close", { code, reason });
  }

  #leave() {
    if (this.session !== undefined) this.ready = this.#newReady();
    this.session = undefined;
    this.announcements.lost();
  }

  #newReady() {
    /** @type {Promise<SessionInfo>} */
    const ready = new Promise((resolve, reject) => {
      this.#opened = resolve;
      this.#failed = reject;
    });
    // Who does not wait for it learns of the failure from `close`, and from every call.
    ready.catch(() => {});
    return ready;
  }

  /**
   * @param {string} what
   * @param {unknown} cause
   */
  #hostFailed(what, cause) {
    this.#report(failure("internal", `${what} of a host failed: ${textOf(cause)}`, { cause }));
  }

  /** @param {BridgeError} error */
  #report(error) {
    this.#emit("error", error);
  }
}
