// @ts-check
import { isKeyed } from "../calls/call.js";
import { adopt, ping } from "../calls/peer.js";
import * as closeOf from "../connection/close-codes.js";
import { codeOf } from "../codes.js";
import { bridgeError, closedError, failure } from "../values/errors.js";
import { sendFirst } from "./registrations.js";
import { SequenceState } from "./sequence-state.js";
import { UnreadableMessages } from "./unreadable-messages.js";

/** Milliseconds until received messages are acknowledged. The protocol requires it within one second. */
const ACK_DELAY = 500;
/** Maximum number of bytes that a sequence number adds to a message. */
const NUMBER_SIZE = `"seq":${Number.MAX_SAFE_INTEGER},`.length;

/** @typedef {{session: string, client: string, token: string, epoch: string}} Identity identifies the client to the server and proves it */
/** @typedef {import("../calls/call.js").CallInfo} CallInfo */
/** @typedef {import("../calls/call.js").Call} Call */
/** @typedef {import("./reload-store.js").SavedState} SavedState */

/**
 * Resumes a session after a lost connection. It holds the identity of the client, the sequence state of the messages in both directions, and
 * decides what happens to calls. If the server cannot resume, messages pass unchanged.
 */
export class Resumption {
  /** @type {SequenceState | undefined} `undefined`: the session ends with its connection */ #sequence;
  /** @type {Identity | undefined} the identity of the client; `undefined`: the session cannot be resumed */ #identity;
  /** Whether numbered messages are sent at once. */
  #isConnected = false;
  /** @type {unknown} */ #timer;
  /** @type {SavedState | undefined} the registrations that the previous load left in the session, until it has been updated */ earlier;
  /** Whether the server was restarted since the pages were last compared with its state. */
  #isRestarted = false;
  #unreadable;
  #client;

  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.#client = client;
    this.#unreadable = new UnreadableMessages(client);
  }

  /** The number of bytes that a message must leave free for its sequence number. */
  get overhead() {
    return this.#sequence === undefined ? 0 : NUMBER_SIZE;
  }

  /** What the next load of the page needs to resume the session, if it can be resumed. */
  get snapshot() {
    const calls = this.#unansweredCalls.map(({ info }) => info).filter(({ method }) => isKeyed(method));
    return this.#identity && { ...this.#identity, received: this.#received, calls };
  }

  /** The number of the last received message. */
  get #received() {
    return this.#sequence?.received ?? 0;
  }

  /**
   * Returns the request that resumes the session on a new connection, if there is a session to resume.
   * @param {object} open the params of `session.open`
   * @returns {[method: string, params: object] | undefined}
   */
  opening(open) {
    const saved = this.#client.store?.saved;
    const identity = saved ?? this.#identity;
    if (identity === undefined) return undefined;
    const { client, token, epoch } = identity;
    const position = saved === undefined ? { received: this.#received, sent: this.#sequence?.sent } : { received: saved.received, reloaded: true };
    return ["session.resume", { client, token, epoch, ...position, open }];
  }

  /**
   * Called with the response to that request: sends again the messages that the server has not received. It is called before the next
   * message is processed.
   * @param {any} info
   * @returns {{reason: string, calls: CallInfo[]} | undefined} what was lost, if the server could not resume
   */
  opened({ resumed, restarted, reason, received, sent, session, client, token, epoch, capabilities, pending = [] }) {
    const { store, connection, peer } = this.#client;
    const saved = store?.adoptCalls(pending, (/** @type {CallInfo} */ info) => adopt(peer, info));
    const calls = resumed === true ? [] : this.#resetCalls(`The session was lost (${reason}); the outcome of the call is unknown`);
    this.earlier = resumed === true ? saved ?? this.earlier : undefined;
    const isAfterRestart = resumed === true && restarted === true;
    // The restarted server still waits only for its requests with a key, and its stack can be an older one.
    if (isAfterRestart) peer.incoming?.interrupt(failure("outcomeUnknown", "The server was restarted"), true);
    this.#isRestarted = resumed === true && (this.#isRestarted || isAfterRestart);
    if (resumed !== true) {
      this.#sequence = capabilities?.includes("resume") ? new SequenceState() : undefined;
    } else if (saved !== undefined) {
      this.#sequence = new SequenceState(received, sent);
    } else if (!this.#sequence?.resumed(received)) {
      this.end();
      throw bridgeError(codeOf.internal, `The server resumed after message ${received}, which was never sent`, { kind: "malformed" });
    }
    this.#identity = this.#sequence && { session, client, token, epoch };
    this.#unreadable.opened(this.#sequence, { isNew: resumed !== true, isAfterRestart });
    this.#isConnected = true;
    // The new token replaces the stored one.
    store?.save();
    // This confirms the new token to the server, which then invalidates the previous one.
    if (resumed === true) this.#sendAcknowledgement();
    for (const text of this.#sequence?.unacknowledged ?? []) connection.send(text);
    return resumed === false ? { reason, calls } : undefined;
  }

  /**
   * Updates a session that has been opened or resumed, before any later message.
   * @param {any} info the response to the request that began the connection
   */
  update(info) {
    const { hosts } = this.#client;
    const { earlier } = this;
    this.earlier = undefined;
    if (earlier !== undefined && hosts !== undefined) hosts.replaceEarlier(earlier.hosts);
    else if (earlier !== undefined) sendFirst(this.#client, "host.unregister", { hosts: earlier.hosts });
    if (this.#isRestarted) void this.#comparePages();
    void this.#findLost(info);
  }

  /** Compares the pages with those of the restarted server. */
  async #comparePages() {
    if (!(await this.#isUpToDate())) return;
    this.#isRestarted = false;
    this.#client.hosts?.comparePages();
  }

  /**
   * Finds out which calls the server has lost in a session that continues.
   * @param {any} info the response to the request that began the connection
   */
  async #findLost({ resumed, received, pending = [] }) {
    const { emit, connection, peer } = this.#client;
    const ids = pending.map((/** @type {CallInfo} */ { id }) => id);
    const candidates = this.#unansweredCalls.filter((call) => resumed === true && call.seq <= received && !ids.includes(call.info.id));
    if (candidates.length === 0 || !(await this.#isUpToDate())) return;
    const calls = failCalls(candidates.filter((call) => peer.calls.get(call.info.id) === call), "The server has lost the call");
    if (calls.length > 0) emit("statechange", { state: connection.state, attempt: 0, lost: { reason: "server", calls, pages: [] } });
  }

  /**
   * Waits until all messages have arrived that the server still had to send, because those can settle calls and open pages.
   * @returns {Promise<boolean>} `false`: the connection was lost, and the next one tries again
   */
  #isUpToDate() {
    return ping(this.#client.peer).then(() => true, () => false);
  }

  /**
   * @param {string} text
   * @param {{bare?: boolean, canWait?: boolean}} how `bare`: without a number; `canWait`: not sent now if there is no room
   * @returns {number | boolean} its number; without numbers, whether a socket was open; `false` if there is no room
   */
  send(text, { bare, canWait } = {}) {
    const { connection, store } = this.#client;
    if (bare || this.#sequence === undefined) return connection.send(text);
    if (canWait && !this.#sequence.hasRoom) return false;
    const numbered = this.#sequence.append(text);
    if (this.#isConnected) connection.send(numbered.text);
    store?.scheduleSave();
    return numbered.seq;
  }

  /**
   * Whether a received message is to be processed.
   * @param {any} message
   * @param {number} units the length of its text
   */
  accepts({ method, id, seq, params }, units) {
    const { connection, peer, store } = this.#client;
    if (method === "$/ack" && id === undefined) {
      this.#acknowledged(params?.seq);
      return false;
    }
    // A ping has no number, and neither has the response to a call without a number.
    const call = peer.calls.get(id);
    const isNumbered = method === undefined ? seq !== undefined || (call !== undefined && !call.isBare) : method !== "$/ping" || id === undefined;
    if (this.#sequence === undefined || !isNumbered) return true;
    const found = this.#sequence.receive(seq, units);
    if (found === "gap") connection.drop(closeOf.gap, `Expected message ${this.#received + 1}, but got ${seq ?? "one without a number"}`);
    if (found !== "next") return false;
    if (method === undefined) this.#sequence.responded(id);
    // A request whose number is stored as received is never carried out twice, even if this page is reloaded.
    if (method !== undefined && id !== undefined) store?.save();
    else store?.scheduleSave();
    return true;
  }

  /** @param {unknown} seq the number up to which the server has received all messages */
  #acknowledged(seq) {
    if (this.#sequence === undefined) return;
    const hadRoom = this.#sequence.hasRoom;
    if (!this.#sequence.acknowledged(seq)) {
      this.#client.connection.drop(closeOf.gap, `The server acknowledged message ${seq}, which was never sent`);
      return;
    }
    this.#unreadable.acknowledged(this.#sequence);
    if (!hadRoom && this.#sequence.hasRoom) this.#client.peer.flush();
  }

  /**
   * Called with a response that belongs to no call.
   * @param {unknown} id
   * @param {any} error
   */
  unknownResponse(id, error) {
    this.#unreadable.responded(id, error, this.#isConnected ? this.#sequence : undefined);
  }

  /** Acknowledges processed messages, now or soon. */
  acknowledge() {
    if (!this.#isConnected || !this.#sequence?.needsAcknowledgement) return;
    if (this.#sequence.isAcknowledgementDue) this.#sendAcknowledgement();
    else this.#timer ??= this.#client.clock.setTimeout(() => this.#sendAcknowledgement(), ACK_DELAY);
  }

  /**
   * Called when the connection was lost and another one will follow.
   * @param {import("../connection/connection.js").Close} close
   * @returns {boolean} whether the session may continue; then only calls about the connection fail
   */
  pause(close) {
    const { peer, store } = this.#client;
    if (this.#sequence !== undefined) {
      this.#disconnect();
      peer.pause();
      for (const call of peer.calls.values()) if (call.sent && call.isBare) call.fail(closedError(close, true, call.info.method));
      return true;
    }
    if (store?.saved === undefined) return false;
    // The next connection tries to resume the session of the previous load.
    peer.interrupt(close);
    return true;
  }

  /** Called when the session has ended: the next connection opens another one. */
  end() {
    this.#disconnect();
    const { store } = this.#client;
    if (store !== undefined) store.saved = undefined;
    this.#sequence = this.#identity = undefined;
  }

  #disconnect() {
    this.#isConnected = false;
    this.#stopTimer();
  }

  /** Sent calls about the session that have no response. */
  get #unansweredCalls() {
    return [...this.#client.peer.calls.values()].filter((call) => call.sent && !call.isBare);
  }

  /**
   * Called when the session was lost and another one was opened: calls with a key will be sent again, other sent calls are lost.
   * @param {string} why
   */
  #resetCalls(why) {
    const lost = this.#unansweredCalls.filter((call) => {
      call.sent = call.info.key === undefined || call.isOnce || call.options.signal?.aborted === true;
      return call.sent;
    });
    return failCalls(lost, why);
  }

  #sendAcknowledgement() {
    this.#stopTimer();
    if (this.#sequence === undefined) return;
    // Stored before the acknowledgement is sent. Otherwise the next load could ask for a message that the server has already discarded.
    this.#client.store?.save();
    const params = { seq: this.#sequence.report() };
    this.#client.connection.send(JSON.stringify({ jsonrpc: "2.0", method: "$/ack", params }));
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
function failCalls(calls, why) {
  return calls.map((call) => {
    call.fail(failure("outcomeUnknown", why, { method: call.info.method }));
    return call.info;
  });
}
