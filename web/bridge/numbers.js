// @ts-check

/** How many messages, and UTF-16 units of them, may wait to be acknowledged before calls have to wait for room. */
const ROOM = { count: 1024, units: 4 << 20 };
/** When what has come is to be acknowledged: after so many messages, or so many UTF-16 units, each of at most three bytes. */
const DUE = { count: 32, units: (64 << 10) / 3 };

/**
 * The numbers of one client's messages, in both directions (protocol, Numbers): what it has sent and the other side has not
 * acknowledged, and what it has taken. It outlives connections, and knows none, nor a clock.
 */
export class Numbers {
  #sent;
  #received;
  #acknowledged;
  #told;
  /**
   * What may have to be sent again, by number, the lowest first.
   * @type {Map<number, string>}
   */
  #outbox = new Map();
  #units = 0;
  /** Of what was taken since the last acknowledgement. */
  #unitsTaken = 0;

  /**
   * @param {number} [sent] the number of the last message that was sent
   * @param {number} [received] that of the last one that was taken
   */
  constructor(sent = 0, received = 0) {
    this.#sent = this.#acknowledged = sent;
    this.#received = this.#told = received;
  }

  /** The number of the last message that was given one. */
  get sent() {
    return this.#sent;
  }

  /** The number of the last message that was taken. */
  get received() {
    return this.#received;
  }

  /** Whether there is room for a message that can wait. One of any size finds room where nothing else is kept. */
  get hasRoom() {
    return this.#outbox.size < ROOM.count && this.#units < ROOM.units;
  }

  /** What the other side has not acknowledged, in its order, with its numbers. */
  get unacknowledged() {
    return [...this.#outbox.values()];
  }

  /**
   * Numbers a message, and keeps it.
   * @param {string} text an object with a member, as JSON
   * @returns {{seq: number, text: string}} what goes out
   */
  give(text) {
    this.#sent += 1;
    const numbered = `{"seq":${this.#sent},${text.slice(1)}`;
    this.#outbox.set(this.#sent, numbered);
    this.#units += numbered.length;
    return { seq: this.#sent, text: numbered };
  }

  /**
   * The other side has taken all up to a message.
   * @param {unknown} seq
   * @returns {boolean} false for one that was never sent
   */
  acknowledged(seq) {
    if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > this.#sent) return false;
    for (; this.#acknowledged < seq; this.#acknowledged += 1) {
      const next = this.#acknowledged + 1;
      this.#units -= this.#outbox.get(next)?.length ?? 0;
      this.#outbox.delete(next);
    }
    return true;
  }

  /**
   * The other side goes on with us on a new connection, having taken all up to a message.
   * @param {unknown} seq
   * @returns {boolean} false for one that was never sent, and for less than it has acknowledged
   */
  resumed(seq) {
    return typeof seq === "number" && seq >= this.#acknowledged && this.acknowledged(seq);
  }

  /**
   * A message has come.
   * @param {unknown} seq
   * @param {number} units the length of its text
   * @returns {"next" | "had" | "gap"} only the next one is to be taken
   */
  take(seq, units) {
    if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 1 || seq > this.#received + 1) return "gap";
    if (seq <= this.#received) return "had";
    this.#received = seq;
    this.#unitsTaken += units;
    return "next";
  }

  /** Whether something was taken that is not acknowledged: that is due soon. */
  get owes() {
    return this.#received > this.#told;
  }

  /** Whether it is due now. */
  get isDue() {
    return this.#received - this.#told >= DUE.count || this.#unitsTaken >= DUE.units;
  }

  /** What an acknowledgement that goes out now says. */
  tell() {
    this.#told = this.#received;
    this.#unitsTaken = 0;
    return this.#told;
  }
}
