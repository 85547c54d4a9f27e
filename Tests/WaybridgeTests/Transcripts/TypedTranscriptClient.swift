import TestSupport
import WayRPC
import WayTransport
import Waybridge
import WaybridgeClient

/// Plays one client of a transcript through ``BridgeClient``: its requests are calls of the typed
/// interface, and what it is asked comes to a host of its own. Ids are the transcript's.
actor TypedTranscriptClient: TranscriptClient {
  nonisolated let isOrdered = false
  private nonisolated let events = Mailbox<PeerEvent>()
  private let url: String
  private let host: ScriptedHost
  private let methodNames: [String]
  private var client: BridgeClient?
  private var calls: [Value: Task<Void, Never>] = [:]
  private var seen: Set<BridgeClient.Event> = []

  /// - Parameters:
  ///   - isPlain: whether it connects without opening a session.
  ///   - methodNames: what the server will call in this client.
  init(url: String, isPlain: Bool, methodNames: [String]) async throws {
    self.url = url
    self.methodNames = methodNames
    host = ScriptedHost { [events] in Self.tell($0, events) }
    if isPlain { connected(try await BridgeClient.connect(to: url)) }
  }

  func next() async throws -> PeerEvent {
    try await events.take()
  }

  func close(_ code: UInt16) async throws {
    await client?.close()
    await host.end()
  }

  func send(_ bytes: [UInt8], as kind: MessageKind) async throws {
    throw TranscriptFailure(description: "the Swift client sends no bytes as they are")
  }

  func send(_ message: Value) async throws {
    let id = message["id"]
    if let method = message["method"]?.string {
      let params = message["params"]
      if let id {
        try await request(id, method, params)
      } else {
        try await notify(method, params)
      }
    } else if let id = id?.string {
      let isTaken = await host.answer(id, Self.result(message))
      guard isTaken else { throw TranscriptFailure(description: "nothing waits for \(id)") }
    }
    // What was begun here, and then in the client, has been sent when it comes back from there.
    await Task.yield()
    _ = await client?.session
  }

  private func request(_ id: Value, _ method: String, _ params: Value?) async throws {
    if method == "session.open" { return try await open(id, params ?? [:]) }
    guard let client else { throw TranscriptFailure(description: "there is no session yet") }
    if method == "host.register" || method == "host.unregister" {
      if let hosts = params?["hosts"].flatMap(hosts) {
        begin(id) { _ in
          if method == "host.register" {
            try await client.register(hosts)
          } else {
            try await client.unregister(hosts)
          }
          // The interface does not tell them again.
          return try await client.request("host.register", ["hosts": []])
        }
        return
      }
    }
    if method == "events.subscribe", let topics = params?["topics"]?.list,
      topics.allSatisfy({ $0.string != nil })
    {
      begin(id) { _ in
        await self.read(try await client.events(topics.compactMap(\.string)))
        // The interface does not tell the topics again.
        return try await client.request("events.subscribe", ["topics": []])
      }
      return
    }
    if let call = TypedCall(method, params?.object ?? [:]), params?.list == nil {
      begin(id) { try await call.run(client, $0) }
    } else {
      begin(id) { try await client.request(method, params, onProgress: $0) }
    }
  }

  private func begin(
    _ id: Value,
    _ call: @escaping @Sendable (@escaping @Sendable (Value) -> Void) async throws -> Value
  ) {
    // Inherits this actor, so that calls are begun in the order of the transcript.
    calls[id] = Task {
      let answer: (String, Value)
      do {
        answer = (
          "result",
          try await call { value in
            self.tell(["method": "$/progress", "params": ["id": id, "value": value]])
          }
        )
      } catch let error as CallError {
        // What the end of the connection settles was no message.
        guard error.kind != "closed" else { return }
        answer = ("error", error.value)
      } catch {
        answer = ("error", .string("\(error)"))
      }
      tell(["id": id, answer.0: answer.1])
    }
  }

  private func notify(_ method: String, _ params: Value?) async throws {
    switch method {
    case "$/cancelRequest" where params?["id"].flatMap { calls[$0] } != nil:
      params?["id"].flatMap { calls[$0] }?.cancel()
    case "$/progress":
      guard let id = params?["id"]?.string, let value = params?["value"] else { return }
      await host.progress(id, value)
    default: try await client?.notify(method, params)
    }
  }

  private func open(_ id: Value, _ params: Value) async throws {
    var options = BridgeClient.SessionOptions(
      name: params["client"]?["name"]?.string ?? "",
      version: params["client"]?["version"]?.string ?? "",
      token: params["token"]?.string, page: params["page"]?.string,
      hosts: params["hosts"].flatMap(hosts) ?? [])
    if let join = params["join"] {
      options.join = BridgeClient.Join(
        session: join["session"]?.string ?? "", token: join["token"]?.string ?? "")
    }
    for name in methodNames {
      options.methods[name] = { [host, page = options.page] call in
        guard let page else { return try await host.method(call) }
        return try await host.pageCall(call, page)
      }
    }
    do {
      let client = try await BridgeClient.connect(to: url, session: options)
      connected(client)
      if let session = await client.session { tell(["id": id, "result": session.value]) }
    } catch {
      tell(["id": id, "error": error.value])
    }
  }

  /// An event that several subscriptions cover comes once over the wire, and once to each of their
  /// readers.
  private func read(_ events: BridgeClient.Events) {
    Task {
      for try await event in events where seen.insert(event).inserted {
        let params: Value = [
          "topic": .string(event.topic), "data": event.data, "at": .integer(event.at),
        ]
        tell(["method": "event", "params": params])
      }
    }
  }

  private func connected(_ client: BridgeClient) {
    self.client = client
    Task {
      for await state in await client.connectionStates() {
        // A transcript's client that is closed does not come back.
        guard case .waiting(let end, _, _) = state else { continue }
        await client.close()
        return await ended(end)
      }
      await ended(client.ended())
    }
  }

  private func ended(_ end: ClientConnectionEnd) async {
    for call in calls.values { await call.value }
    events.put(.closed(end.code))
  }

  /// nil where one of them is none.
  private func hosts(_ value: Value) -> [BridgeClient.Host]? {
    guard let values = value.list else { return nil }
    let hosts = values.compactMap(host)
    return hosts.count == values.count ? hosts : nil
  }

  private func host(_ value: Value) -> BridgeClient.Host? {
    let patterns = value["patterns"]?.list?.compactMap(\.string) ?? []
    var members: ValueObject = ["kind": value["kind"] ?? .null]
    members["scheme"] = value["scheme"]
    members["pattern"] = patterns.first.map(Value.string)
    let chosen = Value.object(members)
    let pages = ScriptedPageHost(host: host, chosen: chosen)
    let run: @Sendable (BridgeClient.TaskCall) async throws -> Value = { [host] in
      try await host.run($0, chosen)
    }
    switch (value["kind"]?.string, value["scheme"]?.string) {
    case ("page", let scheme?): return .pages(scheme: scheme, patterns: patterns, pages)
    case ("page", nil) where !patterns.isEmpty: return .pages(patterns: patterns, pages)
    case ("task", nil) where patterns.count == 1: return .task(patterns[0], run)
    case ("service", nil) where patterns.count == 1: return .service(patterns[0], run)
    default: return nil
    }
  }

  private nonisolated func tell(_ members: ValueObject) {
    var message: ValueObject = ["jsonrpc": "2.0"]
    message.merge(members)
    Self.tell(.object(message), events)
  }

  private static func tell(_ message: Value, _ events: Mailbox<PeerEvent>) {
    events.put(.text(Array((message.json ?? "null").utf8)))
  }

  /// A host throws what the transcript answers.
  private static func result(_ message: Value) -> Result<Value, any Error> {
    guard let error = message["error"] else { return .success(message["result"] ?? .null) }
    if error["code"] == -32800 { return .failure(CancellationError()) }
    if error["data"]?["kind"] == "declined" { return .failure(Declined()) }
    return .failure(
      CallError(
        code: Int(error["code"]?.integer ?? 0), message: error["message"]?.string ?? "",
        data: error["data"]))
  }
}
