// @ts-check
import { readFileSync } from "node:fs";
import { FakeSocket } from "./fake-socket.js";

/** @typedef {[from: string, event: string, to: string]} Transition */
/** @typedef {{initial: string, states: Record<string, {shown?: string}>, transitions: Transition[]}} Machine */

/** @type {Record<string, Machine>} the state machines of clients, as protocol/states.json defines them for all languages */
export const MACHINES = JSON.parse(readFileSync(new URL("../../protocol/states.json", import.meta.url), "utf8"));

/**
 * The transitions that occurred, each as a string.
 * @type {Record<string, Set<string>>}
 */
export const seen = { link: new Set(), call: new Set(), page: new Set() };

/** The state of a client by its observed events. A transition that the table does not have is an error. */
export class StateTrace {
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
 * Listeners for sent messages.
 * @type {Set<(message: any) => void>}
 */
const listeners = new Set();

/** A socket that reports its messages as they are sent. */
export class ObservedSocket extends FakeSocket {
  /**
   * @override
   * @param {string} text
   */
  send(text) {
    super.send(text);
    for (const listener of listeners) listener(JSON.parse(text));
  }
}

/** @param {(message: any) => void} listener called with each sent message */
export function onSent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const CHANGES = { open: "entered", waiting: "lost", connecting: "retry", closed: "ended" };

/**
 * Follows a bridge's link from its start.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 */
export function followLink(bridge) {
  const trace = new StateTrace("link");
  const undo = onSent(({ method }) => {
    if (method === "session.open") trace.step("opens");
    if (method === "session.resume") trace.step("resumes");
  });
  bridge.addEventListener("statechange", (event) => {
    const { state, lost } = /** @type {any} */ (event).detail;
    // Lost calls are reported without a change of the state.
    if (lost?.reason !== "server") trace.step(Reflect.get(CHANGES, state));
    if (MACHINES.link.states[trace.state].shown !== bridge.state) throw new Error(`${trace.state} is shown as ${bridge.state}`);
    if (state === "closed") undo();
  });
  return trace;
}

/**
 * Opens a page and follows that call.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 * @param {{key?: string, timeout?: number}} [options]
 */
export function followCall(bridge, options) {
  const trace = new StateTrace("call");
  const abort = new AbortController();
  /** @type {any} */
  let first;
  const undo = onSent(({ method, id, seq, params }) => {
    // A call that is late is cancelled once more.
    if (method === "$/cancelRequest" && params.id === first?.id && abort.signal.aborted && trace.state !== "cancelling") trace.step("cancel");
    if (method !== "router.open" || (first !== undefined && first.id !== id)) return;
    if (first !== undefined && first.session !== bridge.session?.session) trace.step("again");
    // On another connection of the same session it is the same message.
    else if (first !== undefined && first.seq === seq) return;
    first = { id, seq, session: bridge.session?.session };
    trace.step("send");
  });
  const onProgress = (/** @type {any} */ value) => void (value.opened !== undefined && trace.step("opened"));
  const settled = bridge.open("native://a", {}, { ...options, signal: abort.signal, onProgress }).then(
    () => trace.step("answer"),
    (error) => trace.step(first === undefined && abort.signal.aborted ? "cancel" : failed(error)),
  ).finally(undo);
  return { trace, settled, cancel: () => abort.abort(), id: () => first.id };
}

/** @param {any} error */
function failed({ code, message, kind }) {
  // The client itself has settled the call.
  if (code === 2408 || / was cancelled$/.test(message)) return "late";
  return kind === "closed" || /The session was lost/.test(message) ? "fail" : "answer";
}

/** A host whose pages are followed, each from its opening; `opening` settles the openings that wait. */
export function followedHost() {
  /** @type {Map<string, StateTrace>} */
  const traces = new Map();
  /** @type {{show: () => void, refuse: (error: Error) => void}[]} */
  const opening = [];
  const host = {
    /**
     * @param {{id: string}} page
     * @param {{signal: AbortSignal}} call
     */
    open: async ({ id }, { signal }) => {
      const trace = new StateTrace("page");
      traces.set(id, trace);
      signal.addEventListener("abort", () => trace.step("close"), { once: true });
      try {
        await new Promise((show, refuse) => opening.push({ show: () => show(undefined), refuse }));
      } catch (error) {
        trace.step("refused");
        throw error;
      }
      trace.step("shown");
    },
    /** @param {{id: string}} page */
    close: ({ id }) => traces.get(id)?.step("closed"),
  };
  return { host, traces, opening };
}
