// @ts-check
import { FrameStore } from "./frame-store.js";
import { ReloadStore } from "./reload-store.js";
import { resume } from "./resume.js";

/**
 * The part of a client with which its session outlives the reload of its page, where anything can be kept.
 * @type {import("./types.js").ReloadPart}
 */
export const reload = {
  resume,
  keeping: (page) => new FrameStore("waybridge", page),
  store: (place, clock, snapshot) => {
    /** @type {any} */
    const page = globalThis;
    try {
      const isPossible = page.document !== undefined && page.sessionStorage !== undefined;
      return isPossible ? new ReloadStore(place, clock, snapshot, page) : undefined;
    } catch {
      // A sandboxed frame is refused its storage.
      return undefined;
    }
  },
};
