import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Prints what the server's own tasks have left behind, a line for each. */
const READ = `
import sqlite3, sys
for load, number in sqlite3.connect(sys.argv[1]).execute("select load, number from effects order by rowid"):
    print(load, number)
`;

/** What was called, and what became of it: at the end it is compared with what was done, as the disk has it. */
export class Ledger {
  /** By load and number. */
  #calls = new Map();
  /** The last call of each load whose result came in its turn. */
  #last = new Map();
  #run;

  constructor(run) {
    this.#run = run;
  }

  /** `kind`: `task` of the host, `effect` of the server, `page`; `isPrompt`: its result comes in its turn. */
  made(load, number, { kind, isKeyed, isPrompt }) {
    const call = { name: `${load} ${number}`, load, number, kind, isKeyed, isPrompt, how: undefined };
    this.#calls.set(call.name, call);
    return call;
  }

  /** `how`: `result`, `unknown`, `refused` before anything was done, `gone` with its page. */
  ended(call, how, isAdopted) {
    if (call.how !== undefined) this.#run.fault(`${call.name} has ended twice: ${call.how}, ${how}`);
    call.how = how;
    if (how !== "result" || !call.isPrompt || isAdopted) return;
    if (call.number < (this.#last.get(call.load) ?? 0)) this.#run.fault(`the result of ${call.name} came after that of ${this.#last.get(call.load)}`);
    this.#last.set(call.load, call.number);
  }

  /** How many have ended how. */
  count(how) {
    return [...this.#calls.values()].filter((call) => call.how === how).length;
  }

  /** Compares; gives what was done by the host and by the server, in their order. */
  check(tasks, effects) {
    const { isKilling } = this.#run;
    const fault = (text) => this.#run.fault(text);
    const done = { task: names(readFileSync(tasks, "utf8")), effect: existsSync(effects) ? names(execFileSync("python3", ["-c", READ, effects], { encoding: "utf8", maxBuffer: 1 << 30 })) : [] };
    const times = new Map();
    for (const [kind, all] of Object.entries(done)) {
      for (const name of all) {
        if (this.#calls.get(name)?.kind !== kind) fault(`${name} was done as ${kind}, and never called`);
        times.set(name, (times.get(name) ?? 0) + 1);
      }
    }
    for (const { name, kind, isKeyed, how } of this.#calls.values()) {
      const count = times.get(name) ?? 0;
      if (isKeyed && how !== "result") fault(`${name} has a key and no result (${how})`);
      if (kind === "page") continue;
      const isOnce = !isKeyed || kind === "effect" || !isKilling;
      if (isOnce && count > 1) fault(`${name} was done ${count} times`);
      if (how === "result" && count === 0) fault(`${name} has a result, and was not done`);
      if (how === "refused" && count > 0) fault(`${name} was refused, and done`);
    }
    this.#checkOrder(done.task);
    return done;
  }

  /** Calls without a key are done in their order; one with a key, that is asked again, stands behind what came meanwhile. */
  #checkOrder(done) {
    const [last, lastPlain] = [new Map(), new Map()];
    let disorder = 0;
    for (const call of done.map((name) => this.#calls.get(name)).filter(Boolean)) {
      if (call.number < (last.get(call.load) ?? 0)) disorder += 1;
      last.set(call.load, call.number);
      if (call.isKeyed) continue;
      if (call.number < (lastPlain.get(call.load) ?? 0)) this.#run.fault(`${call.name} was done after ${lastPlain.get(call.load)}`);
      lastPlain.set(call.load, call.number);
    }
    if (!this.#run.isKilling && disorder > this.#run.counts.again) this.#run.fault(`${disorder} tasks were not done in the order of their calls`);
  }
}

const names = (text) => text.split("\n").filter(Boolean);
