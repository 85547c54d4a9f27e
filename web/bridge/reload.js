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
  store: (client, { keep = "reload" }) => {
    const { clock, entry: { url, frame }, about: { name } } = client;
    if (keep !== "reload" || url === undefined) return undefined;
    const snapshot = () => {
      const { identity, received, asked: calls } = client.resumption;
      return identity && { ...identity, received, calls, hosts: client.duties?.hosting.declarations ?? [], topics: client.events?.asked ?? [] };
    };
    /** @type {any} */
    const page = globalThis;
    try {
      const isPossible = page.document !== undefined && page.sessionStorage !== undefined;
      return isPossible ? new ReloadStore({ url, name, frame }, clock, snapshot, page) : undefined;
    } catch {
      // A sandboxed frame is refused its storage.
      return undefined;
    }
  },
};
