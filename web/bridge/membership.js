// @ts-check
import { codes } from "./codes.js";
import { bridgeError, textOf, failure } from "./errors.js";
import { Pending } from "./pending.js";

/** Milliseconds that the hosts of a page that was loaded again may come after its connection. */
const PATIENCE = 10000;

/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./connection.js").Close} Close */
/** @typedef {Pick<import("./types.js").StateChange, "lost" | "restarted">} News what has become of the session by the time it is open */

/** The session at hand: how it opens, goes on with the next connection or load, and what it costs when it does not. */
export class Membership {
  /** @type {(info: SessionInfo) => void} */ #opened = () => {};
  /** @type {(error: unknown) => void} */ #failed = () => {};
  /** @type {Promise<boolean> | undefined} */ #claimed;
  /**
   * What the session does not know yet of this client: all there is, or what has changed since the load before.
   * @type {"all" | import("./reload-store.js").Kept | undefined}
   */
  #untold;
  /** Whether the server was restarted since it was last told, so that the pages are to be compared with its picture. */
  #isRestarted = false;
  /** @type {News} since a session was last open */ #news = {};
  #parts;
  /** @type {SessionInfo | undefined} */ session;
  /** @type {Promise<SessionInfo>} */ ready = this.#newReady();
  pending = new Pending();

  /**
   * @param {object} parts of the client
   * @param {{name: string, version: string, platform?: string}} parts.client how it names itself
   * @param {import("./entry.js").Entry} parts.entry
   * @param {import("./announcements.js").Announcements} parts.announcements
   * @param {import("./hosting.js").Hosting} parts.hosting
   * @param {import("./resumption.js").Resumption} parts.resumption
   * @param {import("./reload-store.js").ReloadStore | undefined} parts.store
   * @param {import("./peer.js").Peer} parts.peer
   * @param {import("./clock.js").Clock} parts.clock
   * @param {() => import("./types.js").Deputy} parts.own what acts for this client itself
   * @param {(loss: import("./types.js").Lost) => void} parts.lost told what a session has lost that goes on
   * @param {(error: import("./errors.js").BridgeError) => void} parts.report
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * Opens a session on a new connection, or goes on with the one that there was.
   * @param {() => boolean} isCurrent whether the connection is still the one to greet
   */
  async greet(isCurrent) {
    const { entry, announcements, resumption, peer, client } = this.#parts;
    const shown = entry.varies ? await entry.anew() : entry.shown;
    if (resumption.kept !== undefined) await this.#claim(shown.join?.session);
    if (!isCurrent()) return;
    const hosts = announcements.greet();
    const [method, params] = resumption.greeting({ protocol: ["1.0"], client, hosts, ...shown });
    /** @type {(() => void) | undefined} */
    let open;
    const taken = (/** @type {any} */ info) => void (isCurrent() && (open = this.#entered(info, shown.page)));
    await peer.request(method, params, { first: true, taken });
    if (isCurrent()) open?.();
  }

  /**
   * The connection is lost, and another will come.
   * @param {Close} close
   * @param {boolean} wasOpen whether it had the session
   */
  lost(close, wasOpen) {
    const { resumption, peer } = this.#parts;
    // A server that has given the session up will not go on with it; what it says before there was one is about the connection.
    const isOver = wasOpen && close.code >= 4100 && close.code < 4200;
    if (resumption.isOn && !isOver) {
      resumption.pause();
      return peer.pause(close);
    }
    // What the load before has kept is asked for on the next connection.
    if (resumption.kept !== undefined && !isOver) return void peer.interrupt(close);
    const had = this.session !== undefined;
    this.leave();
    const calls = peer.interrupt(close);
    if (had) this.#news = { lost: { reason: "connection", calls, pages: [] } };
  }

  /** There is no session any more. */
  leave() {
    this.#parts.resumption.end();
    this.#parts.announcements.lost();
    this.#another();
  }

  /**
   * There will be none.
   * @param {unknown} error
   */
  fail(error) {
    this.#failed(error);
    this.clear();
  }

  /** Takes the pages away that it showed. */
  clear() {
    return this.#parts.hosting.pages.lost((cause) => this.#hostFailed("close", cause));
  }

  /** What happened before the session opened that is open now. */
  takeNews() {
    const news = this.#news;
    this.#news = {};
    return news;
  }

  /**
   * Goes on with the session of the load before only where that is gone, and the page is to be in that session.
   * @param {string | undefined} session
   */
  async #claim(session) {
    const { resumption, store } = this.#parts;
    const { kept } = resumption;
    this.#claimed ??= store?.claim();
    const isOurs = await this.#claimed;
    if (!isOurs || (session !== undefined && session !== kept?.session)) resumption.abandon();
  }

  /**
   * A session has opened, or goes on: all that the next message may rely on.
   * @param {any} info
   * @param {string | undefined} page
   * @returns {() => void} the rest
   */
  #entered(info, page) {
    const { resumption, entry, peer, hosting } = this.#parts;
    if (typeof info?.session !== "string") {
      throw bridgeError(codes.internal.code, "the server's answer to session.open names no session", { kind: "malformed" });
    }
    const { resumed, restarted, reason, received, sent, pending = [], ...session } = info;
    const { kept } = resumption;
    if (kept !== undefined) this.#takeUp(kept.calls, pending);
    if (resumed !== true) this.#lose(resumed === false ? reason : undefined);
    if (resumed !== true) this.#untold = "all";
    else if (kept !== undefined) this.#untold = kept;
    if (resumed === true && restarted === true) this.#goOnAnew();
    resumption.entered(info);
    entry.passed(session);
    hosting.page = session.page ?? page;
    return () => {
      this.session = this.session === undefined ? session : Object.assign(this.session, session);
      this.#tell();
      if (resumed === true) void this.#settle(received, new Set(pending.map((/** @type {any} */ { id }) => id)));
      peer.start(session.limits?.maxMessage, resumption.overhead);
      this.#opened(session);
    };
  }

