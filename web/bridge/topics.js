// @ts-check
import { Announcements } from "./announcements.js";
import { failure } from "./errors.js";

/** @typedef {import("./types.js").EventHandler} EventHandler */
/** @typedef {import("./types.js").BridgeEvent} BridgeEvent */

/** Who wants to hear of which topics. The server is asked once for each topic, however many here want it. */
export class Topics {
  /**
   * In the order they were made.
   * @type {Set<{topics: string[], handler: EventHandler}>}
   */
  #entries = new Set();
  /**
   * Those that a session was asked for; those of a call that still waits are not among them.
   * @type {Set<string>}
   */
  #asked = new Set();
  #announcements;

  /** @param {ConstructorParameters<typeof Announcements>[0]} client */
  constructor(client) {
    this.#announcements = new Announcements(client);
  }

  /** What the server was asked for, for the next load of the page. */
  get asked() {
    return [...this.#asked];
  }

  /**
   * @param {string | string[]} given
   * @param {EventHandler} handler
   * @returns {import("./types.js").Unregister}
   */
  subscribe(given, handler) {
    const topics = [...new Set(typeof given === "string" ? [given] : given)];
    if (topics.length === 0 || topics.some((topic) => typeof topic !== "string" || topic === "")) {
      throw failure("invalidParams", `not topics: ${JSON.stringify(given)}; write "cart.changed", or "cart.*" for all that begin so`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `a subscription to ${topics.join(", ")} needs a function`);
    const fresh = this.#unwanted(topics);
    const entry = { topics, handler };
    this.#entries.add(entry);
    const remove = () => {
      if (!this.#entries.delete(entry)) return [];
      const unwanted = this.#unwanted(topics);
      for (const topic of unwanted) this.#asked.delete(topic);
      return unwanted;
    };
    const asked = () => {
      const unwanted = this.#unwanted(fresh);
      for (const topic of fresh) if (!unwanted.includes(topic)) this.#asked.add(topic);
    };
    const told = fresh.length > 0 ? this.#announcements.tell("events.subscribe", { topics: fresh }, asked) : undefined;
    return this.#announcements.undoable(told, remove, async () => {
      const unwanted = remove();
      if (unwanted.length > 0) await this.#announcements.tell("events.unsubscribe", { topics: unwanted });
    });
  }

  /**
   * Asks another session for the topics of the one before. Those that an earlier load of the page has asked for are asked for anew, since the
   * server repeats the events that it keeps to who asks first.
   * @param {boolean} isUntold whether the session is another
   * @param {string[]} before what the earlier load has asked for
   */
  tell(isUntold, before) {
    if (isUntold) this.#announcements.first("events.subscribe", { topics: this.asked });
    this.#announcements.first("events.unsubscribe", { topics: before });
  }

  /**
   * Tells everybody once who wants the event's topic.
   * @param {BridgeEvent} event
   * @param {(cause: unknown) => void} failed told what a handler threw; the others hear all the same
   */
  deliver(event, failed) {
    for (const { topics, handler } of [...this.#entries]) {
      if (!topics.some((topic) => covers(topic, event.topic))) continue;
      // A handler may be asynchronous: its rejection must not be left alone either.
      new Promise((resolve) => resolve(handler(event))).catch(failed);
    }
  }

  /**
   * Those of some topics that nobody wants.
   * @param {string[]} topics
   */
  #unwanted(topics) {
    return topics.filter((topic) => ![...this.#entries].some((entry) => entry.topics.includes(topic)));
  }
}

/**
 * @param {string} wanted a topic, or the beginning of one with `*`
 * @param {string} topic
 */
export function covers(wanted, topic) {
  return wanted.endsWith("*") ? topic.startsWith(wanted.slice(0, -1)) : topic === wanted;
}
