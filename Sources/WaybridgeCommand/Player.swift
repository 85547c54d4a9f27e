import Waybridge
import WaybridgeClient

/// Plays a recorded session: its clients come again, call what they called and answer what they
/// answered, in the order of the recording.
actor Player {
  /// What has come of it.
  struct Summary {
    var calls = 0
    var compared = 0
    var left = 0
    var differences: [String] = []

    /// For people.
    var text: String {
      let rest = left > 0 ? "; \(left) messages are not in the recording" : ""
      return "\(calls) calls, \(compared) answers compared, \(differences.count) differences\(rest)"
    }
  }

  /// How long an answer, or a request of the server, may take that the recording has.
  private static let patience: Duration = .seconds(10)

  private let recording: RecordedSession
  private let url: String
  private let token: String?
  private let isTimed: Bool
  private let ignored: [String]
  private var likeness = Likeness()
  private var summary = Summary()
  /// By their names in the recording.
  private var clients: [String: BridgeClient] = [:]
  private var join: BridgeClient.Join?
  /// Invitations that nobody has come with.
  private var invitations: [BridgeClient.Join] = []
  /// What is asked in the recording, and has not been asked yet.
  private var expected: [RecordedSession.Ask] = []
  private var answers: [ObjectIdentifier: Result<Value, CallError>] = [:]
  private var asked: Set<ObjectIdentifier> = []
  private var released: Set<ObjectIdentifier> = []
  /// The ids in the recording of pages that are there.
  private var shown: Set<String> = []
  private var requests: [String: Value] = [:]
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// Before the first moment and after the last, whatever is asked is answered.
  private var isPlaying = false

  /// `ignored` are methods and URIs whose answers do not count.
  init(
    _ recording: RecordedSession, url: String, token: String?, isTimed: Bool,
    ignoring ignored: [String]
  ) {
    self.recording = recording
    self.url = url
    self.token = token
    self.isTimed = isTimed
    self.ignored = ignored
    summary.left = recording.left
    for (_, event) in recording.events {
      if case .isAsked(let ask) = event { expected.append(ask) }
    }
  }

  func play() async throws -> Summary {
    do {
      for member in recording.members where member.page == nil { try await enter(member) }
      try await openPages()
      for member in recording.members where member.page != nil { try await enter(member) }
      isPlaying = true
      let begin = ContinuousClock.now
      let first = recording.events.first?.at ?? 0
      for (at, event) in recording.events {
        if isTimed { try await Task.sleep(until: begin + .seconds((at - first) / 1000)) }
        try await play(event)
      }
      isPlaying = false
    } catch {
      await closeAll()
      throw error
    }
    await closeAll()
    return summary
  }

  private func play(_ event: RecordedSession.Event) async throws {
    switch event {
    case .joins(let member):
      if clients[member.id] == nil { try await enter(member) }
    case .leaves(let id): await clients.removeValue(forKey: id)?.close()
    case .calls(let call): try await make(call)
    case .isAsked(let ask):
      if await !wait(until: { self.asked.contains(ObjectIdentifier(ask)) }) {
        differ("\(ask.line): \(ask.text) is not asked of \(ask.client) any more")
        expected.removeAll { $0 === ask }
      }
    case .answers(let ask):
      released.insert(ObjectIdentifier(ask))
      wake()
    case .isShown(let page):
      if await !wait(until: { self.shown.contains(page) }) {
        differ("the page \(page) is not shown any more")
      }
    case .isAnswered(let call): await compare(call)
    }
  }

  private func differ(_ text: String) { summary.differences.append(text) }

  private func closeAll() async {
    isPlaying = false
    wake()
    for client in clients.values { await client.close() }
    clients = [:]
  }
}

// Clients and pages.
extension Player {
  private func enter(_ member: RecordedSession.Member) async throws {
    let id = member.id
    var options = BridgeClient.SessionOptions(
      name: member.name, version: member.version, token: member.isGuest ? nil : token,
      join: member.isGuest && !invitations.isEmpty ? invitations.removeFirst() : join,
      page: member.isGuest
        ? nil : member.page.flatMap { likeness.translated(.string($0)).string },
      hosts: try member.hosts.map { try host($0, of: id) }, reconnect: .never)
    for name in methodNames(of: id) { options.methods[name] = method(of: id) }
    let client = try await BridgeClient.connect(to: url, session: options)
    clients[id] = client
    guard let session = await client.session else { return }
    likeness.learn(id, session.client)
    if join == nil { join = session.join }
    if !member.topics.isEmpty {
      _ = try await client.request(
        "events.subscribe", ["topics": .list(member.topics.map(Value.string))])
    }
  }

