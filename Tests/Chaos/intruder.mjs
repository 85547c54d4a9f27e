import { EngineConnection } from "./nats.mjs";

/** Milliseconds between two messages, and before another attempt to connect. */
const INTERVAL = 10;
const RETRY_DELAY = 200;
/** The number of messages that it remembers: the first ones, and the last ones. */
const MEMORY = 200;
/** The maximum length of a message of random bytes. */
const MAX_RANDOM = 200;
const SUBJECTS = "waybridge.server.>";
const TO_ALL = "waybridge.server.all";

/**
 * A program that reaches the engines but does not have the secret of the cluster. It publishes what it has observed of the messages
 * between servers: again, changed, cut, and to other receivers. It also publishes random bytes.
 */
export class Intruder {
  /** The number of messages of each kind. */
  counts = {};
  #run;
  #random;
  #engines;
  #connection;
  #first = [];
  #last = [];
  #hasEnded = false;

  constructor(run, random, engines) {
    this.#run = run;
    this.#random = random;
    this.#engines = [...engines.values()];
  }

  /** Acts until it is ended. */
  async live() {
    while (!this.#hasEnded) {
      if (this.#connection === undefined) {
        this.#connect();
        await this.#run.pause(RETRY_DELAY);
      } else {
        this.#act();
        await this.#run.pause(INTERVAL);
      }
    }
    this.#connection?.close();
  }

  end() {
    this.#hasEnded = true;
  }

  /** Connects to any engine, which may be cut off or down. */
  #connect() {
    const { place } = this.#random.pick(this.#engines);
    const connection = new EngineConnection(
      place, (subject, content) => this.#observe(subject, content), () => this.#connection === connection && (this.#connection = undefined));
    connection.subscribe(SUBJECTS);
    this.#connection = connection;
  }

  #observe(subject, content) {
    if (content === undefined) return;
    const message = { subject, content: Buffer.from(content) };
    if (this.#first.length < MEMORY) return this.#first.push(message);
    this.#last.push(message);
    if (this.#last.length > MEMORY) this.#last.shift();
  }

  #act() {
    const all = [...this.#first, ...this.#last];
    if (all.length === 0) return;
    const random = this.#random;
    const { subject, content } = random.pick(all);
    const kinds = {
      repeated: () => [subject, content],
      changed: () => [subject, this.#changed(content)],
      cut: () => [subject, content.subarray(0, random.below(content.length + 1))],
      redirected: () => [random.pick([TO_ALL, ...all.map(({ subject }) => subject)].filter((other) => other !== subject)), content],
      random: () => [subject, Buffer.from(Array.from({ length: random.below(MAX_RANDOM) }, () => random.below(256)))],
    };
    const kind = random.pick(Object.keys(kinds));
    const [other, bytes] = kinds[kind]();
    if (other === undefined) return;
    this.#connection.publish(other, bytes);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  /** A copy in which one bit differs, often one of the readable beginning. */
  #changed(content) {
    const copy = Buffer.from(content);
    if (copy.length === 0) return copy;
    const place = this.#random.below(this.#random.chance(0.5) ? Math.min(copy.length, 64) : copy.length);
    copy[place] ^= 1 << this.#random.below(8);
    return copy;
  }
}
