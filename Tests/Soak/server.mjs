import { execFile, spawn } from "node:child_process";
import { readdirSync, readlinkSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** The gauges of `/metrics` for resources of clients. All are zero when the clients have left. */
const GAUGES = ["sessions", "clients", "hosts", "pages", "calls_in_flight", "pending_requests"];

/** The running servers: a server must not outlive its test. */
const running = new Set();
globalThis.process.once("exit", () => running.forEach((process) => process.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) globalThis.process.once(signal, () => globalThis.process.exit(1));

/** The server under test, a process of its own. */
export class Server {
  /**
   * Starts the command and waits for its first line; `complain` receives what it writes to standard error. A client that is lost
   * is removed soon, unless `variables` say otherwise. `port` 0 is any free port.
   */
  static async start(command, options, complain, variables = {}, port = 0) {
    const env = { ...globalThis.process.env, WAYBRIDGE_LIMITS_RESUME_MS: "1000", WAYBRIDGE_DRAIN: "0", ...variables };
    const process = spawn(command, [...options, "--port", `${port}`], { env, stdio: ["ignore", "pipe", "pipe"] });
    createInterface({ input: process.stderr }).on("line", (line) => complain(`the server says ${line}`));
    running.add(process);
    process.once("exit", () => running.delete(process));
    const lines = createInterface({ input: process.stdout });
    const line = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      process.once("error", reject);
      process.once("exit", (code) => reject(new Error(`${command} ended with ${code}`)));
    });
    const address = /^listening on (http:\S+)$/.exec(line)?.[1];
    if (!address) throw new Error(`the first line was ${line}`);
    return new Server(process, address);
  }

  constructor(process, address) {
    this.process = process;
    this.address = address;
    this.ended = new Promise((resolve) => process.once("exit", (code, signal) => resolve(code ?? signal)));
    this.hasEnded = false;
    /** Whether it was told to end. */
    this.isEnding = false;
    void this.ended.then(() => (this.hasEnded = true));
  }

  /** The URL of a WebSocket endpoint. */
  url(path) {
    return this.address.replace("http:", "ws:") + path;
  }

  /** Resident memory in KiB. */
  memory() {
    const status = readFileSync(`/proc/${this.process.pid}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  }

  /** Processor time since the start, in seconds. */
  processorTime() {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, "latin1").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** The number of open descriptors, except timers: the runtime creates one when it first needs it, and keeps it. */
  descriptors() {
    const folder = `/proc/${this.process.pid}/fd`;
    return readdirSync(folder).filter((name) => this.#leadsTo(`${folder}/${name}`) !== "anon_inode:[timerfd]").length;
  }

  /** The target of a link in /proc; undefined if it no longer exists. */
  #leadsTo(link) {
    try {
      return readlinkSync(link);
    } catch {
      return undefined;
    }
  }

  /** The resources that the server still holds, by gauge; `inside` as for `metrics`. */
  held(inside) {
    return this.metrics(GAUGES, inside);
  }

  /** Metrics by name, each the sum of its series; `inside`: the words of a command prefix that runs a command where the server runs. */
  async metrics(names, inside = []) {
    const text = await (inside.length > 0 ? this.#metricsInside(inside) : this.#metrics());
    return Object.fromEntries(
      names.map((name) => {
        const lines = [...text.matchAll(new RegExp(`^waybridge_${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))];
        if (lines.length === 0) throw new Error(`/metrics has no waybridge_${name}`);
        return [name, lines.reduce((sum, line) => sum + Number(line[1]), 0)];
      }),
    );
  }

  async #metrics() {
    const answer = await fetch(`${this.address}/metrics`);
    if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
    return answer.text();
  }

  /** The server reports them to programs on its own machine, over its loopback interface. */
  async #metricsInside([command, ...words]) {
    const address = this.address.replace("0.0.0.0", "127.0.0.1");
    const { stdout } = await promisify(execFile)(command, [...words, "curl", "-sfm", "10", `${address}/metrics`]);
    return stdout;
  }

  /** Ends the server like a service manager; returns its exit code. */
  stop() {
    this.isEnding = true;
    this.process.kill("SIGTERM");
    return this.ended;
  }

  /** Ends it like a crash. */
  kill() {
    this.isEnding = true;
    this.process.kill("SIGKILL");
    return this.ended;
  }
}

/** The growth of a series along its line of best fit, relative to its mean. */
export function slope(series) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = (series.length - 1) / 2;
  const height = mean(series);
  let above = 0;
  let below = 0;
  series.forEach((value, index) => {
    above += (index - middle) * (value - height);
    below += (index - middle) ** 2;
  });
  return ((above / below) * (series.length - 1)) / height;
}
