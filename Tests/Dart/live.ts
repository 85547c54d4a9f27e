// The translated Dart client with a real server; its sockets are those of Node's package `ws`.
// @ts-ignore: there are no types of it here
import { createRequire } from "node:module";
// @ts-ignore
import { after } from "node:test";
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
const bridges: Bridge[] = [];
// Also after a failed test, so that the process ends.
after(() => Promise.all(bridges.map((each) => each.close())));
function bridge(name: string, join: Join | null = null) {
  const quick = ReconnectOptions.new$ReconnectOptions$({ minDelay: Duration.make({ milliseconds: 20 }) });
  const made = Bridge.new$Bridge$(
    BridgeOptions.new$BridgeOptions$({ url: DartUri.parse(process.env.WAYBRIDGE_URL), name, reconnect: quick, join: join && (async () => join) }), connect);
  bridges.push(made);
  return made;
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
  // Both lose their connections, and resume.
  for (const socket of [...sockets]) socket.cut();
  expect(await page.invoke("action://toast", { params: $mapping<string, {} | null>([["text", "again"]]) }), "again");
  expect(sockets.length, 4);
  const change = await shell.finish({ page: opened[0], result: $mapping<string, {} | null>([["id", "a3"], ["name", "Home"], ["street", "Main Street 1"], ["city", "Ulm"]]) });
  expect(change.$closed(), opened);
  const ended = await outcome;
  expect([ended.$outcome(), ended.$data()], ["finished", new Map([["id", "a3"], ["name", "Home"], ["street", "Main Street 1"], ["city", "Ulm"]])]);
  expect(closed, ["finished"]);
  expect((await page.canOpen("native://address/7")).$canOpen(), true);
  expect(await page.supports("page.call"), true);
  expect((await page.explain("native://address/7")) instanceof Map, true);
  let refused: unknown;
  try { await page.invoke("action://nowhere"); } catch (error) { refused = error; }
  expect(refused instanceof RouteNotFoundException, true);
  await page.close();
  await shell.close();
});

declare function fetch(url: string, how: object): Promise<{ status: number; headers: Iterable<[string, string]>; arrayBuffer(): Promise<ArrayBuffer> }>;

test("a blob is sent and fetched, although connections are cut", async () => {
  const page = bridge("page");
  const info = await page.$ready();
  const shell = bridge("shell", Join.new$Join$(info.$session(), info.$joinToken() ?? ""));
  const cut = ["POST", "PATCH", "PATCH", "GET"];
  const methods: string[] = [];
  const http = {
    async send(request: BlobRequest) {
      const method = request.$method();
      methods.push(method);
      const body = request.$body().length > 0 ? Uint8Array.from(request.$body()) : undefined;
      const response = await fetch(String(request.$url()), { method, headers: Object.fromEntries(request.$headers()), body });
      const bytes = [...new Uint8Array(await response.arrayBuffer())];
      const isCut = cut[0] === method && cut.shift() !== undefined;
      // The server has carried it out, but the client does not know.
      if (isCut && method !== "GET") throw new Error("cut");
      const stream = StreamController.make<number[]>();
      if (bytes.length > 0) stream.add(bytes.slice(0, isCut ? 1000 : undefined));
      if (isCut) stream.addError(new Error("cut"));
      void stream.close();
      return BlobResponse.new$BlobResponse$(response.status, new Map(response.headers), stream.$stream());
    },
  } as unknown as BlobHttp;
  const retry = BlobRetryOptions.new$BlobRetryOptions$({ minDelay: Duration.make({ milliseconds: 1 }) });
  const [sending, fetching] = [page, shell].map((each) => Blobs.new$Blobs$(each, http, { retry }));
  const data = Array.from({ length: 300000 }, (_, at) => (at * 7) % 251);
  const source = StreamController.make<number[]>();
  for (let at = 0; at < data.length; at += 70000) source.add(data.slice(at, at + 70000));
  void source.close();
  const options = UploadOptions.new$UploadOptions$({ type: "image/png", name: "sea.png", partSize: 100000 });
  const reference = await sending.uploadStream(source.$stream(), { options });
  expect([reference.$size(), reference.$type(), reference.$name()], [300000, "image/png", "sea.png"]);
  expect(methods, ["POST", "POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH", "PATCH"]);
  shell.task("action://toast", async (params) => BlobReference.new$BlobReference$of($at(params, "photo")).$size());
  expect(await page.invoke("action://toast", { params: $mapping<string, {} | null>([["photo", reference]]) }), 300000);
  expect(await fetching.open(reference), data);
  const part = await fetching.open(reference, { options: DownloadOptions.new$DownloadOptions$({ start: 10, end: 20 }) });
  expect(part, data.slice(10, 20));
  expect(cut, []);
  await sending.remove(reference);
  let gone: unknown;
  try { await fetching.open(reference); } catch (error) { gone = error; }
  expect(gone instanceof RouteNotFoundException, true);
  await shell.close();
  await page.close();
});

