// @ts-check
import { failure } from "./values/errors.js";
import { Liveness } from "./connection/liveness.js";
import { Resumption } from "./session/resumption.js";

/**
 * The part of a client that resumes its session after a lost connection, and detects a dead connection.
 * @type {import("./types/api.js").ResumePart}
 */
export const resume = {
  resumption: (client, { keep = "reload" }) => {
    if (!["reload", "connection", "nothing"].includes(keep)) {
      throw failure("invalidParams", `keep must be "reload", "connection" or "nothing", but got ${String(keep)}`);
    }
    return keep === "nothing" ? undefined : new Resumption(client);
  },
  liveness: (client, { ping = {} }) => (ping === false ? undefined : new Liveness(client, ping, /** @type {any} */ (globalThis))),
};
