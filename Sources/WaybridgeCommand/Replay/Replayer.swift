import Waybridge
import WaybridgeClient

/// Replays a recorded session: its clients connect again, repeat their calls and responses, in the
/// order of the recording.
actor Replayer {
  /// The timeout for a response, or for a request of the server, that the recording contains.
  private static let responseTimeout: Duration = .seconds(10)

  /// The largest delay in seconds; no recording lasts years.
  private static let maxSeconds = 1e9

  private let recording: ReplayedSession
  private let url: String
  private let token: String?
  private let isTimed: Bool
  private let condition = ReplayCondition()
  private var clients = ReplayedClients()
  private var requests: ReplayedRequests
  private var comparison: ReplayComparison
  /// The results of calls, by their lines in the recording.
  private var results: [Int: Result<Value, CallError>] = [:]
  /// The recorded ids of the open pages.
  private var openPages: Set<String> = []
  /// The results of pages that were open when the recording began: outcomes, or errors if they were
  /// not opened.
  private var pageResults: [String: Result<Value, CallError>] = [:]
  /// The pages of the start that could not be opened.
  private var missingPages: Set<String> = []
  /// Whether recorded events are being replayed. Before and after that, requests get an empty
  /// response.
  private var isPlaying = false

  /// `ignored` are methods and URIs whose results are not compared.
  init(
    _ recording: ReplayedSession, url: String, token: String?, isTimed: Bool,
    ignoring ignored: [String]
  ) {
    self.recording = recording
    self.url = url
    self.token = token
    self.isTimed = isTimed
    requests = ReplayedRequests(recording)
    comparison = ReplayComparison(ignoring: ignored)
    comparison.summary.skipped = recording.skippedCount
  }

  func replay() async throws -> ReplayComparison.ReplaySummary {
    do {
      for client in recording.clients where client.page == nil { try await connect(client) }
      for page in recording.pages { await open(page) }
      for client in recording.clients where client.page != nil { try await connect(client) }
      isPlaying = true
      let begin = ContinuousClock.now
      let first = recording.events.first?.at ?? 0
      for (at, event) in recording.events {
        if isTimed {
          try await Task.sleep(until: begin + .seconds(min((at - first) / 1000, Self.maxSeconds)))
        }
        try await perform(event)
      }
    } catch {
      await disconnect()
      throw error
    }
    await disconnect()
    return comparison.summary
  }

  private func perform(_ event: ReplayedSession.RecordedEvent) async throws {
    switch event {
    case .clientJoined(let client):
      if clients[client.id] == nil { try await connect(client) }
    case .clientLeft(let id): await clients.remove(id)?.close()
    case .callSent(let call): try await send(call)
    case .requestReceived(let request):
      if await !wait(until: { requests.wasReceived(request) }) {
        comparison.recordDifference(
          "\(request.line): \(request.text) is no longer sent to \(request.client)")
        requests.remove(request)
      }
    case .responseSent(let request):
      requests.markDue(request)
      condition.notifyAll()
    case .pageOpened(let page):
      if await !wait(until: { openPages.contains(page) }) {
        comparison.recordDifference("the page \(page) is no longer shown")
      }
    case .callCompleted(let call): await compare(call)
    }
  }

  /// Returns whether the predicate becomes true within the timeout.
  private func wait(until predicate: () -> Bool) async -> Bool {
    await condition.wait(Self.responseTimeout, until: predicate)
  }

  private func disconnect() async {
    isPlaying = false
    condition.notifyAll()
    for client in clients.all { await client.close() }
    clients.removeAll()
  }

  private func connect(_ recorded: ReplayedSession.RecordedClient) async throws {
    let host = ReplayedHost(replayer: self, client: recorded.id)
    var options = BridgeClient.SessionOptions(
      name: recorded.name, version: recorded.version, token: recorded.isGuest ? nil : token,
      join: clients.credentials(of: recorded),
      page: recorded.isGuest
        ? nil : recorded.page.flatMap { comparison.identifiers.translated(.string($0)).string },
      hosts: try recorded.hosts.map(host.makeHost), reconnect: .never)
    for name in requests.methods(of: recorded.id) { options.methods[name] = host.handleCall }
    let client = try await BridgeClient.connect(to: url, session: options)
    let session = await client.session
    clients.add(client, as: recorded.id, session)
    guard let session else { return }
    comparison.identifiers.addMapping(recorded.id, session.client)
    if !recorded.topics.isEmpty {
      _ = try await client.request(
        "events.subscribe", ["topics": .array(recorded.topics.map(Value.string))])
    }
  }

  /// Opens a page that was open when the recording began, by the client that had opened it if that
  /// client is connected, otherwise by another.
  private func open(_ page: ReplayedSession.RecordedPage) async {
    let name = "the page \(page.id) \(page.uri), open at the start,"
    let openers = page.openings.map(\.client) + recording.clients.map(\.id)
    guard let client = openers.compactMap({ clients[$0] }).first else {
      return comparison.recordDifference("\(name) is not opened: no client is connected")
    }
    var params: ValueObject = ["uri": .string(page.uri), "params": page.params]
    if page.isPresented { params["style"] = "present" }
    // The call ends with the page.
    Task {
      let result = await result(of: client, "router.open", .object(params), page: page.id)
      pageResults[page.id] = result
      for call in page.openings { recordResult(call, result) }
      condition.notifyAll()
    }
    _ = await wait(until: { openPages.contains(page.id) || pageResults[page.id] != nil })
    if openPages.contains(page.id) { return }
    missingPages.insert(page.id)
    switch pageResults[page.id] {
    case nil: comparison.recordDifference("\(name) is not shown within \(Self.responseTimeout)")
    case .success: comparison.recordDifference("\(name) ends before it is shown")
    case .failure(let error):
      comparison.recordDifference(
        "\(name) is not opened: the error \(error.code): \(error.message)")
    }
  }

  private func send(_ call: ReplayedSession.RecordedCall) async throws {
    guard let client = clients[call.client] else {
      return comparison.recordDifference(
        "\(call.line): \(call.text): its client \(call.client) is not connected")
    }
    comparison.summary.calls += 1
    let params = translated(call)
    if call.isNotification { return try await client.notify(call.method, params) }
    let (sent, started) = AsyncStream.makeStream(of: Void.self)
    Task {
      started.yield()
      recordResult(call, await execute(call, params, by: client))
    }
    for await _ in sent { break }
  }

  private func execute(
    _ call: ReplayedSession.RecordedCall, _ params: Value, by client: BridgeClient
  ) async -> Result<Value, CallError> {
    let host = ReplayedHost(replayer: self, client: call.client)
    do {
      switch call.method {
      case "host.register":
        try await client.register(try (params["hosts"]?.array ?? []).map(host.makeHost))
      case "host.unregister":
        try await client.unregister(try (params["hosts"]?.array ?? []).map(host.makeHost))
      case "page.setGuard":
        let isRemoved = params["enabled"]?.bool == false
        try await client.setGuard(
          isRemoved ? nil : host.decideLeave, page: params["page"]?.string,
          timeout: params["timeoutMs"]?.integer.map { .milliseconds($0) })
      default: return await result(of: client, call.method, params, page: call.page)
      }
      return .success(call.result ?? .null)
    } catch {
      return .failure((error as? CallError) ?? CallError(.internal, "\(error)"))
    }
  }

  /// Sends a request. If it opens a page whose recorded id is known, the ids are mapped before the
  /// response.
  private func result(
    of client: BridgeClient, _ method: String, _ params: Value, page: String?
  ) async -> Result<Value, CallError> {
    let (opened, opening) = AsyncStream.makeStream(of: String.self)
    let recorder = Task {
      for await actual in opened {
        guard let page else { continue }
        comparison.identifiers.addMapping(page, actual)
        openPages.insert(page)
        condition.notifyAll()
      }
    }
    let result: Result<Value, CallError>
    do throws(CallError) {
      result = .success(
        try await client.request(method, params) { progress in
          if let actual = progress["opened"]?["page"]?.string { opening.yield(actual) }
        })
    } catch {
      result = .failure(error)
    }
    opening.finish()
    await recorder.value
    return result
  }

  private func recordResult(
    _ call: ReplayedSession.RecordedCall, _ result: Result<Value, CallError>
  ) {
    results[call.line] = result
    condition.notifyAll()
  }

  private func translated(_ call: ReplayedSession.RecordedCall) -> Value {
    let value = comparison.identifiers.translated(call.params)
    guard case .object(var params) = value else { return value }
    // The client makes the call on behalf of a request, which now has another id.
    if let id = call.params["onBehalfOf"], let currentID = requests.requestID(call.client, id) {
      params["onBehalfOf"] = currentID
    }
    return .object(params)
  }

  private func compare(_ call: ReplayedSession.RecordedCall) async {
    // A missing page was already reported.
    if let page = call.page, missingPages.contains(page) { return }
    guard await wait(until: { results[call.line] != nil }),
      let result = results.removeValue(forKey: call.line)
    else { return comparison.recordDifference("\(call.line): \(call.text) got no response") }
    if call.method == "session.invite", case .success(let value) = result {
      clients.addInvitation(value)
    }
    comparison.compare(call, with: result)
  }

  /// Handles a request to a client: responds as in the recording. `method` is nil for a method of
  /// the client or of its page, and `subject` for a request without one.
  func handleRequest(
    _ client: String, _ method: String?, _ subject: String?, _ request: Value
  ) async throws -> Value {
    guard isPlaying else { return .null }
    guard let recorded = requests.dequeue(client, method, subject, request) else {
      comparison.recordDifference(
        "\(client) receives \([method ?? "the method", subject].compactMap(\.self).joined(separator: " ")), "
          + "which is not in the recording"
      )
      return .null
    }
    condition.notifyAll()
    // Calls that precede the response are made before it, as in the recording.
    _ = await wait(until: { !isPlaying || requests.isDue(recorded) })
    guard recorded.code != 0 else { return comparison.identifiers.translated(recorded.result) }
    if recorded.result["data"]?["kind"] == "declined" { throw Declined() }
    throw CallError(code: Int(recorded.code), message: recorded.result["message"]?.string ?? "")
  }

  /// Handles a page that the server opens. Its recorded id differs.
  func handleOpen(_ client: String, _ page: BridgeClient.HostedPage) async throws {
    if isPlaying, let id = requests.pageID(openedBy: client, page.uri) {
      comparison.identifiers.addMapping(id, page.id)
    }
    _ = try await handleRequest(client, "page.open", page.uri, .null)
  }

  func handleClose(_ client: String) {
    // The page is not identified here: the changes of the stack, which are compared, show it.
    guard isPlaying, requests.dequeue(client, "page.close", nil, .null) != nil else { return }
    condition.notifyAll()
  }
}
