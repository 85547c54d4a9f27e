// The watcher's thread: two clients of a session make the measured calls in turn.
import { parentPort, workerData } from "node:worker_threads";
import { nodeWebSockets } from "../../web/test/node-ws.js";
import { headers } from "./credentials.mjs";

const { WebSocket } = nodeWebSockets();
const PAUSE = 20;
/** Maximum number of waiting calls; a server that hangs gets no more. */
const MAX_WAITING = 16;
const { url, timeout } = workerData;

const fault = (text) => parentPort.postMessage({ fault: text });
/** Milliseconds of each call, by the attack that was running. */
const times = new Map();
const waiting = new Set();
let during = "";
let isOver = false;

class Client {
  #lastID = 0;
  #calls = new Map();

  constructor(name) {
    this.name = name;
    this.socket = new WebSocket(url, ["waybridge.v1"], { perMessageDeflate: false, headers: headers("good") });
    this.opened = new Promise((resolve) => this.socket.once("open", resolve));
    this.socket.on("error", (error) => fault(`${name}: ${error.message}`));
    this.socket.on("close", (code) => isOver || fault(`${name} was closed with ${code} during ${during}`));
    this.socket.on("message", (data) => this.#receive(JSON.parse(data.toString())));
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** `whenShown`: the opening of a page, which is measured until the page is shown. */
  async request(method, params, whenShown) {
    const call = { method, begun: performance.now(), whenShown };
    const id = (this.#lastID += 1);
    waiting.add(call);
    const answered = new Promise((resolve) => (call.resolve = resolve));
    this.#calls.set(id, call);
    this.send({ id, method, params });
    const answer = await answered;
    if (answer.error) fault(`${method}: ${JSON.stringify(answer.error)} during ${during}`);
    return answer.result;
  }

  #receive({ id, method, params, ...answer }) {
    if (method === "$/progress") {
      const call = this.#calls.get(params.id);
      measured(call);
      call.whenShown(params.value.opened.page);
    } else if (method !== undefined) {
      if (id !== undefined) this.send({ id, result: null });
    } else {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      measured(call);
      call.resolve(answer);
    }
  }
}

function measured(call) {
  if (!waiting.delete(call)) return;
  if (!times.has(during)) times.set(during, []);
  times.get(during).push(performance.now() - call.begun);
}

function report() {
  for (const call of waiting) if (performance.now() - call.begun > timeout) measured(call);
  return [...times].map(([name, each]) => {
    const sorted = each.sort((one, other) => one - other);
    const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    return { during: name, calls: sorted.length, median: at(0.5), p99: at(0.99), max: sorted.at(-1) };
  });
}

const shell = new Client("shell");
const caller = new Client("caller");
await Promise.all([shell.opened, caller.opened]);
const open = { protocol: ["1.0"], client: { name: "watcher", version: "1" } };
const hosts = [{ scheme: "native", kind: "page" }, { patterns: ["action://toast"], kind: "task" }];
const { session, joinToken } = await shell.request("session.open", { ...open, hosts });
await caller.request("session.open", { ...open, join: { session, token: joinToken } });

/** Whether the page is open: one at a time, because a page that finishes closes those above it. */
let isShown = false;
async function openAndFinish() {
  if (isShown) return;
  isShown = true;
  await caller.request("router.open", { uri: "native://home" }, (page) => shell.request("navigation.finish", { page }));
  isShown = false;
}

const ACTIONS = [
  () => caller.request("$/ping"),
  () => caller.request("router.canOpen", { uri: "native://home" }),
  () => caller.request("router.invoke", { uri: "action://toast" }),
  openAndFinish,
];
let turns = 0;
const clock = setInterval(() => {
  if (waiting.size < MAX_WAITING) void ACTIONS[(turns += 1) % ACTIONS.length]();
}, PAUSE);

parentPort.on("message", (message) => {
  if (message.during !== undefined) during = message.during;
  if (!message.isOver) return;
  isOver = true;
  clearInterval(clock);
  parentPort.postMessage({ report: report() });
  shell.socket.terminate();
  caller.socket.terminate();
  parentPort.close();
});
parentPort.postMessage({ isReady: true });
