// @ts-check
import { platformClock } from "../connection/clock.js";
import { SessionAccess } from "./session-access.js";
import { codeOf } from "../codes.js";
import { BridgeError, bridgeError, closedError } from "../values/errors.js";
import { ConnectionManager } from "../connection/connection-manager.js";
import { Peer } from "../calls/peer.js";

/** @typedef {import("../connection/connection.js").Close} Close */
/** @typedef {import("../types/api.js").SessionInfo} SessionInfo */

/**
 * A client of one session at a time: of the same one over several connections, and of a new one when that is lost. Its parts reach one another
 * through it.
 */
export class Client {
  /** @type {SessionInfo | undefined} */ session;
  /** @type {any} */ #resolveReady;
  /** @type {any} */ #rejectReady;
  /**
   * Resolves when the session is open.
   * @type {Promise<SessionInfo>}
   */
  ready = this.#createReady();
  /**
   * What happened to the session since one was last open.
   * @type {Pick<import("../types/api.js").StateChange, "lost" | "restarted"> | undefined}
   */
  #changes;
  /** Whether the session is new and has no registrations of this client. */
  #isNewSession = false;
  /** @type {import("../connection/liveness.js").Liveness | undefined} */ #liveness;

  /**
   * @param {import("../types/api.js").BridgeOptions} options
   * @param {import("../types/api.js").Parts} parts
   * @param {import("../caller.js").Caller} bridge dispatches the events
   */
  constructor(options, { hosts, events, reload, resume = reload?.resume, admission, fallback }, bridge) {
    this.bridge = bridge;
    this.clock = options.clock ?? platformClock;
    /** Its name and version for the server. */
    this.info = options.client ?? { name: "waybridge-js", version: "0.1.0" };
    this.access = new SessionAccess(options, fallback !== undefined, reload?.invitations(globalThis));
    this.peer = new Peer(this, options.queue);
    /** @type {ConnectionManager} */
    this.connection = new ConnectionManager(this, options);
    /** @type {import("./reload-store.js").ReloadStore | undefined} stores the session for the next load of the page */
    this.store = reload?.store(this, options);
    /** @type {import("../hosting/client-hosts.js").ClientHosts | undefined} handles requests; `undefined`: this client has no hosts */
    this.hosts = /** @type {any} */ (hosts)?.(this);
    /** @type {import("../events/subscriptions.js").Subscriptions | undefined} `undefined`: this client has no topics */
    this.events = events?.(this, options);
    /** @type {import("./resumption.js").Resumption | undefined} resumes the session after a lost connection */
    this.resumption = resume?.resumption(this, options);
    this.#liveness = resume?.liveness(this, options);
    /** Finds out why the first handshake failed. `undefined`: this is not found out. */
    this.admission = admission?.(this.access.url, options.fetch ?? globalThis.fetch, options.url);
    this.connection.start();
  }

  /**
   * @param {string} type
   * @param {unknown} detail
   */
  emit = (type, detail) => this.bridge.dispatchEvent(new CustomEvent(type, { detail }));

  /** @param {BridgeError} error an error that does not belong to a call */
  report = (error) => this.emit("error", error);

  /**
   * Opens a session on a new connection, or resumes the previous one.
   * @param {() => boolean} isCurrent whether the connection is still the current one
   */
  async openSession(isCurrent) {
    const { info, access, hosts, resumption, store, peer } = this;
    const pending = access.params();
    const given = pending instanceof Promise ? await pending : pending;
    if (store?.saved !== undefined) await store.claim(given.join?.session);
    if (!isCurrent()) return;
    const open = { protocol: ["1.0"], client: info, hosts: hosts?.declareHosts(), ...given };
    const [method, params] = resumption?.opening(open) ?? ["session.open", open];
    /** @type {(() => void) | undefined} */
    let finish;
    const onResult = (/** @type {any} */ info) => void (isCurrent() && (finish = this.#sessionOpened(info, given.page)));
    await peer.request(method, params, { first: true, onResult });
    if (isCurrent()) finish?.();
  }

  /** @param {unknown} data the received message */
  receive(data) {
    this.#liveness?.received();
    this.peer.receive(data);
    this.resumption?.acknowledge();
  }

  /** @param {import("../types/api.js").StateChange} change the new state of the connection; called after everything else */
  changed(change) {
    this.#liveness?.changed(change);
    this.events?.compare(this.session?.table);
    if (change.state !== "open") return this.emit("statechange", change);
    const changes = this.#changes;
    this.#changes = undefined;
    this.emit("statechange", { ...change, ...changes });
  }

  /**
   * Called when the connection was lost and another one will follow.
   * @param {Close} close
   * @param {boolean} wasOpen whether it had the session
   */
  connectionLost(close, wasOpen) {
    // These codes mean that the server has ended the session. Before there was a session, they are about the connection.
    const isOver = wasOpen && Math.floor(close.code / 100) === 41;
    if (!isOver && this.resumption?.pause(close)) return;
    const calls = this.peer.interrupt(close);
    if (this.session !== undefined) this.#changes = { lost: { reason: "connection", calls, pages: [] } };
    this.#endSession();
  }

  /**
   * Called when the connection was lost and no other one will follow.
   * @param {Close} close how the last connection closed
   */
  ended(close) {
    const { code, reason, cause, final = false, isByApp } = close;
    // Whether there was no session and will be none.
    const closed = { ...close, absent: !this.connection.wasOpen && !isByApp };
    this.store?.end({ forget: final });
    this.#endSession();
    this.peer.close(closed);
    this.#rejectReady(cause instanceof BridgeError ? cause : closedError(closed, false));
    this.hosts?.clear("closed");
    this.emit("close", { code, reason });
  }

  /**
   * Called when a session was opened or resumed: does everything that the next message can depend on.
   * @param {any} info
   * @param {string | undefined} page
   * @returns {() => void} does the rest
   */
  #sessionOpened(info, page) {
    const { resumption, access, peer, events, hosts } = this;
    if (typeof info?.session !== "string") {
      throw bridgeError(codeOf.internal, globalThis.__waybridgeBrief ? "No session" : "The server returned no session", { kind: "malformed" });
    }
    const { resumed, restarted, reason, received, sent, pending, ...session } = info;
    const lost = resumption?.opened(info) ?? this.#changes?.lost;
    if (resumed !== true) {
      // The session is a new one: the pages and the sent calls without a key are lost.
      this.#isNewSession = true;
      const pages = hosts?.clear(reason) ?? [];
      this.#resetReady();
      this.#changes = lost && { lost: { ...lost, pages } };
    } else if (restarted) {
      this.#changes = { ...this.#changes, restarted: true };
    }
    access.opened(session);
    if (hosts) hosts.page = session.page ?? page;
    return () => {
      const current = (this.session = Object.assign(this.session ?? {}, session));
      events?.update(this.#isNewSession, resumption?.earlier?.topics);
      this.#isNewSession = false;
      resumption?.update(info);
      peer.start(session.limits?.maxMessage, resumption?.overhead);
      this.#resolveReady(current);
    };
  }

  #endSession() {
    const { resumption, hosts } = this;
    resumption?.end();
    if (hosts) hosts.isDeclared = false;
    this.#resetReady();
  }

  #resetReady() {
    if (this.session !== undefined) this.ready = this.#createReady();
    this.session = undefined;
  }

  #createReady() {
    /** @type {Promise<SessionInfo>} */
    const ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    // A caller that does not await it learns of the failure from `close` and from every call.
    ready.catch(() => {});
    return ready;
  }
}