  /**
   * @param {import("./calling.js").Asked[]} kept what the load before knew of its calls
   * @param {import("./calling.js").Asked[]} pending what the server does
   */
  #takeUp(kept, pending) {
    const ids = new Set(pending.map(({ id }) => id));
    for (const asked of [...kept.filter(({ id }) => !ids.has(id)), ...pending]) this.pending.add(asked, this.#parts.peer.adopt(asked));
  }

  /**
   * The session is another one: pages are gone, and what was sent without a key.
   * @param {string | undefined} reason of a session that could not go on
   */
  #lose(reason) {
    const calls = this.#parts.peer.renew(`the session was lost (${reason}); whether the call was carried out is unknown`);
    const pages = this.clear();
    this.#another();
    this.#isRestarted = false;
    const { lost } = this.#news;
    if (reason !== undefined) this.#news = { lost: { reason, calls, pages } };
    else this.#news = lost === undefined ? {} : { lost: { ...lost, pages } };
  }

  /** The server was restarted, and the session goes on: what it had asked is no longer asked, and its stack may be an earlier one. */
  #goOnAnew() {
    this.#parts.peer.unask("the server was restarted");
    this.#isRestarted = true;
    this.#news.restarted = true;
  }

  /** Tells the session what it has to know of this client. */
  #tell() {
    const { announcements, hosting } = this.#parts;
    const untold = this.#untold;
    this.#untold = undefined;
    const before = untold === "all" ? undefined : untold;
    if (untold === "all") announcements.resubscribe();
    else if (before !== undefined) announcements.again(before);
    if (before !== undefined && [...before.hosts, ...hosting.declarations].some(isOfPages)) this.#sync();
    if (this.#isRestarted) void this.#settlePages();
  }

  /** Compares the pages once all has come that the server had to send before it was restarted, of which some may be shown by then. */
  async #settlePages() {
    const { hosting, peer } = this.#parts;
    try {
      await peer.request("$/ping", undefined, { first: true });
    } catch {
      // The next connection has the same question.
      return;
    }
    this.#isRestarted = false;
    if (hosting.declarations.some(isOfPages) || !hosting.pages.isEmpty) this.#sync();
  }

  /** Compares the pages that are shown with the server's picture. */
  #sync() {
    const { hosting, peer, clock, own, report } = this.#parts;
    const ask = (/** @type {object} */ params) => peer.request("page.sync", params, { first: true });
    /** @type {unknown} */
    let timer;
    const late = new Promise((resolve) => (timer = clock.setTimeout(() => resolve(undefined), PATIENCE)));
    const synced = hosting.pages.sync(ask, { failed: (cause) => this.#hostFailed("open", cause), late, own: own() }).catch((error) => {
      if (error.kind !== "closed" && error.code !== codes.outcomeUnknown.code) report(error);
    });
    void synced.then(() => clock.clearTimeout(timer));
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

  /**
   * @param {string} what
   * @param {unknown} cause
   */
  #hostFailed(what, cause) {
    this.#parts.report(failure("internal", `${what} of a host failed: ${textOf(cause)}`, { cause }));
  }
}

/** @param {import("./registry.js").Declaration} declaration */
function isOfPages({ kind }) {
  return kind === "page";
}
