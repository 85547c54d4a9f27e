// @ts-check

/** @typedef {"shell" | "web" | "flutter"} Who */
/** @typedef {"in" | "out"} Direction */

/**
 * A message of the wire, read for people.
 * @typedef {object} Message
 * @property {"request" | "notification" | "result" | "error" | "batch" | "unknown"} kind
 * @property {string} title the method; of an answer the method that it answers
 * @property {string} detail what it is about: a URI, a page, a code
 * @property {string} body indented JSON
 */

/** Requests whose method an answer may need, for each connection; older ones are forgotten. */
const remembered = 100;

/** Reads messages as they pass and finds for each answer what was asked. */
export class MessageReader {
  /** @type {Map<string, string>} methods by connection, direction and id */
  #asked = new Map();

  /**
   * @param {Who} who
   * @param {Direction} direction
   * @param {string} text
   * @returns {Message}
   */
  read(who, direction, text) {
    let value;
    try {
      value = JSON.parse(text, hideTokens);
    } catch {
      return { kind: "unknown", title: "not JSON", detail: "", body: text };
    }
    const body = JSON.stringify(value, null, 2);
    if (Array.isArray(value)) return { kind: "batch", title: `batch of ${value.length}`, detail: "", body };
    const { id, method, params, result, error } = value;
    if (method !== undefined) {
      if (id !== undefined) this.#remember(key(who, direction, id), method);
      return { kind: id === undefined ? "notification" : "request", title: method, detail: about(params), body };
    }
    const question = key(who, direction === "in" ? "out" : "in", id);
    const title = this.#asked.get(question) ?? "answer";
    this.#asked.delete(question);
    if (error) return { kind: "error", title, detail: `${error.code} ${error.message}`, body };
    return { kind: "result", title, detail: about(result), body };
  }

  /**
   * @param {string} question
   * @param {string} method
   */
  #remember(question, method) {
    this.#asked.set(question, method);
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= remembered) break;
      this.#asked.delete(oldest);
    }
  }
}

/**
 * @param {Who} who
 * @param {Direction} direction
 * @param {unknown} id
 */
function key(who, direction, id) {
  return `${who} ${direction} ${JSON.stringify(id)}`;
}

/** @param {any} value what a person would look for first */
function about(value) {
  if (typeof value !== "object" || value === null) return "";
  if (value.page?.uri) return value.page.uri;
  const text = value.uri ?? value.outcome ?? value.to ?? value.before ?? value.page ?? value.session
    ?? value.value?.opened?.page ?? "";
  return typeof text === "string" ? text : "";
}

/**
 * Keys to the session are not for screenshots.
 * @param {string} name
 * @param {unknown} value
 */
function hideTokens(name, value) {
  return (name === "token" || name === "joinToken") && typeof value === "string" ? `${value.slice(0, 4)}…` : value;
}
