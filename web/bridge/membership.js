// @ts-check
import { codeOf } from "./codes.js";
import { bridgeError } from "./errors.js";

/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./connection.js").Close} Close */
/** @typedef {Pick<import("./types.js").StateChange, "lost" | "restarted">} News what has become of the session by the time it is open */

/** The session at hand: how it opens, goes on with the next connection or load, and what it costs when it does not. */
export class Membership {
  /** @type {(info: SessionInfo) => void} */ #opened = () => {};
  /** @type {(error: unknown) => void} */ #failed = () => {};
  /** @type {News} since a session was last open */ #news = {};
  /**
   * What the session does not know yet of this client: all there is, or what has changed since the load before.
   * @type {"all" | import("./reload-store.js").Kept | undefined}
   */
  #untold;
  #parts;
  /** @type {SessionInfo | undefined} */ session;
  /** @type {Promise<SessionInfo>} */ ready = this.#newReady();

  /**
   * @param {object} parts of the client
   * @param {{name: string, version: string, platform?: string}} parts.client how it names itself
   * @param {import("./entry.js").Entry} parts.entry
   * @param {import("./announcements.js").Announcements} parts.announcements
   * @param {import("./topics.js").Topics} parts.topics
   * @param {import("./duties.js").Duties} [parts.duties]
   * @param {import("./resumption.js").Resumption} parts.resumption
   * @param {import("./reload-store.js").ReloadStore} [parts.store]
   * @param {import("./peer.js").Peer} parts.peer
   * @param {(loss: import("./types.js").Lost) => void} parts.lost told what a session has lost that goes on
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * Opens a session on a new connection, or goes on with the one that there was.
   * @param {() => boolean} isCurrent whether the connection is still the one to greet
   */
  async greet(isCurrent) {
    const { entry, duties, resumption, store, peer, client } = this.#parts;
    const shown = entry.varies ? await entry.anew() : entry.shown;
    if (store?.kept !== undefined) await store.claim(shown.join?.session);
    if (!isCurrent()) return;
    const open = { protocol: ["1.0"], client, hosts: duties?.greet(), ...shown };
    const [method, params] = store?.greeting(open) ?? resumption.greeting(open);
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
    const { resumption, store, peer } = this.#parts;
    // A server that has given the session up will not go on with it; what it says before there was one is about the connection.
    const isOver = wasOpen && close.code >= 4100 && close.code < 4200;
    if (resumption.isOn && !isOver) {
      resumption.pause();
      return peer.pause(close);
    }
    const calls = peer.interrupt(close);
    // What the load before has kept is asked for on the next connection.
    if (store?.kept !== undefined && !isOver) return;
    if (this.session !== undefined) this.#news = { lost: { reason: "connection", calls, pages: [] } };
    this.leave();
  }

  /** There is no session any more. */
  leave() {
    const { resumption, duties, store } = this.#parts;
    store?.abandon();
    resumption.end();
    duties?.left();
    this.#another();
  }

  /**
   * There will be none.
   * @param {unknown} error
   */
  fail(error) {
    this.#failed(error);
    this.#parts.duties?.clear();
  }

  /** What happened before the session opened that is open now. */
  takeNews() {
    const news = this.#news;
    this.#news = {};
    return news;
  }

  /**
   * A session has opened, or goes on: all that the next message may rely on.
   * @param {any} info
   * @param {string | undefined} page
   * @returns {() => void} the rest
   */
  #entered(info, page) {
    const { resumption, store, entry, peer, duties } = this.#parts;
    if (typeof info?.session !== "string") {
      throw bridgeError(codeOf.internal, "the server's answer to session.open names no session", { kind: "malformed" });
    }
    const { resumed, restarted, reason, received, sent, pending = [], ...session } = info;
    const goesOn = resumed === true;
    const kept = store?.takeUp(pending, (asked) => peer.adopt(asked));
    this.#untold = goesOn ? kept ?? this.#untold : "all";
    if (!goesOn) this.#lose(resumed === false ? reason : undefined);
    const isAnew = goesOn && restarted === true;
    if (isAnew) {
      // What it had asked is no longer asked, and its stack may be an earlier one.
      peer.unask("the server was restarted");
      this.#news.restarted = true;
    }
    resumption.entered(info, kept !== undefined);
    entry.passed(session);
    duties?.entered(session.page ?? page, isAnew);
    return () => {
      this.session = this.session === undefined ? session : Object.assign(this.session, session);
      this.#tell();
      if (goesOn) void this.#settle(received, new Set(pending.map((/** @type {any} */ { id }) => id)));
      peer.start(session.limits?.maxMessage, resumption.overhead);
      this.#opened(session);
    };
  }

  /**
   * The session is another one: pages are gone, and what was sent without a key.
   * @param {string | undefined} reason of a session that could not go on
   */
  #lose(reason) {
    const { peer, duties } = this.#parts;
    const calls = peer.renew(`the session was lost (${reason}); whether the call was carried out is unknown`);
    const pages = duties?.clear() ?? [];
    this.#another();
    const { lost } = this.#news;
    if (reason !== undefined) this.#news = { lost: { reason, calls, pages } };
    else this.#news = lost === undefined ? {} : { lost: { ...lost, pages } };
  }

  /** Tells the session what it has to know of this client. */
  #tell() {
    const { announcements, topics, duties } = this.#parts;
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold === "all") topics.again();
    // They are asked for anew, since the server repeats the events that it keeps to who asks first.
    else if (untold !== undefined) announcements.first("events.unsubscribe", { topics: untold.topics });
    duties?.tell(untold === "all" ? undefined : untold?.hosts);
  }

  /**
   * @param {number} received
   * @param {Set<unknown>} pending
   */
  async #settle(received, pending) {
    // When the connection is lost meanwhile, the next one has the same question.
    const calls = await this.#parts.peer.settle(received, pending).catch(() => []);
    if (calls.length > 0) this.#parts.lost({ reason: "server", calls, pages: [] });
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
