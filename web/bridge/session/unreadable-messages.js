// @ts-check
import * as closeOf from "../connection/close-codes.js";
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../values/errors.js";
import { encode } from "../values/json-values.js";

/** @typedef {import("../values/errors.js").BridgeError} BridgeError */
/** @typedef {import("./sequence-state.js").SequenceState} SequenceState */

/**
 * Handles messages of this client that the server could not read. The client checks what it sends, so this is the last resort. Without it, a
 * message would be sent again on each connection.
 */
export class UnreadableMessages {
  /** @type {BridgeError | undefined} the error about a message, until that message is replaced */ #error;
  /** The number of the last message that was replaced. */
  #replaced = 0;
  /** Whether an error can be about the replaced message, which may have been sent twice, or about a later one. */
  #isAmbiguous = false;
  #client;

  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Called with a response that belongs to no call. The server responds like this to a message that it could not read:
   *
   * - With the number of the message it counts as received, and only its call fails.
   * - Otherwise it is the first message that the server has not received. The next connection finds out which one that is.
   * @param {unknown} id
   * @param {any} error
   * @param {SequenceState | undefined} sequence the numbers of an open session that can be resumed
   */
  responded(id, error, sequence) {
    if (id !== null || error?.code !== codeOf.parseError) return;
    const { code, message = "", data } = error;
    const seq = data?.seq;
    const call = sequence && [...this.#client.peer.calls.values()].find((each) => each.sent && !each.isBare && each.seq === seq);
    const cause = bridgeError(code, String(message), { data, method: call?.info.method });
    if (call !== undefined) return call.fail(cause);
    if (seq !== undefined || sequence === undefined) return this.#client.report(cause);
    this.#isAmbiguous = this.#replaced > sequence.acknowledgedUpTo;
    if (this.#isAmbiguous) return;
    this.#error = cause;
    this.#drop();
  }

  /**
   * Called when the server has acknowledged messages.
   * @param {SequenceState} sequence
   */
  acknowledged(sequence) {
    // On the next connection the server reports a message that it cannot read once more.
    if (this.#isAmbiguous && sequence.acknowledgedUpTo >= this.#replaced) this.#drop();
  }

  /**
   * Called when a session was opened or resumed, before messages are sent again.
   * @param {SequenceState | undefined} sequence
   * @param {{isNew: boolean, isAfterRestart: boolean}} how
   */
  opened(sequence, { isNew, isAfterRestart }) {
    const error = this.#error;
    this.#error = undefined;
    this.#isAmbiguous = false;
    if (isNew) this.#replaced = 0;
    // After a restart the server can miss messages before the one that it could not read. It then reports that one again.
    else if (!isAfterRestart && error !== undefined) sequence?.replaceFirst((text, seq) => this.#replacement(text, seq, error));
  }

  /**
   * Fails the call of a message, and returns another message in its place.
   * @param {string} text
   * @param {number} seq
   * @param {BridgeError} error
   */
  #replacement(text, seq, error) {
    const { peer, report } = this.#client;
    this.#replaced = seq;
    const { id, method } = JSON.parse(text);
    const isResponse = method === undefined;
    const call = isResponse ? undefined : peer.calls.get(id);
    if (call === undefined) report(error);
    else call.fail(Object.assign(error, { method }));
    const { code, message } = failure("internal", "The response could not be read");
    return encode({ jsonrpc: "2.0", ...(isResponse ? { id, error: { code, message } } : { method: "$/cancelRequest", params: { id: id ?? null } }) });
  }

  #drop() {
    this.#client.connection.drop(closeOf.reconnecting, "The server could not read a message");
  }
}
