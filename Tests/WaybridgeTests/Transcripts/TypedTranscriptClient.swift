import TestSupport
import WayRPC
import WayTransport
import Waybridge
import WaybridgeClient

/// Plays one client of a transcript through ``BridgeClient``. Its requests are calls of the typed
/// interface; its own hosts receive the server's requests. Ids are those of the transcript.
actor TypedTranscriptClient: TranscriptClient {
  nonisolated let isOrdered = false
  private nonisolated let events = Mailbox<ConnectionEvent>()
  private let url: String
  private let host: ScriptedHost
  private let methodNames: [String]
  private var client: BridgeClient?
  private var calls: [Value: Task<Void, Never>] = [:]
  private var seenEvents: Set<BridgeClient.Event> = []

  /// - Parameters:
  ///   - isPlain: whether it connects without opening a session.
  ///   - methodNames: the methods that the server calls in this client.
  init(url: String, isPlain: Bool, methodNames: [String]) async throws {
    self.url = url
    self.methodNames = methodNames
    host = ScriptedHost { [events] in Self.emit($0, events) }
    if isPlain { attach(try await BridgeClient.connect(to: url)) }
  }

  func next() async throws -> ConnectionEvent {
    try await events.receive()
  }

  func close(_ code: UInt16) async throws {
    await client?.close()
    await host.finishPendingRequests()
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
      let isPending = await host.respond(id, Self.result(message))
      guard isPending else { throw TranscriptFailure(description: "nothing waits for \(id)") }
    }
    // When this returns, messages that were started here and in the client have been sent.
    await Task.yield()
    _ = await client?.session
  }

  private func request(_ id: Value, _ method: String, _ params: Value?) async throws {
    if method == "session.open" { return try await openSession(id, params ?? [:]) }
    guard let client else { throw TranscriptFailure(description: "there is no session yet") }
    if method == "host.register" || method == "host.unregister" {
      if let hosts = params?["hosts"].flatMap(parseHosts) {
        startCall(id) { _ in
          if method == "host.register" {
            try await client.register(hosts)
          } else {
            try await client.unregister(hosts)
          }
          // The interface does not return the hosts.
          return try await client.request("host.register", ["hosts": []])
        }
        return
      }
    }
    if method == "events.subscribe", let topics = params?["topics"]?.array,
      topics.allSatisfy({ $0.string != nil })
    {
      startCall(id) { _ in
        await self.forwardEvents(try await client.events(topics.compactMap(\.string)))
        // The interface does not return the topics.
        return try await client.request("events.subscribe", ["topics": []])
      }
      return
    }
    if let call = TypedCall(method, params?.object ?? [:]), params?.array == nil {
      startCall(id) { try await call.run(client, $0) }
    } else {
      startCall(id) { try await client.request(method, params, onProgress: $0) }
    }
  }

  private func startCall(
    _ id: Value,
    _ call:
      nonisolated(nonsending) @escaping @Sendable (@escaping @Sendable (Value) -> Void) async throws
      -> Value
  ) {
    // The task and the closure run on this actor until they reach the client's: so calls are sent
    // in the order of the transcript. A closure on the global executor could overtake another.
    calls[id] = Task {
      let response: (String, Value)
      do {
        response = (
          "result",
          try await call { value in
            self.emit(["method": "$/progress", "params": ["id": id, "value": value]])
          }
        )
      } catch let error as CallError {
        // An error caused by the end of the connection was not a message.
        guard error.kind != "closed" else { return }
        response = ("error", error.value)
      } catch {
        response = ("error", .string("\(error)"))
      }
      emit(["id": id, response.0: response.1])
    }
  }

  private func notify(_ method: String, _ params: Value?) async throws {
    switch method {
    case "$/cancelRequest" where params?["id"].flatMap { calls[$0] } != nil:
      params?["id"].flatMap { calls[$0] }?.cancel()
    case "$/progress":
      guard let id = params?["id"]?.string, let value = params?["value"] else { return }
      await host.reportProgress(id, value)
    default: try await client?.notify(method, params)
    }
  }

  private func openSession(_ id: Value, _ params: Value) async throws {
    var options = BridgeClient.SessionOptions(
      name: params["client"]?["name"]?.string ?? "",
      version: params["client"]?["version"]?.string ?? "",
      token: params["token"]?.string, page: params["page"]?.string,
      hosts: params["hosts"].flatMap(parseHosts) ?? [])
    if let join = params["join"] {
      options.join = BridgeClient.JoinCredentials(
        session: join["session"]?.string ?? "", token: join["token"]?.string ?? "")
    }
    for name in methodNames {
      options.methods[name] = { [host, page = options.page] call in
        guard let page else { return try await host.callMethod(call) }
        return try await host.callPageMethod(call, page)
      }
    }
    do {
      let client = try await BridgeClient.connect(to: url, session: options)
      attach(client)
      if let session = await client.session { emit(["id": id, "result": session.value]) }
    } catch {
      emit(["id": id, "error": error.value])
    }
  }

  /// An event that matches several subscriptions arrives once over the wire, but once for each
  /// reader.
  private func forwardEvents(_ events: BridgeClient.Events) {
    Task {
      for try await event in events where seenEvents.insert(event).inserted {
        var params: ValueObject = [
          "topic": .string(event.topic), "data": event.data, "at": .integer(event.at),
        ]
        params["client"] = event.client.map(Value.string)
        emit(["method": "event", "params": .object(params)])
      }
    }
  }

  private func attach(_ client: BridgeClient) {
    self.client = client
    Task {
      for await state in await client.connectionStates() {
        // A transcript's client that is closed does not reconnect.
        guard case .waiting(let end, _, _) = state else { continue }
        await client.close()
        return await connectionEnded(end)
      }
      await connectionEnded(client.waitUntilEnded())
    }
  }

  private func connectionEnded(_ end: ClientConnectionEnd) async {
    for call in calls.values { await call.value }
    events.put(.closed(end.code))
  }

  /// Returns `nil` if one of them is invalid.
  private func parseHosts(_ value: Value) -> [BridgeClient.Host]? {
    guard let values = value.array else { return nil }
    let hosts = values.compactMap(parseHost)
    return hosts.count == values.count ? hosts : nil
  }

  private func parseHost(_ value: Value) -> BridgeClient.Host? {
    let patterns = value["patterns"]?.array?.compactMap(\.string) ?? []
    var members: ValueObject = ["kind": value["kind"] ?? .null]
    members["scheme"] = value["scheme"]
    members["pattern"] = patterns.first.map(Value.string)
    let chosen = Value.object(members)
    let pages = ScriptedPageHost(host: host, chosen: chosen)
    let run: @Sendable (BridgeClient.TaskCall) async throws -> Value = { [host] in
      try await host.runTask($0, chosen)
    }
    switch (value["kind"]?.string, value["scheme"]?.string) {
    case ("page", let scheme?): return .pages(scheme: scheme, patterns: patterns, pages)
    case ("page", nil) where !patterns.isEmpty: return .pages(patterns: patterns, pages)
    case ("task", nil) where patterns.count == 1: return .task(patterns[0], run)
    case ("service", nil) where patterns.count == 1: return .service(patterns[0], run)
    default: return nil
    }
  }

  private nonisolated func emit(_ members: ValueObject) {
    var message: ValueObject = ["jsonrpc": "2.0"]
    message.merge(members)
    Self.emit(.object(message), events)
  }

  private static func emit(_ message: Value, _ events: Mailbox<ConnectionEvent>) {
    events.put(.text(Array((message.json ?? "null").utf8)))
  }

  /// Returns the transcript's response as a result that a host returns or throws.
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
