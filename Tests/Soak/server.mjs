import { execFile, spawn } from "node:child_process";
import { readdirSync, readlinkSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** What `/metrics` tells of what the server holds for its clients; all of it is zero when they are gone. */
const GAUGES = ["sessions", "clients", "hosts", "pages", "calls_in_flight", "pending_requests"];

/** Those that are running: a server must not outlive its test. */
const running = new Set();
globalThis.process.once("exit", () => running.forEach((process) => process.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) globalThis.process.once(signal, () => globalThis.process.exit(1));

/** The server under test, a process of its own. */
export class Server {
  /**
   * Starts the command and waits for its first line; `complain` gets what it writes to standard error. Who is lost is gone
   * soon, unless `variables` say otherwise. `port` 0 is any free one.
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

  /** How many descriptors are open, but for timers: the runtime makes one when it first needs it, and keeps it. */
  descriptors() {
    const folder = `/proc/${this.process.pid}/fd`;
    return readdirSync(folder).filter((name) => this.#leadsTo(`${folder}/${name}`) !== "anon_inode:[timerfd]").length;
  }

  /** Where a link leads; nowhere for one that is gone by now. */
  #leadsTo(link) {
    try {
      return readlinkSync(link);
    } catch {
      return undefined;
    }
  }

  /** What the server still holds, by gauge; `inside`: the words of a command before, which runs one where the server is. */
  async held(inside = []) {
    const text = await (inside.length > 0 ? this.#metricsInside(inside) : this.#metrics());
    return Object.fromEntries(
      GAUGES.map((name) => {
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

  /** They are told to programs of the server's own machine, by its loopback. */
  async #metricsInside([command, ...words]) {
    const address = this.address.replace("0.0.0.0", "127.0.0.1");
    const { stdout } = await promisify(execFile)(command, [...words, "curl", "-sfm", "10", `${address}/metrics`]);
    return stdout;
  }

  /** Ends the server as a service manager does; gives its exit code. */
  stop() {
    this.process.kill("SIGTERM");
    return this.ended;
  }

  /** Ends it as a crash does. */
  kill() {
    this.process.kill("SIGKILL");
    return this.ended;
  }
}

/** By how much of its mean a series grows along the line that fits it best. */
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
