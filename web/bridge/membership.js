// @ts-check
import { codeOf } from "./codes.js";
import { bridgeError } from "./errors.js";

/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./connection.js").Close} Close */
/** @typedef {Pick<import("./types.js").StateChange, "lost" | "restarted">} News what has become of the session by the time it is open */

/** The session at hand: how it opens, and what it costs when it does not go on. */
export class Membership {
  /** @type {(info: SessionInfo) => void} */ #opened = () => {};
  /** @type {(error: unknown) => void} */ #failed = () => {};
  /** @type {News | undefined} since a session was last open */ #news;
  /** Whether the session knows nothing yet of this client. */
  #isUntold = false;
  #client;
  /** @type {SessionInfo | undefined} */ session;
  /** @type {Promise<SessionInfo>} */ ready = this.#newReady();

  /**
   * @param {import("./client.js").Client} client
   */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Opens a session on a new connection, or goes on with the one that there was.
   * @param {() => boolean} isCurrent whether the connection is still the one to greet
   */
  async greet(isCurrent) {
    const { about, entry, duties, resumption, peer } = this.#client;
    const showing = entry.show();
    const shown = showing instanceof Promise ? await showing : showing;
    const claiming = resumption?.claim(shown.join?.session);
    if (claiming !== undefined) await claiming;
    if (!isCurrent()) return;
    const open = { protocol: ["1.0"], client: about, hosts: duties?.greet(), ...shown };
    const [method, params] = resumption?.greeting(open) ?? ["session.open", open];
    /** @type {(() => void) | undefined} */
    let entered;
    const taken = (/** @type {any} */ info) => void (isCurrent() && (entered = this.#entered(info, shown.page)));
    await peer.request(method, params, { first: true, taken });
    if (isCurrent()) entered?.();
  }

  /**
   * The connection is lost, and another will come.
   * @param {Close} close
   * @param {boolean} wasOpen whether it had the session
   */
  lost(close, wasOpen) {
    // A server that has given the session up will not go on with it; what it says before there was one is about the connection.
    const isOver = wasOpen && close.code >= 4100 && close.code < 4200;
    if (!isOver && this.#client.resumption?.pause(close)) return;
    const calls = this.#client.peer.interrupt(close);
    if (this.session !== undefined) this.#news = { lost: { reason: "connection", calls, pages: [] } };
    this.leave();
  }

  /** There is no session any more. */
  leave() {
    this.#client.resumption?.end();
    this.#client.duties?.left();
    this.#another();
  }

  /**
   * There will be none.
   * @param {unknown} error
   */
  fail(error) {
    this.#failed(error);
    this.#client.duties?.clear("closed");
  }

  /** What happened before the session opened that is open now. */
  takeNews() {
    const news = this.#news;
    this.#news = undefined;
    return news;
  }

  /**
   * A session has opened, or goes on: all that the next message may rely on.
   * @param {any} info
   * @param {string | undefined} page
   * @returns {() => void} the rest
   */
  #entered(info, page) {
    const { resumption, entry, peer, events, duties } = this.#client;
    if (typeof info?.session !== "string") {
      throw bridgeError(codeOf.internal, "the server has answered session.open without a session", { kind: "malformed" });
    }
    const { resumed, restarted, reason, received, sent, pending, ...session } = info;
    const isAnew = resumed === true && restarted === true;
    const calls = resumption?.entered(info) ?? [];
    const lost = this.#news?.lost;
    if (resumed !== true) {
      // The session is another one: pages are gone, and what was sent without a key.
      this.#isUntold = true;
      const pages = duties?.clear(reason) ?? [];
      this.#another();
      this.#news = resumed === false ? { lost: { reason, calls, pages } } : lost && { lost: { ...lost, pages } };
    } else if (isAnew) {
      this.#news = { ...this.#news, restarted: true };
    }
    entry.passed(session);
    duties?.entered(session.page ?? page, isAnew);
    return () => {
      const known = (this.session = Object.assign(this.session ?? {}, session));
      const before = resumption?.tell(this.#isUntold);
      events?.tell(this.#isUntold, before?.topics);
      this.#isUntold = false;
      duties?.tell(before?.hosts);
      void resumption?.look(info);
      peer.start(session.limits?.maxMessage, resumption?.overhead);
      this.#opened(known);
    };
  }

  #another() {
    if (this.session !== undefined) this.ready = this.#newReady();
    this.session = undefined;
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
}
