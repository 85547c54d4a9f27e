// The Dart client, as translated, against a real server: sockets are those of Node's package `ws`.
// @ts-ignore: there are no types of it at hand
import { createRequire } from "node:module";
const { WebSocket } = createRequire("file:///")("/usr/share/nodejs/ws");

class NodeSocket {
  declare brandBridgeSocket: void;
  private socket: any;
  private incoming = StreamController.make<{} | null>();
  private opened = Completer.make<void>();
  private code: number | null = null;
  constructor(url: string, protocols: string[]) {
    this.socket = new WebSocket(url, protocols);
    this.opened.$future().ignore();
    this.socket.on("open", () => this.opened.complete());
    this.socket.on("message", (data: any) => this.incoming.add(String(data)));
    this.socket.on("error", (error: {}) => this.opened.$isCompleted() || this.opened.completeError(error));
    this.socket.on("close", (code: number) => { this.code = code; void this.incoming.close(); });
  }
  $ready() { return this.opened.$future(); }
  $stream() { return this.incoming.$stream(); }
  $protocol() { return this.socket.protocol || null; }
  $closeCode() { return this.code; }
  $closeReason() { return ""; }
  add(text: string) { this.socket.send(text); }
  close(code: number, reason: string) { this.socket.close(code, reason); }
  cut() { this.socket.terminate(); }
}
const sockets: NodeSocket[] = [];
const connect: Connector = (url, protocols) => {
  const made = new NodeSocket(String(url), protocols);
  sockets.push(made);
  return made as unknown as BridgeSocket;
};
function bridge(name: string, join: Join | null = null) {
  const quick = ReconnectOptions.new$ReconnectOptions$({ minDelay: Duration.make({ milliseconds: 20 }) });
  return Bridge.new$Bridge$(
    BridgeOptions.new$BridgeOptions$({ url: DartUri.parse(process.env.WAYBRIDGE_URL), name, reconnect: quick, join: join && (async () => join) }), connect);
}

test("a page, a task, a result and a lost connection", async () => {
  const shell = bridge("shell");
  const closed: string[] = [];
  const opened: string[] = [];
  class Pages extends PageHost {
    override async open(page: BridgePage) { opened.push(page.$id()); }
    override async close(page: BridgePage, reason: string) { closed.push(reason); }
  }
  const host = new Pages();
  shell.host("native", host);
  shell.task("action://toast", async (params, call) => { call.progress(1); return $at(params, "text"); });
  const info = await shell.$ready();
  const page = bridge("page", Join.new$Join$(info.$session(), info.$joinToken() ?? ""));
  const outcome = page.open("native://address/:id", { params: $mapping<string, {} | null>([["id", 7]]) });
  while (opened.length === 0) await pumpEventQueue();
  expect(await page.invoke("action://toast", { params: $mapping<string, {} | null>([["text", "hi"]]) }), "hi");
  // Both lose their connections, and go on.
  for (const socket of [...sockets]) socket.cut();
  expect(await page.invoke("action://toast", { params: $mapping<string, {} | null>([["text", "again"]]) }), "again");
  expect(sockets.length, 4);
  const change = await shell.finish({ page: opened[0], result: $mapping<string, {} | null>([["city", "Ulm"]]) });
  expect(change.$closed(), opened);
  const ended = await outcome;
  expect([ended.$outcome(), ended.$data()], ["finished", new Map([["city", "Ulm"]])]);
  expect(closed, ["finished"]);
  expect((await page.canOpen("native://address/7")).$canOpen(), true);
  expect(await page.supports("page.call"), true);
  expect((await page.explain("native://address/7")) instanceof Map, true);
  let refused: unknown;
  try { await page.invoke("action://nowhere"); } catch (error) { refused = error; }
  expect(refused instanceof RouteNotFound, true);
  await page.close();
  await shell.close();
});