  /// The methods that a client was asked for in the recording, by a page's call or by the app.
  private func methodNames(of id: String) -> Set<String> {
    let own = ["page.open", "page.close", "task.run"]
    return Set(
      expected.filter { $0.client == id && !own.contains($0.method) }.compactMap {
        $0.method == "page.call" ? $0.params["method"]?.string : $0.method
      })
  }

  private func host(_ declared: Value, of id: String) throws -> BridgeClient.Host {
    guard declared["kind"] == "page" else {
      return try BridgeClient.Host.declared(declared) { [self] call in
        try await ask(id, "task.run", call.uri, ["uri": .string(call.uri)], call.request)
      }
    }
    return try BridgeClient.Host.declared(declared, pages: ReplayedHost(player: self, client: id))
  }

  private func method(of id: String) -> BridgeClient.Method {
    { [self] call in try await ask(id, nil, call.method, call.params, call.request) }
  }

  /// Opens what was open when the recording began.
  private func openPages() async throws {
    guard let first = recording.members.first.flatMap({ clients[$0.id] }) else { return }
    for page in recording.pages {
      guard let id = page["id"]?.string, let uri = page["uri"] else { continue }
      var params: ValueObject = ["uri": uri, "params": page["params"] ?? [:]]
      if page["style"] == "present" { params["style"] = "present" }
      let (opened, tell) = AsyncStream.makeStream(of: String?.self)
      Task {
        // It ends with the page.
        _ = try? await first.request("router.open", .object(params)) { progress in
          tell.yield(progress["opened"]?["page"]?.string)
        }
        tell.finish()
      }
      for await new in opened {
        if let new { likeness.learn(id, new) }
        break
      }
    }
  }
}

// What is called.
extension Player {
  private func make(_ call: RecordedSession.Call) async throws {
    guard let client = clients[call.client] else {
      return differ("\(call.line): \(call.text): its client \(call.client) has not come")
    }
    summary.calls += 1
    let params = translated(call)
    if call.isNotification { return try await client.notify(call.method, params) }
    let key = ObjectIdentifier(call)
    let (sent, tell) = AsyncStream.makeStream(of: Void.self)
    Task {
      do {
        tell.yield()
        let result: Value
        switch call.method {
        case "host.register":
          try await client.register(
            try (params["hosts"]?.list ?? []).map { try host($0, of: call.client) })
          result = call.answer ?? .null
        case "host.unregister":
          try await client.unregister(
            try (params["hosts"]?.list ?? []).map { try host($0, of: call.client) })
          result = call.answer ?? .null
        default:
          result = try await client.request(call.method, params) { progress in
            guard let page = call.page, let new = progress["opened"]?["page"]?.string else {
              return
            }
            Task { await self.show(page, as: new) }
          }
        }
        answered(key, .success(result))
      } catch {
        answered(key, .failure((error as? CallError) ?? CallError(.internal, "\(error)")))
      }
    }
    for await _ in sent { break }
  }

  private func show(_ page: String, as new: String) {
    likeness.learn(page, new)
    shown.insert(page)
    wake()
  }

  private func translated(_ call: RecordedSession.Call) -> Value {
    guard case .object(var params) = likeness.translated(call.params) else {
      return likeness.translated(call.params)
    }
    // For whose request it was made, under the id that this has now.
    if let id = call.params["onBehalfOf"], let now = requests["\(call.client) \(id.text)"] {
      params["onBehalfOf"] = now
    }
    return .object(params)
  }

  private func answered(_ key: ObjectIdentifier, _ result: Result<Value, CallError>) {
    answers[key] = result
    wake()
  }

