// A bare server on Node's `ws`, for comparison: node node_ws.js PORT (NODE_PATH has to contain ws). It parses each message
// as JSON and responds with the result of such a task, as JSON.
const { WebSocketServer } = require("ws");

const server = new WebSocketServer({
  host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: false, clientTracking: false, backlog: 2048,
});
server.on("connection", (socket, request) => {
  request.socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("message", (text) => {
    const { id, params } = JSON.parse(text);
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: params.params }));
  });
});
process.on("SIGTERM", () => process.exit(0));
