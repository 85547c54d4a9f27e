// @ts-check
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

/** A member of a session, over all its connections, and of a new one when that is lost. Its parts know it, and one another by it. */
export class Client {
  #closedByApp = false;
  /** @type {import("./liveness.js").Liveness | undefined} */ #liveness;

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {import("./types.js").Parts} parts
   * @param {(type: string, detail: unknown) => void} emit
   */
  constructor(options, { duties, events, reload, resume = reload?.resume, admission, fallback }, emit) {
    const duty = /** @type {Duty | undefined} */ (duties);
    this.clock = options.clock ?? platformClock;
    /** How it names itself. */
    this.about = options.client ?? { name: "waybridge-js", version: "0.1.0" };
    this.emit = emit;
    this.entry = new Entry(options, fallback !== undefined, reload?.keeping(globalThis));
    this.peer = new Peer(this, options.queue, duty?.Serving);
    /** @type {Membership} */
    this.membership = new Membership(this);
    /** @type {Link} */
    this.link = new Link(this, options);
    /** Who answers what others ask; none: nobody. */
    this.duties = duty?.of(this);
    /** @type {import("./news.js").News | undefined} who hears what is published; none: nobody */
    this.events = events?.(this, options);
    /** @type {import("./reload-store.js").ReloadStore | undefined} what keeps the session for the next load of the page */
    this.store = reload?.store(this, options);
    /** @type {import("./resumption.js").Resumption | undefined} what lets the session outlive its connections */
    this.resumption = resume?.resumption(this, options);
    this.#liveness = resume?.liveness(this, options);
    /** Finds out why a first handshake failed; none: nobody does. */
    this.admission = admission?.(this.entry.url, options.fetch ?? globalThis.fetch);
    this.link.start();
  }

  get state() {
    return this.link.state;
  }

  get session() {
    return this.membership.session;
  }

  get ready() {
    return this.membership.ready;
  }

  /** @param {BridgeError} error what no caller waits for */
  report = (error) => this.emit("error", error);

  close() {
    this.#closedByApp ||= this.state !== "closed";
    return this.link.close();
  }

  /** @param {unknown} data that has come */
  received(data) {
    this.#liveness?.heard();
    this.peer.receive(data);
    this.resumption?.settle();
  }

  /** @param {import("./types.js").StateChange} change of the link's, after all else */
  changed(change) {
    this.#liveness?.changed(change.state);
    this.events?.compare(this.session?.table);
    this.emit("statechange", change.state === "open" ? { ...change, ...this.membership.takeNews() } : change);
  }

  /** @param {Close} close of the last connection */
  ended(close) {
    const { code, reason, cause } = close;
    // Whether there was no session, and will be none.
    const told = { ...close, absent: !this.link.wasOpen && !this.#closedByApp };
    this.store?.end({ forget: this.#closedByApp || close.final === true });
    this.membership.leave();
    this.peer.close(told);
    this.membership.fail(cause instanceof BridgeError ? cause : closedError(told, false));
    this.emit("close", { code, reason });
  }
}
