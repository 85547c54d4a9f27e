// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError } from "../values/errors.js";

/** @typedef {import("../types/api.js").SessionInfo} SessionInfo */
/** @typedef {import("../connection/connection.js").Close} Close */
/** @typedef {Pick<import("../types/api.js").StateChange, "lost" | "restarted">} SessionChanges what happened to the session before it was open again */

/** The sessions of a client, one at a time. It opens and resumes them, and reports what is lost with a session. */
export class Sessions {
  /** @type {any} */ #resolveReady;
  /** @type {any} */ #rejectReady;
  /** @type {SessionChanges | undefined} the changes since a session was last open */ #changes;
  /** Whether the session is new and has no registrations of this client. */
  #isNewSession = false;
  #client;
  /** @type {SessionInfo | undefined} */ session;
  /** @type {Promise<SessionInfo>} */ ready = this.#createReady();

  /**
   * @param {import("./client.js").Client} client
   */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Opens a session on a new connection, or resumes the previous one.
   * @param {() => boolean} isCurrent whether the connection is still the current one
   */
  async open(isCurrent) {
    const { info, access, hosts, resumption, peer } = this.#client;
    const pending = access.params();
    const given = pending instanceof Promise ? await pending : pending;
    const claim = resumption?.claim(given.join?.session);
    if (claim !== undefined) await claim;
    if (!isCurrent()) return;
    const open = { protocol: ["1.0"], client: info, hosts: hosts?.declareHosts(), ...given };
    const [method, params] = resumption?.opening(open) ?? ["session.open", open];
    /** @type {(() => void) | undefined} */
    let finish;
    const onResult = (/** @type {any} */ info) => void (isCurrent() && (finish = this.#sessionOpened(info, given.page)));
    await peer.request(method, params, { first: true, onResult });
    if (isCurrent()) finish?.();
  }

  /**
   * Called when the connection was lost and another one will follow.
   * @param {Close} close
   * @param {boolean} wasOpen whether it had the session
   */
  lost(close, wasOpen) {
    // These codes mean that the server has ended the session. Before there was a session, they are about the connection.
    const isOver = wasOpen && Math.floor(close.code / 100) === 41;
    if (!isOver && this.#client.resumption?.pause(close)) return;
    const calls = this.#client.peer.interrupt(close);
    if (this.session !== undefined) this.#changes = { lost: { reason: "connection", calls, pages: [] } };
    this.end();
  }

  /** Called when the session has ended. */
  end() {
    this.#client.resumption?.end();
    this.#client.hosts?.ended();
    this.#resetReady();
  }

  /**
   * Called when no session will be opened any more.
   * @param {unknown} error
   */
  fail(error) {
    this.#rejectReady(error);
    this.#client.hosts?.clear("closed");
  }

  /** Returns, only once, what happened before the current session was open. */
  consumeChanges() {
    const changes = this.#changes;
    this.#changes = undefined;
    return changes;
  }

  /**
   * Called when a session was opened or resumed: does everything that the next message can depend on.
   * @param {any} info
   * @param {string | undefined} page
   * @returns {() => void} does the rest
   */
  #sessionOpened(info, page) {
    const { resumption, access, peer, events, hosts } = this.#client;
    if (typeof info?.session !== "string") {
      throw bridgeError(codeOf.internal, globalThis.__waybridgeBrief ? "No session" : "The server returned no session", { kind: "malformed" });
    }
    const { resumed, restarted, reason, received, sent, pending, ...session } = info;
    const isAfterRestart = resumed && restarted;
    const lost = resumption?.opened(info) ?? this.#changes?.lost;
    if (resumed !== true) {
      // The session is a new one: the pages and the sent calls without a key are lost.
      this.#isNewSession = true;
      const pages = hosts?.clear(reason) ?? [];
      this.#resetReady();
      this.#changes = lost && { lost: { ...lost, pages } };
    } else if (isAfterRestart) {
      this.#changes = { ...this.#changes, restarted: true };
    }
    access.opened(session);
    hosts?.opened(session.page ?? page);
    return () => {
      const current = (this.session = Object.assign(this.session ?? {}, session));
      events?.update(this.#isNewSession, resumption?.earlier?.topics);
      this.#isNewSession = false;
      resumption?.update(info);
      peer.start(session.limits?.maxMessage, resumption?.overhead);
      this.#resolveReady(current);
    };
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
