// @ts-check
import { Liveness } from "./liveness.js";
import { Resumption } from "./resumption.js";

/**
 * The part of a client with which its session outlives lost connections, and with which it finds out that one is dead.
 * @type {import("./types.js").ResumePart}
 */
export const resume = {
  resumption: (wiring) => new Resumption(wiring),
  liveness: (options, link) => new Liveness(options, link, /** @type {any} */ (globalThis)),
};
