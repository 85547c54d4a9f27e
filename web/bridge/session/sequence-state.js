// @ts-check

/** Maximum number of unacknowledged messages, and of their UTF-16 units. Beyond it, calls wait for room. */
const CAPACITY = { count: 1024, units: 4 << 20 };
/** The number of received messages, or of their UTF-16 units (at most three bytes each), after which they are acknowledged. */
const ACK_AFTER = { count: 32, units: (64 << 10) / 3 };

/**
 * The sequence numbers of a client's messages in both directions (protocol, Numbers): the sent messages that are not acknowledged, and the last
 * received one. It outlives connections, and uses neither a connection nor a clock.
 */
export class SequenceState {
  /** The number of the last received message that was acknowledged. */
  #reported;
  /**
   * Sent messages that are not acknowledged, by number in ascending order.
   * @type {Map<number, string>}
   */
  #outbox = new Map();
  #units = 0;
  /** The size of the messages that were received since the last acknowledgement. */
  #unitsReceived = 0;

  /**
   * @param {number} [sent] the number of the last message that was sent
   * @param {number} [received] the number of the last received message
   */
  constructor(sent = 0, received = 0) {
    /** The number of the last sent message. */
    this.sent = sent;
    /** The number up to which the peer has acknowledged all messages. */
    this.acknowledgedUpTo = sent;
    /** The number of the last received message. */
    this.received = this.#reported = received;
  }

  /** Whether there is room for a message that can wait. A message of any size has room if no other one is stored. */
  get hasRoom() {
    return this.#outbox.size < CAPACITY.count && this.#units < CAPACITY.units;
  }

  /** The sent messages that are not acknowledged, in their order and with their numbers. */
  get unacknowledged() {
    return [...this.#outbox.values()];
  }

  /**
   * Adds a number to a message and stores the message.
   * @param {string} text a JSON object with at least one property
   * @returns {{seq: number, text: string}} the message to send
   */
  append(text) {
    this.sent += 1;
    return { seq: this.sent, text: this.#store(this.sent, text) };
  }

  /**
   * Replaces the first message that is not acknowledged, if there is one. It keeps its number.
   * @param {(text: string, seq: number) => string} replacement returns the other message, for the stored one
   */
  replaceFirst(replacement) {
    const [[seq, before] = [0, ""]] = this.#outbox;
    if (seq !== 0) this.#store(seq, replacement(before, seq));
  }

  /**
   * Called with the id of a received response. If its request is sent again, it is sent as a notification: a restarted peer does not know
   * that it has responded, and must not respond a second time.
   * @param {unknown} id
   */
  responded(id) {
    const head = `"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
    for (const [seq, text] of this.#outbox) {
      const start = text.indexOf(",") + 1;
      if (!text.startsWith(`${head}"method":`, start)) continue;
      this.#store(seq, `{"jsonrpc":"2.0",${text.slice(start + head.length)}`);
      return;
    }
  }

  /**
   * Called when the peer has acknowledged all messages up to a number.
   * @param {unknown} seq
   * @returns {boolean} `false` for a number that was never sent
   */
  acknowledged(seq) {
    if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > this.sent) return false;
    for (; this.acknowledgedUpTo < seq; this.acknowledgedUpTo += 1) {
      const next = this.acknowledgedUpTo + 1;
      this.#units -= this.#outbox.get(next)?.length ?? 0;
      this.#outbox.delete(next);
    }
    return true;
  }

  /**
   * Called when the session was resumed and the peer has received all messages up to a number.
   * @param {unknown} seq
   * @returns {boolean} `false` for a number that was never sent, or that is lower than an acknowledged one
   */
  resumed(seq) {
    return typeof seq === "number" && seq >= this.acknowledgedUpTo && this.acknowledged(seq);
  }

  /**
   * Receives a message.
   * @param {unknown} seq
   * @param {number} units the length of its text
   * @returns {"next" | "duplicate" | "gap"} only `next` is to be processed
   */
  receive(seq, units) {
    if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 1 || seq > this.received + 1) return "gap";
    if (seq <= this.received) return "duplicate";
    this.received = seq;
    this.#unitsReceived += units;
    return "next";
  }

  /** Whether a received message is not yet acknowledged. */
  get needsAcknowledgement() {
    return this.received > this.#reported;
  }

  /** Whether an acknowledgement is due now. */
  get isAcknowledgementDue() {
    return this.received - this.#reported >= ACK_AFTER.count || this.#unitsReceived >= ACK_AFTER.units;
  }

  /** Returns the number to acknowledge: that of the last received message. */
  report() {
    this.#reported = this.received;
    this.#unitsReceived = 0;
    return this.#reported;
  }

  /**
   * Adds a number to a message, and stores it in the place of another one that had the number.
   * @param {number} seq
   * @param {string} text a JSON object with at least one property
   */
  #store(seq, text) {
    const numbered = `{"seq":${seq},${text.slice(1)}`;
    this.#units += numbered.length - (this.#outbox.get(seq)?.length ?? 0);
    this.#outbox.set(seq, numbered);
    return numbered;
  }
}
