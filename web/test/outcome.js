// @ts-check
import assert from "node:assert/strict";

/**
 * Returns the result of a page that finished.
 * @param {import("../bridge/bridge.js").Outcome | Promise<import("../bridge/bridge.js").Outcome>} outcome
 */
export async function resultOf(outcome) {
  const ended = await outcome;
  assert(ended.outcome === "finished", `The page was ${ended.outcome}`);
  return ended.data;
}
