// What the thread of the hostile clients does: one attack after another, until it is told that the run is over.
import { parentPort, workerData } from "node:worker_threads";
import { Random } from "../random.mjs";
import { HEAVY, WAITING } from "./attacks.mjs";

/** How long an attack may take; its clients are then taken away. */
const MAX_ATTACK = 20_000;
const { url, seed, patience, only } = workerData;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What one attack knows, and what it tells. */
class Context {
  url = url;
  patience = patience;
  attackers = new Set();
  counts = {};
  hasEnded = false;
  /** Error codes that the attack provokes. */
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
  context.hasEnded = true;
  await Promise.all([...context.attackers].map((attacker) => attacker.leave()));
  parentPort.postMessage({ attack: name, counts: context.counts });
}

async function lane(attacks, name, begin) {
  const random = new Random(seed, name);
  const known = Object.entries(attacks).filter(([name]) => only === undefined || only.includes(name));
  parentPort.postMessage({ attacks: known.map(([name]) => name) });
  while (known.length > 0 && !Context.isOver) {
    // Each once, in an order of the seed's, and again.
    const order = known.map((entry) => [random.fraction(), entry]).sort(([one], [other]) => one - other);
    for (const [, [name, work]] of order) {
      if (Context.isOver) return;
      begin(name);
      await attack(name, work);
      // What the attack leaves behind is its own.
      await Promise.race([pause(500), Context.over]);
    }
  }
}

parentPort.once("message", () => Context.end());
await Promise.all([
  lane(HEAVY, "heavy", (name) => parentPort.postMessage({ during: name })),
  lane(WAITING, "waiting", () => {}),
]);
parentPort.postMessage({ isOver: true });
