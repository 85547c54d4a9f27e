// @ts-check

/**
 * A message of the wire, read for people.
 * @typedef {object} Message
 * @property {"request" | "notification" | "result" | "error" | "unknown"} kind
 * @property {unknown} [id]
 * @property {string} method of an answer it is empty
 * @property {any} [params]
 * @property {any} [result]
 * @property {any} [error]
 * @property {string} about what it is about: a URI, a page
 * @property {string} ending of an answer: the outcome, a code with its text
 * @property {string} body indented JSON
 */

/**
 * @param {string} text
 * @returns {Message[]} several of a batch
 */
export function read(text) {
  let value;
  try {
    value = JSON.parse(text, hideTokens);
  } catch {
    return [{ kind: "unknown", method: "not JSON", about: "", ending: "", body: text }];
  }
  return [value].flat().map(one);
}

/**
 * @param {any} value
 * @returns {Message}
 */
function one(value) {
  const body = JSON.stringify(value, null, 2);
  const { id, method, params, result, error } = value ?? {};
  if (typeof method === "string") {
    return { kind: id === undefined ? "notification" : "request", id, method, params, about: about(params), ending: "", body };
  }
  if (error) return { kind: "error", id, method: "", error, about: "", ending: `${error.code} ${error.message}`, body };
  return { kind: "result", id, method: "", result, about: about(result), ending: String(result?.outcome ?? ""), body };
}

/** @param {any} value what a person would look for first */
function about(value) {
  if (typeof value !== "object" || value === null) return "";
  if (value.page?.uri) return value.page.uri;
  const text = value.uri ?? value.topic ?? value.to ?? value.before ?? value.page ?? value.session ?? "";
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
