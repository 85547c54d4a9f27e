// @ts-check
import { platformClock } from "../connection/clock.js";
import { SessionAccess } from "./session-access.js";
import { BridgeError, closedError } from "../values/errors.js";
import { ConnectionManager } from "../connection/connection-manager.js";
import { Sessions } from "./sessions.js";
import { Peer } from "../calls/peer.js";

/** @typedef {import("../connection/connection.js").Close} Close */

/**
 * The part of a client that handles requests.
 * @typedef {object} HostPart
 * @property {typeof import("../calls/incoming-requests.js").IncomingRequests} Requests
 * @property {(client: Client) => import("../hosting/client-hosts.js").ClientHosts} create
 */

/** A client of a session over all its connections, and of a new session when that is lost. Its parts reach one another through it. */
export class Client {
  #isClosedByApp = false;
  /** @type {import("../connection/liveness.js").Liveness | undefined} */ #liveness;

  /**
   * @param {import("../types/api.js").BridgeOptions} options
   * @param {import("../types/api.js").Parts} parts
   * @param {(type: string, detail: unknown) => void} emit
   */
  constructor(options, { hosts, events, reload, resume = reload?.resume, admission, fallback }, emit) {
    const part = /** @type {HostPart | undefined} */ (hosts);
    this.clock = options.clock ?? platformClock;
    /** Its name and version for the server. */
    this.info = options.client ?? { name: "waybridge-js", version: "0.1.0" };
    this.emit = emit;
    this.access = new SessionAccess(options, fallback !== undefined, reload?.invitations(globalThis));
    this.peer = new Peer(this, options.queue, part?.Requests);
    /** @type {Sessions} */
    this.sessions = new Sessions(this);
    /** @type {ConnectionManager} */
    this.connection = new ConnectionManager(this, options);
    /** Handles requests. `undefined`: this client has no hosts. */
    this.hosts = part?.create(this);
    /** @type {import("../events/subscriptions.js").Subscriptions | undefined} `undefined`: this client has no topics */
    this.events = events?.(this, options);
    /** @type {import("./reload-store.js").ReloadStore | undefined} stores the session for the next load of the page */
    this.store = reload?.store(this, options);
    /** @type {import("./resumption.js").Resumption | undefined} resumes the session after a lost connection */
    this.resumption = resume?.resumption(this, options);
    this.#liveness = resume?.liveness(this, options);
    /** Finds out why the first handshake failed. `undefined`: this is not found out. */
    this.admission = admission?.(this.access.url, options.fetch ?? globalThis.fetch, options.url);
    this.connection.start();
  }

  /** @param {BridgeError} error an error that does not belong to a call */
  report = (error) => this.emit("error", error);

  close() {
    this.#isClosedByApp ||= this.connection.state !== "closed";
    return this.connection.close();
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
    this.events?.compare(this.sessions.session?.table);
    this.emit("statechange", change.state === "open" ? { ...change, ...this.sessions.consumeChanges() } : change);
  }

  /** @param {Close} close how the last connection closed */
  ended(close) {
    const { code, reason, cause } = close;
    // Whether there was no session and will be none.
    const closed = { ...close, absent: !this.connection.wasOpen && !this.#isClosedByApp };
    this.store?.end({ forget: this.#isClosedByApp || close.final === true });
    this.sessions.end();
    this.peer.close(closed);
    this.sessions.fail(cause instanceof BridgeError ? cause : closedError(closed, false));
    this.emit("close", { code, reason });
  }
}
