// @ts-check
import { FrameStore } from "./session/frame-store.js";
import { ReloadStore } from "./session/reload-store.js";
import { resume } from "./resume.js";
import { attempt } from "./values/errors.js";

/**
 * The part of a client that resumes its session after a reload of the page, if the browser allows it to store the state.
 * @type {import("./types/api.js").ReloadPart}
 */
export const reload = {
  resume,
  invitations: (page) => new FrameStore("waybridge", page),
  store: (client, { keep = "reload" }) => {
    const { clock, access: { url, frame }, info: { name } } = client;
    if (keep !== "reload" || url === undefined) return undefined;
    const snapshot = () => {
      const session = client.resumption.snapshot;
      return session && { ...session, hosts: client.hosts?.declarations ?? [], topics: client.events?.subscribedTopics ?? [] };
    };
    /** @type {any} */
    const page = globalThis;
    // The browser denies storage to a sandboxed frame.
    const isPossible = attempt(() => page.document !== undefined && page.sessionStorage !== undefined);
    return isPossible ? new ReloadStore({ url, name, frame }, clock, snapshot, page) : undefined;
  },
};
