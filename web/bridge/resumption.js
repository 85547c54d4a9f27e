// @ts-check
import * as closeOf from "./closes.js";
import { codeOf } from "./codes.js";
import { bridgeError } from "./errors.js";
import { Numbers } from "./numbers.js";

/** Milliseconds after which what has come is acknowledged, of the second in which it has to be. */
const SOON = 500;
/** What numbers add to the largest message, in bytes. */
const NUMBER_SIZE = `"seq":${Number.MAX_SAFE_INTEGER},`.length;

/** @typedef {{session: string, client: string, token: string, epoch: string}} Identity who the client is for the server, and the proof of it */

/**
 * What lets a session outlive its connections: who the client is, and what it and the server have sent to each other. Where
 * the server can not resume, messages pass as they are.
 */
export class Resumption {
  /** @type {Numbers | undefined} none: the session ends with its connection */ #numbers;
  /** @type {Identity | undefined} */ #identity;
  /** Whether what is numbered goes out at once. */
  #isLive = false;
  /** @type {unknown} */ #timer;
  #wiring;

  /**
   * @param {object} wiring
   * @param {boolean} wiring.isWanted or else each session ends with its connection
   * @param {(text: string) => boolean} wiring.send false when the text could not be handed to an open socket
   * @param {(code: number, reason: string) => void} wiring.drop gives the connection up, to go on with another
   * @param {() => void} wiring.room calls that wait for room may go out
   * @param {import("./reload-store.js").ReloadStore} [wiring.store] keeps it for the next load of the page
   * @param {import("./clock.js").Clock} wiring.clock
   */
  constructor(wiring) {
    this.#wiring = wiring;
  }

  /** Whether the session goes on when its connection is lost. */
  get isOn() {
    return this.#numbers !== undefined;
  }

  /** The last message that was taken. */
  get received() {
    return this.#numbers?.received ?? 0;
  }

  /** What the largest message has to leave free. */
  get overhead() {
    return this.isOn ? NUMBER_SIZE : 0;
  }

  /** Who the client is, for the next load of the page; undefined where nobody could go on. */
  get identity() {
    return this.isOn ? this.#identity : undefined;
  }

  /**
   * The request that a connection begins with.
   * @param {object} open the params of `session.open`
   * @returns {[method: string, params: object]}
   */
  greeting(open) {
    if (this.#numbers === undefined) return ["session.open", open];
    const { client, token, epoch } = /** @type {Identity} */ (this.#identity);
    const { received, sent } = this.#numbers;
    return ["session.resume", { client, token, epoch, received, sent, open }];
  }

  /**
   * The server has answered that request: what it has not taken goes out again. It has to be known before the next message is
   * looked at.
   * @param {any} info
   * @param {boolean} isReloaded whether the session is that of the load before
   */
  entered({ resumed, received, sent, session, client, token, epoch, capabilities }, isReloaded) {
    this.#identity = { session, client, token, epoch };
    if (resumed !== true) {
      this.#numbers = this.#wiring.isWanted && capabilities?.includes("resume") ? new Numbers() : undefined;
    } else if (isReloaded) {
      this.#numbers = new Numbers(received, sent);
    } else if (!this.#numbers?.resumed(received)) {
      this.end();
      throw bridgeError(codeOf.internal, `the server resumed after ${received}, which was never sent`, { kind: "malformed" });
    }
    this.#isLive = true;
    // The new token is the one that counts.
    this.#wiring.store?.save();
    for (const text of this.#numbers?.unacknowledged ?? []) this.#wiring.send(text);
  }

  /**
   * @param {string} text
   * @param {{bare?: boolean, canWait?: boolean}} how `bare`: it has no number; `canWait`: it comes again when there is room
   * @returns {number | boolean} its number; without numbers, whether it was handed to an open socket
   */
  send(text, { bare, canWait } = {}) {
    if (bare || this.#numbers === undefined) return this.#wiring.send(text);
    if (canWait && !this.#numbers.hasRoom) return false;
    const numbered = this.#numbers.give(text);
    if (this.#isLive) this.#wiring.send(numbered.text);
    this.#wiring.store?.saveSoon();
    return numbered.seq;
  }

  /**
   * Whether a message that has come is to be looked at.
   * @param {any} message one that has a number, where the other side numbers
   * @param {number} units the length of its text
   */
  takes(message, units) {
    if (this.#numbers === undefined) return true;
    const found = this.#numbers.take(message.seq, units);
    if (found === "gap") {
      const { received } = this.#numbers;
      this.#wiring.drop(closeOf.gap, `after the message ${received} came ${message.seq ?? "one without a number"}`);
    }
    if (found !== "next") return false;
    // A request that was kept as taken is never carried out a second time, whatever becomes of this page.
    if (message.method !== undefined && message.id !== undefined) this.#wiring.store?.save();
    else this.#wiring.store?.saveSoon();
    return true;
  }

  /** @param {any} params of `$/ack` */
  acknowledged({ seq }) {
    if (this.#numbers === undefined) return;
    const hadRoom = this.#numbers.hasRoom;
    if (!this.#numbers.acknowledged(seq)) {
      this.#wiring.drop(closeOf.gap, `the server acknowledged ${seq}, which was never sent`);
    } else if (!hadRoom && this.#numbers.hasRoom) {
      this.#wiring.room();
    }
  }

  /** What has come was looked at: it is acknowledged, now or soon. */
  settle() {
    if (!this.#isLive || !this.#numbers?.owes) return;
    if (this.#numbers.isDue) this.#acknowledge();
    else this.#timer ??= this.#wiring.clock.setTimeout(() => this.#acknowledge(), SOON);
  }

  /** The connection is lost. */
  pause() {
    this.#isLive = false;
    this.#stopTimer();
  }

  /** The session is gone: the next connection begins another. */
  end() {
    this.pause();
    this.#numbers = this.#identity = undefined;
  }

  #acknowledge() {
    this.#stopTimer();
    if (this.#numbers === undefined) return;
    // A load that has acknowledged a message must not be asked again for what it says.
    this.#wiring.store?.save();
    const params = { seq: this.#numbers.tell() };
    this.#wiring.send(JSON.stringify({ jsonrpc: "2.0", method: "$/ack", params }));
  }

  #stopTimer() {
    this.#wiring.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
