// @ts-check
import { failure } from "./errors.js";
import { Liveness } from "./liveness.js";
import { Resumption } from "./resumption.js";

/**
 * The part of a client with which its session outlives lost connections, and with which it finds out that one is dead.
 * @type {import("./types.js").ResumePart}
 */
export const resume = {
  resumption: (client, { keep = "reload" }) => {
    if (!["reload", "connection", "nothing"].includes(keep)) {
      throw failure("invalidParams", `keep is ${String(keep)}; give "reload", "connection" or "nothing"`);
    }
    return keep === "nothing" ? undefined : new Resumption(client);
  },
  liveness: (client, { ping = {} }) => (ping === false ? undefined : new Liveness(client, ping, /** @type {any} */ (globalThis))),
};
