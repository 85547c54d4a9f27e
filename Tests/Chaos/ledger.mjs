import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Prints what the server's own tasks have stored, one line for each. */
const READ = `
import sqlite3, sys
for load, number in sqlite3.connect(sys.argv[1]).execute("select load, number from effects order by rowid"):
    print(load, number)
`;

/** The calls and their ends. At the end they are compared with the stored effects. */
export class Ledger {
  /** By load and number. */
  #calls = new Map();
  /** The last call of each load whose result arrived in order. */
  #last = new Map();
  #run;

  constructor(run) {
    this.#run = run;
  }

  /** `kind`: `task` of the host, `effect` of the server, or `page`; `isPrompt`: its result arrives in order. */
  made(load, number, { kind, isKeyed, isPrompt }) {
    const call = { name: `${load} ${number}`, load, number, kind, isKeyed, isPrompt, how: undefined };
    this.#calls.set(call.name, call);
    return call;
  }

  /** `how`: `result`, `unknown`, `refused` before it had any effect, or `gone` with its page. */
  ended(call, how, isAdopted) {
    if (call.how !== undefined) this.#run.fault(`${call.name} has ended twice: ${call.how}, ${how}`);
    call.how = how;
    if (how !== "result" || !call.isPrompt || isAdopted) return;
    if (call.number < (this.#last.get(call.load) ?? 0)) this.#run.fault(`the result of ${call.name} came after that of ${this.#last.get(call.load)}`);
    this.#last.set(call.load, call.number);
  }

  /** The number of calls by their end. */
  count(how) {
    return [...this.#calls.values()].filter((call) => call.how === how).length;
  }

  /** Compares the calls with what the host and the server have done, in order. */
  check(tasks, effects) {
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
      // The host lives as long as the run, so it does each task once, whatever happens to servers and connections.
      if (count > 1) fault(`${name} was done ${count} times`);
      if (how === "result" && count === 0) fault(`${name} has a result, and was not done`);
      if (how === "refused" && count > 0) fault(`${name} was refused, and done`);
    }
    this.#checkOrder(done.task);
    return done;
  }

  /** Calls are done in order. A call with a key that was repeated can follow the calls that were made meanwhile. */
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
