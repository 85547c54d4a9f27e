// @ts-check
import { adopt, isBare, ping } from "./calling.js";
import * as closeOf from "./closes.js";
import { codeOf } from "./codes.js";
import { bridgeError, closedError, failure } from "./errors.js";
import { Numbers } from "./numbers.js";

/** Milliseconds after which what has come is acknowledged, of the second in which it has to be. */
const SOON = 500;
/** What numbers add to the largest message, in bytes. */
const NUMBER_SIZE = `"seq":${Number.MAX_SAFE_INTEGER},`.length;

/** @typedef {{session: string, client: string, token: string, epoch: string}} Identity who the client is for the server, and the proof of it */
/** @typedef {import("./call.js").Asked} Asked */
/** @typedef {import("./call.js").Call} Call */
/** @typedef {import("./reload-store.js").Kept} Kept */

/**
 * What lets a session outlive its connections: who the client is, what it and the server have sent to each other, and what becomes of
 * calls. Where the server can not resume, messages pass as they are.
 */
export class Resumption {
  /** @type {Numbers | undefined} none: the session ends with its connection */ #numbers;
  /** @type {Identity | undefined} */ #identity;
  /** Whether what is numbered goes out at once. */
  #isLive = false;
  /** @type {unknown} */ #timer;
  /** @type {Kept | undefined} what the session knows of the load before, as long as it was not told what has changed */ #before;
  #client;

  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.#client = client;
  }

  /** The last message that was taken. */
  get received() {
    return this.#numbers?.received ?? 0;
  }

  /** What the largest message has to leave free. */
  get overhead() {
    return this.#numbers === undefined ? 0 : NUMBER_SIZE;
  }

  /** Who the client is, for the next load of the page; undefined where nobody could go on. */
  get identity() {
    return this.#numbers && this.#identity;
  }

  /** The calls that have to be known after a reload of the page. */
  get asked() {
    return this.#sent.map(({ asked }) => asked).filter(({ method }) => ["router.open", "router.invoke", "page.call"].includes(method));
  }

  /** Whether there is something of the load before that may not be this page's to go on with. */
  get isDoubtful() {
    return this.#client.store?.kept !== undefined;
  }

  /**
   * Finds out whether what there is of the load before is this page's to go on with, where that is in doubt.
   * @param {string | undefined} session in which the page is to be
   */
  claim(session) {
    return this.isDoubtful ? this.#client.store?.claim(session) : undefined;
  }

  /**
   * The request that a connection begins with, where there is a session to go on with.
   * @param {object} open the params of `session.open`
   * @returns {[method: string, params: object] | undefined}
   */
  greeting(open) {
    const kept = this.#client.store?.greeting(open);
    if (kept !== undefined || this.#numbers === undefined) return kept;
    const { client, token, epoch } = /** @type {Identity} */ (this.#identity);
    const { received, sent } = this.#numbers;
    return ["session.resume", { client, token, epoch, received, sent, open }];
  }

  /**
   * The server has answered that request: what it has not taken goes out again. It has to be known before the next message is
   * looked at.
   * @param {any} info
   * @returns {Asked[]} the calls that are lost
   */
  entered({ resumed, reason, received, sent, session, client, token, epoch, capabilities, pending = [] }) {
    const { store, link, peer } = this.#client;
    const kept = store?.takeUp(pending, (/** @type {Asked} */ asked) => adopt(peer, asked));
    const lost = resumed === true ? [] : this.#renew(`the session was lost (${reason}); whether the call was carried out is unknown`);
    if (resumed !== true) this.#before = undefined;
    else this.#before = kept ?? this.#before;
    this.#identity = { session, client, token, epoch };
    if (resumed !== true) {
      this.#numbers = capabilities?.includes("resume") ? new Numbers() : undefined;
    } else if (kept !== undefined) {
      this.#numbers = new Numbers(received, sent);
    } else if (!this.#numbers?.resumed(received)) {
      this.end();
      throw bridgeError(codeOf.internal, `the server resumed after ${received}, which was never sent`, { kind: "malformed" });
    }
    this.#isLive = true;
    // The new token is the one that counts.
    store?.save();
    // So that the server knows it, and the one before is nobody's any more.
    if (resumed === true) this.#acknowledge();
    for (const text of this.#numbers?.unacknowledged ?? []) link.send(text);
    return lost;
  }

  /**
   * What a session that goes on was told by an earlier load of the page, as long as it was not told what has changed.
   * @param {boolean} isUntold whether it is another session
   */
  tell(isUntold) {
    const before = isUntold ? undefined : this.#before;
    this.#before = undefined;
    return before;
  }

  /**
   * Finds out what the server has lost of a session that goes on, as soon as all has come that it still had to send.
   * @param {any} info the answer to the request with which the connection began
   */
  async look({ resumed, received, pending = [] }) {
    const { emit, link, peer } = this.#client;
    const known = pending.map((/** @type {Asked} */ { id }) => id);
    const doubtful = this.#sent.filter((call) => resumed === true && call.seq <= received && !known.includes(call.asked.id));
    if (doubtful.length === 0) return;
    try {
      await ping(peer);
    } catch {
      // The next connection has the same question.
      return;
    }
    const calls = lose(doubtful.filter((call) => !call.settled), "the server has lost the call");
    if (calls.length > 0) emit("statechange", { state: link.state, attempt: 0, lost: { reason: "server", calls, pages: [] } });
  }

  /**
   * @param {string} text
   * @param {{bare?: boolean, canWait?: boolean}} how `bare`: it has no number; `canWait`: it comes again when there is room
   * @returns {number | boolean} its number; without numbers, whether it was handed to an open socket
   */
  send(text, { bare, canWait } = {}) {
    const { link, store } = this.#client;
    if (bare || this.#numbers === undefined) return link.send(text);
    if (canWait && !this.#numbers.hasRoom) return false;
    const numbered = this.#numbers.give(text);
    if (this.#isLive) link.send(numbered.text);
    store?.saveSoon();
    return numbered.seq;
  }

  /**
   * Whether a message that has come is to be looked at.
   * @param {any} message
   * @param {number} units the length of its text
   */
  takes({ method, id, seq }, units) {
    const { link, peer, store } = this.#client;
    // A ping has no number, nor has what answers a call that had none.
    const call = peer.calls.get(id);
    const isNumbered = method === undefined ? seq !== undefined || (call !== undefined && !isBare(call)) : method !== "$/ping" || id === undefined;
    if (this.#numbers === undefined || !isNumbered) return true;
    const found = this.#numbers.take(seq, units);
    if (found === "gap") link.drop(closeOf.gap, `after the message ${this.received} came ${seq ?? "one without a number"}`);
    if (found !== "next") return false;
    // A request that was kept as taken is never carried out a second time, whatever becomes of this page.
    if (method !== undefined && id !== undefined) store?.save();
    else store?.saveSoon();
    return true;
  }

  /** @param {any} params of `$/ack` */
  acknowledged({ seq }) {
    if (this.#numbers === undefined) return;
    const hadRoom = this.#numbers.hasRoom;
    if (!this.#numbers.acknowledged(seq)) {
      this.#client.link.drop(closeOf.gap, `the server acknowledged ${seq}, which was never sent`);
    } else if (!hadRoom && this.#numbers.hasRoom) {
      this.#client.peer.flush();
    }
  }

  /** What has come was looked at: it is acknowledged, now or soon. */
  settle() {
    if (!this.#isLive || !this.#numbers?.owes) return;
    if (this.#numbers.isDue) this.#acknowledge();
    else this.#timer ??= this.#client.clock.setTimeout(() => this.#acknowledge(), SOON);
  }

  /**
   * The connection is lost, and another will come.
   * @param {import("./connection.js").Close} close
   * @returns {boolean} whether the session may go on: then nothing fails that was not about the connection
   */
  pause(close) {
    const { peer } = this.#client;
    if (this.#numbers !== undefined) {
      this.#rest();
      peer.pause();
      for (const call of peer.calls.values()) if (call.sent && isBare(call)) call.fail(closedError(close, true, call.asked.method));
      return true;
    }
    if (!this.isDoubtful) return false;
    // What the load before has kept is asked for on the next connection.
    peer.interrupt(close);
    return true;
  }

  /** The session is gone: the next connection begins another. */
  end() {
    this.#rest();
    this.#client.store?.abandon();
    this.#numbers = this.#identity = undefined;
  }

  #rest() {
    this.#isLive = false;
    this.#stopTimer();
  }

  /** What was sent, and is about the session. */
  get #sent() {
    return [...this.#client.peer.calls.values()].filter((call) => call.sent && !call.settled && !isBare(call));
  }

  /**
   * The session was lost, and another has begun: calls with a key are asked of that, others that were sent are lost.
   * @param {string} why
   */
  #renew(why) {
    const lost = this.#sent.filter((call) => {
      call.sent = call.asked.key === undefined || call.isOnce || call.options.signal?.aborted === true;
      return call.sent;
    });
    return lose(lost, why);
  }

  #acknowledge() {
    this.#stopTimer();
    if (this.#numbers === undefined) return;
    // A load that has acknowledged a message must not be asked again for what it says.
    this.#client.store?.save();
    const params = { seq: this.#numbers.tell() };
    this.#client.link.send(JSON.stringify({ jsonrpc: "2.0", method: "$/ack", params }));
  }

  #stopTimer() {
    this.#client.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * @param {Call[]} calls
 * @param {string} why
 */
function lose(calls, why) {
  return calls.map((call) => {
    call.fail(failure("outcomeUnknown", why, { method: call.asked.method }));
    return call.asked;
  });
}
