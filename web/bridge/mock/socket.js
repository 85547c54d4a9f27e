// @ts-check
import { SUBPROTOCOL } from "../connection/connection.js";

/** Turns of the microtask queue between two messages, so that the immediate effects of one message are complete before the next arrives. */
const TURNS = 16;

/** One end of a connection within this program, with the interface of a WebSocket for a `Bridge`. */
export class MockSocket extends EventTarget {
  readyState = 0;
  protocol = "";
  #received;
  #ended;
  #sending = Promise.resolve();
  #arriving = Promise.resolve();

  /**
   * @param {object} server
   * @param {(socket: MockSocket) => boolean} server.accepts returns whether the connection is accepted
   * @param {(text: string) => void} server.received
   * @param {(code: number) => void} server.ended
   */
  constructor({ accepts, received, ended }) {
    super();
    this.#received = received;
    this.#ended = ended;
    queueMicrotask(() => {
      if (this.readyState !== 0) return;
      if (!accepts(this)) return this.end(1006, "The mocked app is down");
      this.protocol = SUBPROTOCOL;
      this.readyState = 1;
      this.dispatchEvent(new Event("open"));
    });
  }

  /** @param {string} text */
  send(text) {
    this.#sending = after(this.#sending, () => this.readyState === 1 && this.#received(text));
  }

  /** @param {number} [code] */
  close(code = 1000) {
    queueMicrotask(() => this.end(code, ""));
  }

  /**
   * Delivers a message from the other end.
   * @param {string} text
   * @returns {boolean} `false` if it does not arrive
   */
  deliver(text) {
    if (this.readyState !== 1) return false;
    this.#arriving = after(this.#arriving, () => {
      if (this.readyState === 1) this.dispatchEvent(new MessageEvent("message", { data: text }));
    });
    return true;
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  end(code, reason) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#ended(code);
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

/**
 * Runs `body` some microtasks after the previous one. It uses no timers, so it works in tests that replace them.
 * @param {Promise<void>} previous
 * @param {() => unknown} body
 */
async function after(previous, body) {
  await previous;
  for (let turn = 0; turn < TURNS; turn += 1) await null;
  body();
}
