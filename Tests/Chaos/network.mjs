import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("network", import.meta.url));

/** The network of servers and engines: each runs in a network namespace of its own, or all on this machine's loopback interface. */
export class Network {
  /** Why there are no namespaces; undefined if there are. */
  missing;
  /** The counts of packets so far. */
  counts = {};
  #program;
  #lines;
  #addresses;
  #prefix = `wb${process.pid}`;
  #rules = new Set();

  /** `why` no namespaces are to be used; without it they are used if possible. */
  static async start(names, why) {
    const network = new Network();
    try {
      if (why !== undefined) throw new Error(why);
      await network.#start(names);
    } catch (error) {
      network.missing = error.message;
      network.#addresses = undefined;
    }
    return network;
  }

  /** The words of a command prefix that runs a command there. */
  inside(name) {
    return this.missing ? [] : ["ip", "netns", "exec", `${this.#prefix}-${name}`];
  }

  address(name) {
    return this.missing ? "127.0.0.1" : this.#addresses[name];
  }

  /** Adds rules, as `Tests/Chaos/network --help` describes them. Returns a function that removes them. */
  async rule(...rules) {
    for (const rule of rules) this.#rules.add(rule);
    await this.#send();
    return () => {
      for (const rule of rules) this.#rules.delete(rule);
      return this.#send();
    };
  }

  /** Ends the processes that still run there, and removes the namespaces. */
  async stop() {
    if (this.missing) return;
    const ended = new Promise((resolve) => this.#program.once("exit", resolve));
    this.#program.stdin.end();
    const code = await ended;
    if (code !== 0) throw new Error(`the network ended with ${code}`);
  }

  async #start(names) {
    const program = (this.#program = spawn(PROGRAM, [this.#prefix, ...names], { stdio: ["pipe", "pipe", "pipe"], detached: true }));
    // A program that has ended accepts no rules; its end is reported elsewhere.
    program.stdin.on("error", () => {});
    this.#lines = createInterface({ input: program.stdout });
    let why = "";
    program.stderr.on("data", (chunk) => (why += chunk));
    const line = await new Promise((resolve, reject) => {
      this.#lines.once("line", resolve);
      program.once("error", reject);
      program.once("close", () => reject(new Error(why.trim() || "the network has ended")));
    });
    this.#addresses = JSON.parse(line);
  }

  async #send() {
    const answered = new Promise((resolve) => this.#lines.once("line", resolve));
    this.#program.stdin.write(`${JSON.stringify([...this.#rules])}\n`);
    this.counts = JSON.parse(await answered);
  }
}
