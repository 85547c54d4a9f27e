// @ts-check
// Pings a server from a thread of its own, whose event loop nothing else delays. Sends the milliseconds of each ping when it is told to end.
import { parentPort, workerData } from "node:worker_threads";
import { nodeWebSockets } from "./node-ws.js";

const { WebSocket } = nodeWebSockets();
const socket = new WebSocket(workerData);
/** @type {number[]} */
const times = [];
let start = 0;
const ping = () => {
  start = performance.now();
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: times.length, method: "$/ping" }));
};
socket.addEventListener("open", () => {
  ping();
  parentPort.postMessage("open");
});
socket.addEventListener("message", () => {
  times.push(performance.now() - start);
  setTimeout(ping, 1);
});
parentPort.on("message", () => {
  parentPort.postMessage(times);
  socket.close();
  parentPort.close();
});
