// @ts-check
import { failure } from "./errors.js";

/** @typedef {import("./types.js").EventHandler} EventHandler */
/** @typedef {import("./types.js").BridgeEvent} BridgeEvent */

/** Who wants to hear of which topics. The server is asked once for each topic, however many here want it. */
export class Subscriptions {
  /**
   * In the order they were made.
   * @type {Set<{topics: string[], handler: EventHandler}>}
   */
  #entries = new Set();

  /** All topics, each once. */
  get topics() {
    return [...new Set([...this.#entries].flatMap((entry) => entry.topics))];
  }

  /**
   * @param {string | string[]} given
   * @param {EventHandler} handler
   * @returns {{topics: string[], remove: () => string[]}} `remove` tells which topics nobody wants any more
   */
  add(given, handler) {
    const topics = [...new Set(typeof given === "string" ? [given] : given)];
    if (topics.length === 0 || topics.some((topic) => typeof topic !== "string" || topic === "")) {
      throw failure("invalidParams", `not topics: ${JSON.stringify(given)}; write "cart.changed", or "cart.*" for all that begin so`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `a subscription to ${topics.join(", ")} needs a function`);
    const entry = { topics, handler };
    this.#entries.add(entry);
    return {
      topics,
      remove: () => {
        if (!this.#entries.delete(entry)) return [];
        const wanted = new Set(this.topics);
        return topics.filter((topic) => !wanted.has(topic));
      },
    };
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
}

/**
 * @param {string} wanted a topic, or the beginning of one with `*`
 * @param {string} topic
 */
export function covers(wanted, topic) {
  return wanted.endsWith("*") ? topic.startsWith(wanted.slice(0, -1)) : topic === wanted;
}
