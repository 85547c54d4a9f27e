// @ts-check
import { readFileSync } from "node:fs";
import { FakeSocket } from "./fake-socket.js";

/** @typedef {[from: string, event: string, to: string]} Transition */
/** @typedef {{initial: string, states: Record<string, {shown?: string}>, transitions: Transition[]}} Machine */

/** @type {Record<string, Machine>} what a client does, as protocol/states.json has it for the clients of all languages */
export const MACHINES = JSON.parse(readFileSync(new URL("../../protocol/states.json", import.meta.url), "utf8"));

/**
 * The transitions that were seen, each as a text.
 * @type {Record<string, Set<string>>}
 */
export const seen = { link: new Set(), call: new Set(), page: new Set() };

/** Goes along a table by what is seen of a client; what the table does not have is an error. */
export class Walk {
  #name;
  /** @type {string} */ state;

  /** @param {"link" | "call" | "page"} name */
  constructor(name) {
    this.#name = name;
    this.state = MACHINES[name].initial;
  }

  /** @param {string} event */
  step(event) {
    const found = MACHINES[this.#name].transitions.find(([from, each]) => from === this.state && each === event);
    if (found === undefined) throw new Error(`${this.#name}: ${event} in the state ${this.state}`);
    seen[this.#name].add(found.join(" "));
    this.state = found[2];
  }
}

/**
 * Who is told of what is sent.
 * @type {Set<(message: any) => void>}
 */
const listeners = new Set();

/** A socket whose messages are seen as they are sent. */
export class SeenSocket extends FakeSocket {
  /**
   * @override
   * @param {string} text
   */
  send(text) {
    super.send(text);
    for (const listener of listeners) listener(JSON.parse(text));
  }
}

/** @param {(message: any) => void} listener told of each message that is sent */
export function onSent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const CHANGES = { open: "entered", waiting: "lost", connecting: "retry", closed: "ended" };

/**
 * Follows a bridge's link from its beginning.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 */
export function followLink(bridge) {
  const walk = new Walk("link");
  const undo = onSent(({ method }) => {
    if (method === "session.open") walk.step("opens");
    if (method === "session.resume") walk.step("resumes");
  });
  bridge.addEventListener("statechange", (event) => {
    const { state, lost } = /** @type {any} */ (event).detail;
    // Calls that turn out lost are told of without a change.
    if (lost?.reason !== "server") walk.step(Reflect.get(CHANGES, state));
    if (MACHINES.link.states[walk.state].shown !== bridge.state) throw new Error(`${walk.state} is shown as ${bridge.state}`);
    if (state === "closed") undo();
  });
  return walk;
}

/**
 * Opens a page, and follows that call.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 * @param {{key?: string, timeout?: number}} [options]
 */
export function followCall(bridge, options) {
  const walk = new Walk("call");
  const abort = new AbortController();
  /** @type {any} */
  let first;
  const undo = onSent(({ method, id, seq, params }) => {
    // A call that is late is taken back once more.
    if (method === "$/cancelRequest" && params.id === first?.id && abort.signal.aborted && walk.state !== "cancelling") walk.step("cancel");
    if (method !== "router.open" || (first !== undefined && first.id !== id)) return;
    if (first !== undefined && first.session !== bridge.session?.session) walk.step("again");
    // On another connection of the same session it is the same message.
    else if (first !== undefined && first.seq === seq) return;
    first = { id, seq, session: bridge.session?.session };
    walk.step("send");
  });
  const onProgress = (/** @type {any} */ value) => void (value.opened !== undefined && walk.step("opened"));
  const settled = bridge.open("native://a", {}, { ...options, signal: abort.signal, onProgress }).then(
    () => walk.step("answer"),
    (error) => walk.step(first === undefined && abort.signal.aborted ? "cancel" : failed(error)),
  ).finally(undo);
  return { walk, settled, cancel: () => abort.abort(), id: () => first.id };
}

/** @param {any} error */
function failed({ code, message, kind }) {
  if (code === 2408) return "late";
  return kind === "closed" || /the session was lost/.test(message) ? "fail" : "answer";
}

/** A host of pages that are followed, each from its opening; `opening` settles what the last one waits for. */
export function followedHost() {
  /** @type {Map<string, Walk>} */
  const walks = new Map();
  /** @type {{show: () => void, refuse: (error: Error) => void}[]} */
  const opening = [];
  const host = {
    /**
     * @param {{id: string}} page
     * @param {{signal: AbortSignal}} call
     */
    open: async ({ id }, { signal }) => {
      const walk = new Walk("page");
      walks.set(id, walk);
      signal.addEventListener("abort", () => walk.step("close"), { once: true });
      try {
        await new Promise((show, refuse) => opening.push({ show: () => show(undefined), refuse }));
      } catch (error) {
        walk.step("refused");
        throw error;
      }
      walk.step("shown");
    },
    /** @param {{id: string}} page */
    close: ({ id }) => walks.get(id)?.step("closed"),
  };
  return { host, walks, opening };
}
