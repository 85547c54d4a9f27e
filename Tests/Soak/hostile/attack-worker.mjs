// The thread of the hostile clients: runs one attack after another, until the run is over.
import { parentPort, workerData } from "node:worker_threads";
import { Random } from "../random.mjs";
import { hasCredentials } from "../credentials.mjs";
import { AUTHENTICATED, HEAVY, WAITING } from "./attacks.mjs";
import { RIGHTS } from "./rights.mjs";
import { SESSIONS } from "./sessions.mjs";

/** Maximum duration of an attack; its clients are then closed. */
const MAX_ATTACK = 20_000;
const { url, seed, timeout, only } = workerData;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The context of one attack, and its reports. */
class Context {
  url = url;
  timeout = timeout;
  attackers = new Set();
  counts = {};
  hasEnded = false;
  /** Codes of errors and closes that the attack provokes. */
  allowed = [];
  pause = pause;
  static #end = () => {};
  static over = new Promise((resolve) => (Context.#end = resolve));
  static isOver = false;
  over = Context.over;

  constructor(name) {
    this.name = name;
  }

  static end() {
    Context.isOver = true;
    Context.#end();
  }

  get isOver() {
    return Context.isOver || this.hasEnded;
  }

  allow(...codes) {
    this.allowed.push(...codes);
  }

  count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Returns a value that the attack cannot do without; throws if it is missing, because nothing would be tried then. */
  need(value, what) {
    if (value === undefined || value === null || value === false) throw new Error(`the attack was not possible: ${what}`);
    return value;
  }

  fault(text) {
    parentPort.postMessage({ fault: `${this.name}: ${text}` });
  }
}

async function attack(name, work) {
  const context = new Context(name);
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, MAX_ATTACK)));
  await Promise.race([work(context), late, Context.over]).catch((error) => context.fault(error.stack));
  clearTimeout(timer);
  // An attack that the end of the run has cut short does not count as tried.
  const hasEnded = !Context.isOver;
  context.hasEnded = true;
  await Promise.all([...context.attackers].map((attacker) => attacker.leave()));
  parentPort.postMessage({ attack: name, counts: context.counts, hasEnded });
}

async function lane(attacks, name, begin) {
  const random = new Random(seed, name);
  const known = Object.entries(attacks).filter(([name]) => only === undefined || only.includes(name));
  parentPort.postMessage({ attacks: known.map(([name]) => name) });
  while (known.length > 0 && !Context.isOver) {
    // Each attack once, in an order that the seed determines, and then again.
    const order = known.map((entry) => [random.fraction(), entry]).sort(([one], [other]) => one - other);
    for (const [, [name, work]] of order) {
      if (Context.isOver) return;
      begin(name);
      await attack(name, work);
      // The remaining clients of an attack belong to that attack.
      await Promise.race([pause(500), Context.over]);
    }
  }
}

parentPort.once("message", () => Context.end());
await Promise.all([
  lane(hasCredentials() ? { ...HEAVY, ...AUTHENTICATED } : HEAVY, "heavy", (name) => parentPort.postMessage({ during: name })),
  lane(WAITING, "waiting", () => {}),
  lane(hasCredentials() ? { ...RIGHTS, ...SESSIONS } : {}, "rights", () => {}),
]);
parentPort.postMessage({ isOver: true });
