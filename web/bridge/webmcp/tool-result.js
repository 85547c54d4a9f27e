// @ts-check
import { codeOf } from "../codes.js";
import { textOf } from "../values/errors.js";

/**
 * What a tool returns to an agent, in the form of MCP. A browser hides what a tool throws, so errors are results too, with `isError`.
 * @typedef {{content: {type: "text", text: string}[], structuredContent?: unknown, isError?: true}} ToolResult
 */

/** @type {Record<number, string>} what an agent should do after an error, by the code of the error */
const ADVICE = {
  [codeOf.invalidParams]: "Change the arguments, then call again.",
  [codeOf.invalidParameters]: "Change the arguments, then call again.",
  [codeOf.notAuthenticated]: "Ask the user to log in to the app.",
  [codeOf.forbidden]: "The app does not allow this call. Do not repeat it, and tell the user.",
  [codeOf.noRoute]: "The app does not serve this now. Ask the user to open the app, then call again.",
  [codeOf.hostAbsent]: "The app does not serve this now. Ask the user to open the app, then call again.",
  [codeOf.refused]: "The app or its user has refused the call. Do not repeat it unless the user wants that.",
  [codeOf.deadline]: "The call may have taken effect. Find out before you repeat it.",
  [codeOf.outcomeUnknown]: "The call may have taken effect. Find out before you repeat it.",
};

/** @type {Record<import("../types/api.js").Unfinished["outcome"], string>} */
const UNFINISHED = {
  dismissed: "The user closed the page without a result. Open it again only if the user wants that.",
  replaced: "The app showed another page instead, so there is no result. Open the page again only if the user wants that.",
  failed: "The page failed and returned no result.",
  cancelled: "The page was closed before the user had finished it.",
};

/**
 * Returns the result for a value: the value itself, and its text for agents that read only text.
 * @param {unknown} value
 * @returns {ToolResult}
 */
export function succeeded(value = null) {
  return { ...textual(typeof value === "string" ? value : JSON.stringify(value)), structuredContent: value };
}

/**
 * Returns the result for the outcome of a page.
 * @param {import("../types/api.js").Outcome} outcome
 * @returns {ToolResult}
 */
export function ended(outcome) {
  if (outcome.outcome === "finished") return succeeded(outcome.data);
  const { message } = outcome;
  return { ...textual(sentences(UNFINISHED[outcome.outcome], message)), isError: true };
}

/**
 * Returns the result for an error, with advice.
 * @param {unknown} error
 * @returns {ToolResult}
 */
export function failed(error) {
  const code = codeIn(error);
  const { retryable, data } = /** @type {any} */ (error ?? {});
  const advice = (code === undefined ? undefined : ADVICE[code]) ?? (retryable === true ? "Call again later." : "");
  /** @type {{path: string, message: string}[]} */
  const faults = Array.isArray(data?.errors) ? data.errors : [];
  return { ...textual(sentences(textOf(error), ...faults.map(({ path, message }) => `${path}: ${message}`), advice)), isError: true };
}

/**
 * Returns the code of an error of the bridge, or `undefined` for another error. Does not depend on the class of the error, because a client from
 * another file has other classes.
 * @param {unknown} error
 * @returns {number | undefined}
 */
export function codeIn(error) {
  const { code } = /** @type {any} */ (error ?? {});
  return error instanceof Error && typeof code === "number" && !(error instanceof DOMException) ? code : undefined;
}

/**
 * @param {string} text
 * @returns {ToolResult}
 */
function textual(text) {
  return { content: [{ type: "text", text }] };
}

/**
 * Joins those parts that are not empty, each with a full stop.
 * @param {string[]} parts
 */
export function sentences(...parts) {
  return parts.filter((part) => part !== "").map((part) => (/[.!?]$/.test(part) ? part : `${part}.`)).join(" ");
}