  private func compare(_ call: RecordedSession.Call) async {
    let key = ObjectIdentifier(call)
    guard await wait(until: { self.answers[key] != nil }),
      let answer = answers.removeValue(forKey: key)
    else { return differ("\(call.line): \(call.text) is not answered") }
    let name = "\(call.line): \(call.text)"
    switch answer {
    case .success(let value):
      remember(value, of: call)
      if isIgnored(call) { return }
      guard call.code == 0 else {
        return differ("\(name): the error \(call.code) has become a result")
      }
      guard let recorded = call.answer else { return }
      summary.compared += 1
      summary.differences += likeness.differences(from: recorded, to: value, at: "\(name): result")
    case .failure(let error):
      if isIgnored(call) { return }
      guard call.code == error.code else {
        return differ(
          "\(name): \(call.code == 0 ? "a result" : "the error \(call.code)") has become the error \(error.code): \(error.message)"
        )
      }
      summary.compared += 1
      guard let recorded = call.answer?["data"], let data = error.data else { return }
      summary.differences += likeness.differences(
        from: recorded, to: data, at: "\(name): error.data", isError: true)
    }
  }

  /// Invitations are new ones.
  private func remember(_ value: Value, of call: RecordedSession.Call) {
    guard call.method == "session.invite", let session = value["session"]?.string,
      let token = value["token"]?.string
    else { return }
    invitations.append(BridgeClient.Join(session: session, token: token))
  }

  private func isIgnored(_ call: RecordedSession.Call) -> Bool {
    ignored.contains { pattern in
      [call.method, call.params["uri"]?.string ?? ""].contains { text in
        pattern.hasSuffix("*") ? text.hasPrefix(pattern.dropLast()) : text == pattern
      }
    }
  }
}

// What is asked.
extension Player {
  /// A client is asked for something; answers as the recording has it. `method` is nil for a method
  /// of the client's own, or of its page.
  func ask(
    _ client: String, _ method: String?, _ subject: String, _ params: Value, _ request: Value
  ) async throws -> Value {
    guard isPlaying else { return .null }
    let found = expected.firstIndex { ask in
      guard ask.client == client else { return false }
      guard let method else { return ask.method == subject || ask.subject == subject }
      return ask.method == method && ask.subject == subject
    }
    guard let found else {
      differ(
        "\(client) is asked for \(method ?? "the method") \(subject), which is not in the recording"
      )
      return .null
    }
    let ask = expected.remove(at: found)
    requests["\(client) \(ask.id.text)"] = request
    asked.insert(ObjectIdentifier(ask))
    wake()
    // As in the recording, what was called before it was answered is called before.
    _ = await wait(until: { !self.isPlaying || self.released.contains(ObjectIdentifier(ask)) })
    guard ask.code != 0 else { return likeness.translated(ask.answer) }
    if ask.answer["data"]?["kind"] == "declined" { throw Declined() }
    throw CallError(code: Int(ask.code), message: ask.answer["message"]?.string ?? "")
  }

  /// A page is opened whose id in the recording is another.
  func opens(_ client: String, _ page: BridgeClient.Page) async throws {
    if let ask = expected.first(where: {
      $0.client == client && $0.method == "page.open" && $0.subject == page.uri
    }), isPlaying, let id = ask.params["page"]?["id"]?.string {
      likeness.learn(id, page.id)
    }
    _ = try await ask(client, "page.open", page.uri, .null, .null)
  }

  func closes(_ client: String) async {
    guard isPlaying else { return }
    // Which page it is, the change of the stack tells that is compared.
    guard
      let found = expected.firstIndex(where: { $0.client == client && $0.method == "page.close" })
    else { return }
    asked.insert(ObjectIdentifier(expected.remove(at: found)))
    wake()
  }
}

// Waiting.
extension Player {
  private func wake() {
    let all = waiting
    waiting = []
    for each in all { each.resume() }
  }

  /// Whether something has come about in time.
  private func wait(until isSo: () -> Bool) async -> Bool {
    if isSo() { return true }
    let end = ContinuousClock.now + Self.patience
    let alarm = Task { [weak self] in
      try await Task.sleep(until: end)
      await self?.wake()
    }
    defer { alarm.cancel() }
    while !isSo() {
      if ContinuousClock.now >= end { return false }
      await withCheckedContinuation { waiting.append($0) }
    }
    return true
  }
}

/// Shows the pages of one client of a recording.
private struct ReplayedHost: PageHost {
  let player: Player
  let client: String

  func open(_ page: BridgeClient.Page) async throws { try await player.opens(client, page) }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
    await player.closes(client)
  }

  func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.Page
  ) async throws -> Value {
    try await player.ask(client, "page.call", call.method, call.params, call.request)
  }
}