test("the server reads whatever a client sends", async () => {
  const shell = bridge("shell");
  const random = RandomValues.new$RandomValues$(11);
  let hosted: {} | null = null;
  shell.task("action://toast", async (params, call) => {
    const value = $at(params, "value");
    call.progress(value);
    if (value !== null) return value;
    call.progress(hosted);
    if (random.below(2) === 0) throw ApplicationException.new$ApplicationException$(7, random.text(), { data: hosted });
    return hosted;
  });
  const info = await shell.$ready();
  const page = bridge("page", Join.new$Join$(info.$session(), info.$joinToken() ?? ""));
  let refused = 0, failed = 0, answered = 0;
  for (let count = 0; count < 500; count += 1) {
    hosted = random.value(5);
    const value = random.value(5);
    try {
      const options = CallOptions.new$CallOptions$({ key: random.below(8) === 0 ? `${count}${random.text()}` : null });
      const answer = await page.invoke("action://toast", { params: $mapping<string, {} | null>([["value", value]]), options });
      expect(answer, random.plain(value ?? hosted));
      answered += 1;
    } catch (error) {
      if (error instanceof InvalidParametersException) {
        refused += 1;
        continue;
      }
      // The result of the host could not be sent, or it has thrown an error.
      if (!(error instanceof BridgeException) || ![7, 2502].includes(error.$code())) throw error;
      failed += 1;
    }
  }
  expect(Math.min(refused, failed, answered) > 10, true);
  expect(sockets.filter((socket) => socket.$closeCode() === null).length, 2);
  await page.close();
  await shell.close();
});

test("a message that the server cannot read fails alone", async () => {
  const shell = bridge("shell");
  const info = await shell.$ready();
  const page = bridge("page", Join.new$Join$(info.$session(), info.$joinToken() ?? ""));
  shell.task("action://toast", async (params) => $at(params, "value"));
  const invoke = (value: {}) => page.invoke("action://toast", { params: $mapping<string, {} | null>([["value", value]]) });
  const codeOf = (call: Promise<unknown>) => call.then(() => 0, (error: BridgeException) => error.$code());
  expect(await invoke(0), 0);
  const reported: unknown[] = [];
  for (const each of [page, shell]) each.$errors().listen((error) => reported.push(error.$code()));
  const client = (page as any).$_client();
  const encoders = [client.$encoder(), (shell as any).$_client().$encoder()];
  for (const unreadable of ["\"\\ud83d\"", "\"\n\"", "[".repeat(130) + "]".repeat(130)]) {
    // The parts of a client that check its messages are made to write what they refuse.
    const corrupt = (part: any, name: string, word: string) => {
      const write = part[name];
      part[name] = (...all: unknown[]) => write.apply(part, all).replace(`"${word}"`, unreadable);
    };
    corrupt(encoders[0], "request", "request");
    corrupt(encoders[1], "result", "response");
    const before = invoke(1), request = codeOf(invoke("request")), response = codeOf(invoke("response"));
    client.$outgoing().notify("app.unknown", $mapping<string, {} | null>([["value", "request"]]));
    delete encoders[0].request;
    const after = invoke(2);
    expect(await request, -32700);
    expect(await response, 2502);
    delete encoders[1].result;
    expect([await before, await after], [1, 2]);
  }
  // The notifications and the responses. The error of the last response can arrive after its call has ended.
  while (reported.length < 6) await pumpEventQueue();
  expect(reported, Array(6).fill(-32700));
  await page.close();
  await shell.close();
});
