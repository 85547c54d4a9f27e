// @ts-check
import { bridgeError, cancelled, textOf } from "../values/errors.js";
import { codeOf } from "../codes.js";
import { declarationOf } from "../uri/uri-map.js";
import { coverage, refused, stopping } from "./interceptors.js";

/** @typedef {import("./app.js").MockGate} MockGate */

/**
 * The state of a gate. While its page is shown, calls wait.
 * @typedef {object} GateState
 * @property {string} name
 * @property {MockGate} gate
 * @property {(uri: string) => boolean} covers
 * @property {boolean} isOpen
 * @property {AbortController} [asked] cancels its page
 * @property {{proceed: () => void, refuse: (error: Error) => void}[]} waiting in the order in which they came
 */

/** The gates of one session of a mocked app. Each is closed at first. */
export class MockGates {
  /** @type {GateState[]} in the order in which a call passes them */ #states;
  #session;

  /**
   * @param {[string, MockGate][]} gates
   * @param {object} session
   * @param {(call: {uri: string, params: any, exts: any}, signal: AbortSignal) => Promise<import("../types/api.js").Outcome>} session.open opens the page of a gate
   * @param {(gate: string, open: boolean) => void} session.changed reports a gate that has opened or closed
   */
  constructor(gates, session) {
    this.#session = session;
    this.#states = gates.map(([name, gate]) => ({ name, gate, covers: coverage(gate.routes.map(declarationOf)), isOpen: false, waiting: [] }));
  }

  get states() {
    return this.#states.map(({ name, isOpen }) => ({ name, open: isOpen }));
  }

  /**
   * Waits until all gates of a call are open. Throws if one of them refuses it.
   * @param {string} uri
   * @param {AbortSignal} signal
   */
  async pass(uri, signal) {
    const needed = this.#states.filter(({ covers }) => covers(uri));
    for (let state; (state = needed.find(({ isOpen }) => !isOpen)) !== undefined; ) await this.#wait(state, uri, signal);
  }

  /**
   * Opens or closes a gate.
   * @param {string} name
   * @param {boolean} open
   */
  set(name, open) {
    const state = this.#states.find((each) => each.name === name);
    if (state === undefined) throw bridgeError(codeOf.noRoute, `There is no gate "${name}"`, { data: { kind: "noGate", retryable: false } });
    if (state.isOpen === open) return;
    if (open) return this.#open(state);
    state.isOpen = false;
    this.#session.changed(name, false);
  }

  /**
   * @param {GateState} state
   * @param {string} uri
   * @param {AbortSignal} signal
   */
  async #wait(state, uri, signal) {
    const { promise, stop } = stopping(signal);
    /** @type {Promise<void>} */
    const passed = new Promise((resolve) => state.waiting.push({ proceed: resolve, refuse: stop }));
    if (state.asked === undefined) void this.#ask(state, uri);
    return Promise.race([passed, promise]);
  }

  /**
   * Opens the page of a gate, and opens or refuses by its result.
   * @param {GateState} state
   * @param {string} uri that of the first call that waits
   */
  async #ask(state, uri) {
    const { name, gate } = state;
    const asked = (state.asked = new AbortController());
    let refusal;
    try {
      const outcome = await this.#session.open({ uri: gate.opens, params: gate.params, exts: { gate: { name, uri } } }, asked.signal);
      refusal = refusalOf(gate, outcome);
    } catch (error) {
      refusal = textOf(error);
    }
    // Otherwise the gate was opened meanwhile.
    if (state.asked !== asked) return;
    if (refusal === undefined) return this.#open(state);
    state.asked = undefined;
    for (const { refuse } of state.waiting.splice(0)) refuse(refused("gate", name, refusal));
  }

  /** @param {GateState} state */
  #open(state) {
    const { asked } = state;
    state.asked = undefined;
    state.isOpen = true;
    this.#session.changed(state.name, true);
    for (const { proceed } of state.waiting.splice(0)) proceed();
    asked?.abort(cancelled());
  }
}

/**
 * Returns why the result of its page does not open a gate.
 * @param {MockGate} gate
 * @param {import("../types/api.js").Outcome} outcome
 * @returns {string | undefined} `undefined` if it does
 */
function refusalOf({ opens, passes }, { outcome, code, message, ...rest }) {
  if (outcome === "failed") return `${opens} failed`;
  if (outcome !== "finished") return `${opens} was ${outcome}`;
  if (code !== 0) return `${opens} finished with the code ${code}${message === "" ? "" : `: ${message}`}`;
  return passes === undefined || passes(/** @type {any} */ (rest).data) ? undefined : `the result of ${opens} is not accepted`;
}
