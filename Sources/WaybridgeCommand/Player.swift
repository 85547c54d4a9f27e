import Waybridge
import WaybridgeClient

/// Plays a recorded session: its clients come again, call what they called and answer what they
/// answered, in the order of the recording.
actor Replayer {
  /// How long an answer, or a request of the server, may take that the recording has.
  private static let patience: Duration = .seconds(10)

  /// So many seconds, years of them, nobody has recorded.
  private static let maxTime = 1e9

  private let recording: RecordedSession
  private let url: String
  private let token: String?
  private let isTimed: Bool
  private let bell = Bell()
  private var clients = ReplayedClients()
  private var asks: ReplayedAsks
  private var comparison: ReplayComparison
  /// What calls were answered, by their lines in the recording.
  private var answers: [Int: Result<Value, CallError>] = [:]
  /// The ids in the recording of pages that are there.
  private var shown: Set<String> = []
  /// How pages have ended, or why they were not opened, that were there when the recording began.
  private var ends: [String: Result<Value, CallError>] = [:]
  /// Those of them that are not there.
  private var missing: Set<String> = []
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
    asks = ReplayedAsks(recording)
    comparison = ReplayComparison(ignoring: ignored)
    comparison.summary.left = recording.left
  }

  func play() async throws -> ReplayComparison.Summary {
    do {
      for member in recording.members where member.page == nil { try await enter(member) }
      for page in recording.pages { await open(page) }
      for member in recording.members where member.page != nil { try await enter(member) }
      isPlaying = true
      let begin = ContinuousClock.now
      let first = recording.events.first?.at ?? 0
      for (at, event) in recording.events {
        if isTimed {
          try await Task.sleep(until: begin + .seconds(min((at - first) / 1000, Self.maxTime)))
        }
        try await play(event)
      }
    } catch {
      await end()
      throw error
    }
    await end()
    return comparison.summary
  }

  private func play(_ event: RecordedSession.Event) async throws {
    switch event {
    case .joins(let member):
      if clients[member.id] == nil { try await enter(member) }
    case .leaves(let id): await clients.remove(id)?.close()
    case .calls(let call): try await make(call)
    case .isAsked(let ask):
      if await !wait(until: { asks.wasAsked(ask) }) {
        comparison.differ("\(ask.line): \(ask.text) is not asked of \(ask.client) any more")
        asks.drop(ask)
      }
    case .answers(let ask):
      asks.answer(ask)
      bell.ring()
    case .isShown(let page):
      if await !wait(until: { shown.contains(page) }) {
        comparison.differ("the page \(page) is not shown any more")
      }
    case .isAnswered(let call): await compare(call)
    }
  }

  /// Whether something comes about in time.
  private func wait(until isSo: () -> Bool) async -> Bool {
    await bell.wait(Self.patience, until: isSo)
  }

  private func end() async {
    isPlaying = false
    bell.ring()
    for client in clients.all { await client.close() }
    clients.removeAll()
  }

  // MARK: Who and what is there

  private func enter(_ member: RecordedSession.Member) async throws {
    let host = ReplayedHost(player: self, client: member.id)
    var options = BridgeClient.SessionOptions(
      name: member.name, version: member.version, token: member.isGuest ? nil : token,
      join: clients.join(of: member),
      page: member.isGuest
        ? nil : member.page.flatMap { comparison.likeness.translated(.string($0)).string },
      hosts: try member.hosts.map(host.serving), reconnect: .never)
    for name in asks.methods(of: member.id) { options.methods[name] = host.answer }
    let client = try await BridgeClient.connect(to: url, session: options)
    let session = await client.session
    clients.add(client, as: member.id, session)
    guard let session else { return }
    comparison.likeness.learn(member.id, session.client)
    if !member.topics.isEmpty {
      _ = try await client.request(
        "events.subscribe", ["topics": .list(member.topics.map(Value.string))])
    }
  }

  /// Opens a page that was there when the recording began: as the client that had, where that is
  /// there already.
  private func open(_ page: RecordedSession.Page) async {
    let name = "the page \(page.id) \(page.uri), which was there,"
    let openers = page.openings.map(\.client) + recording.members.map(\.id)
    guard let client = openers.compactMap({ clients[$0] }).first else {
      return comparison.differ("\(name) is not opened: no client was there")
    }
    var params: ValueObject = ["uri": .string(page.uri), "params": page.params]
    if page.isPresented { params["style"] = "present" }
    // It ends with the page.
    Task {
      let end = await answer(of: client, "router.open", .object(params), page: page.id)
      ends[page.id] = end
      for call in page.openings { answered(call, end) }
      bell.ring()
    }
    _ = await wait(until: { shown.contains(page.id) || ends[page.id] != nil })
    if shown.contains(page.id) { return }
    missing.insert(page.id)
    switch ends[page.id] {
    case nil: comparison.differ("\(name) is not shown within \(Self.patience)")
    case .success: comparison.differ("\(name) ends before it is shown")
    case .failure(let error):
      comparison.differ("\(name) is not opened: the error \(error.code): \(error.message)")
    }
  }

  // MARK: What is called

  private func make(_ call: RecordedSession.Call) async throws {
    guard let client = clients[call.client] else {
      return comparison.differ(
        "\(call.line): \(call.text): its client \(call.client) has not come")
    }
    comparison.summary.calls += 1
    let params = translated(call)
    if call.isNotification { return try await client.notify(call.method, params) }
    let (sent, tell) = AsyncStream.makeStream(of: Void.self)
    Task {
      tell.yield()
      answered(call, await carryOut(call, params, by: client))
    }
    for await _ in sent { break }
  }

  private func carryOut(
    _ call: RecordedSession.Call, _ params: Value, by client: BridgeClient
  ) async -> Result<Value, CallError> {
    let host = ReplayedHost(player: self, client: call.client)
    do {
      switch call.method {
      case "host.register":
        try await client.register(try (params["hosts"]?.list ?? []).map(host.serving))
      case "host.unregister":
        try await client.unregister(try (params["hosts"]?.list ?? []).map(host.serving))
      default: return await answer(of: client, call.method, params, page: call.page)
      }
      return .success(call.answer ?? .null)
    } catch {
      return .failure((error as? CallError) ?? CallError(.internal, "\(error)"))
    }
  }

  /// Sends a request. The page that it opens, whose id in the recording is known, is noted before the
  /// answer.
  private func answer(
    of client: BridgeClient, _ method: String, _ params: Value, page: String?
  ) async -> Result<Value, CallError> {
    let (opened, tell) = AsyncStream.makeStream(of: String.self)
    let noting = Task {
      for await new in opened {
        guard let page else { continue }
        comparison.likeness.learn(page, new)
        shown.insert(page)
        bell.ring()
      }
    }
    let result: Result<Value, CallError>
    do throws(CallError) {
      result = .success(
        try await client.request(method, params) { progress in
          if let new = progress["opened"]?["page"]?.string { tell.yield(new) }
        })
    } catch {
      result = .failure(error)
    }
    tell.finish()
    await noting.value
    return result
  }

  private func answered(_ call: RecordedSession.Call, _ answer: Result<Value, CallError>) {
    answers[call.line] = answer
    bell.ring()
  }

  private func translated(_ call: RecordedSession.Call) -> Value {
    let translated = comparison.likeness.translated(call.params)
    guard case .object(var params) = translated else { return translated }
    // For whose request it was made, under the id that this has now.
    if let id = call.params["onBehalfOf"], let now = asks.request(call.client, id) {
      params["onBehalfOf"] = now
    }
    return .object(params)
  }

  private func compare(_ call: RecordedSession.Call) async {
    // That a page is missing was told.
    if let page = call.page, missing.contains(page) { return }
    guard await wait(until: { answers[call.line] != nil }),
      let answer = answers.removeValue(forKey: call.line)
    else { return comparison.differ("\(call.line): \(call.text) is not answered") }
    if call.method == "session.invite", case .success(let value) = answer { clients.invite(value) }
    comparison.compare(call, with: answer)
  }

  // MARK: What is asked

  /// A client is asked for something; answers as the recording has it. `method` is nil for a method
  /// of the client's own, or of its page.
  func ask(
    _ client: String, _ method: String?, _ subject: String, _ request: Value
  ) async throws -> Value {
    guard isPlaying else { return .null }
    guard let ask = asks.take(client, method, subject, request) else {
      comparison.differ(
        "\(client) is asked for \(method ?? "the method") \(subject), which is not in the recording"
      )
      return .null
    }
    bell.ring()
    // As in the recording, what was called before it was answered is called before.
    _ = await wait(until: { !isPlaying || asks.isDue(ask) })
    guard ask.code != 0 else { return comparison.likeness.translated(ask.answer) }
    if ask.answer["data"]?["kind"] == "declined" { throw Declined() }
    throw CallError(code: Int(ask.code), message: ask.answer["message"]?.string ?? "")
  }

  /// A page is opened whose id in the recording is another.
  func opens(_ client: String, _ page: BridgeClient.Page) async throws {
    if isPlaying, let id = asks.page(openedBy: client, page.uri) {
      comparison.likeness.learn(id, page.id)
    }
    _ = try await ask(client, "page.open", page.uri, .null)
  }

  func closes(_ client: String) {
    // Which page it is, the change of the stack tells that is compared.
    guard isPlaying, asks.take(client, "page.close", nil, .null) != nil else { return }
    bell.ring()
  }
}
