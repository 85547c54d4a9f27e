import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Opens a page, or runs a task, in each session of an audience. Reports when each page is shown, and
/// each task is done or rejected, and then how each page ends.
struct OpenPagesOperation: PeerOperation, Codable {
  static let method = "peer.open"
  /// The longest time for which a page may be shown.
  private static let maxPageDuration: Duration = .seconds(86_400)

  let uri: String
  let params: ValueObject
  let exts: ValueObject
  let style: Style?
  let audience: Audience
  let timeoutMs: Int64

  var timeout: Duration { Self.maxPageDuration }

  func run(in context: PeerContext) async -> Value {
    let opened = await context.server.open(
      uri, params, exts: exts, style: style, in: audience, timeout: .milliseconds(timeoutMs))
    let names = opened.map(\.pageKey)
    let openedPages = context.server.pagesOfPeers
    openedPages.withLock { pages in
      for (name, delivery) in zip(names, opened) { pages[name] = try? delivery.result.get() }
    }
    defer { openedPages.withLock { pages in for name in names { pages[name] = nil } } }
    context.report(["shown": .array(opened.map(\.shownValue))])
    await withTaskGroup(of: Void.self) { tasks in
      for (index, delivery) in opened.enumerated() {
        guard case .success(let page) = delivery.result else { continue }
        tasks.addTask {
          var members: ValueObject = ["place": .integer(Int64(index))]
          do {
            members["outcome"] = try await page.outcome().value
          } catch {
            let error = (error as? CallError) ?? CallError(.internal, "\(error)")
            members["error"] = error.value
          }
          context.report(.object(members))
        }
      }
    }
    return .null
  }
}

/// Closes a page that was opened for another server; nothing happens if it has ended.
struct ClosePageOperation: PeerOperation, Codable {
  static let method = "peer.closePage"
  let session: String
  let page: String

  func run(in context: PeerContext) -> Value {
    context.server.pagesOfPeers.withLock { $0[session + "/" + page] }?.close()
    return .null
  }
}

extension SessionDispatch {
  /// Opens a page, or runs a task, in each session of an audience. Returns when each page is shown,
  /// and each task is done or rejected. Only the sessions of this server receive the attachments in
  /// `carrying`.
  package func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, carrying: [String: any Sendable] = [:]
  ) async throws(CallError) -> [Delivery<OpenedPage>] {
    func openLocally() async -> [Delivery<OpenedPage>] {
      await sessionServer.open(
        uri, params, exts: exts, style: style, in: audience, timeout: timeout, carrying: carrying)
    }
    let servers: [String]
    switch try await location(of: audience) {
    case .local: return await openLocally()
    case .server(let server): servers = [server]
    case nil: servers = cluster?.others.map(\.server) ?? []
    }
    let operation = OpenPagesOperation(
      uri: uri, params: params, exts: exts, style: style, audience: audience,
      timeoutMs: timeout.milliseconds)
    return await withTaskGroup(of: [Delivery<OpenedPage>].self) { tasks in
      if audience.session == nil { tasks.addTask { await openLocally() } }
      for server in servers {
        tasks.addTask { await RemotePages(at: server, self).open(operation) }
      }
      return await tasks.reduce(into: []) { $0 += $1 }
    }
  }
}

/// Pages in sessions of another server, which reports when they are shown, and how each ends.
private final class RemotePages: Sendable {
  private struct RemotePagesState {
    var outcomes: [Int: FirstResult<Outcome>] = [:]
    /// The error for pages without an outcome; nil while outcomes may arrive.
    var endError: CallError?
  }

  private let server: String
  private let dispatch: SessionDispatch
  private let state = Locked(RemotePagesState())
  private let shown = FirstResult<Value>()

  init(at server: String, _ dispatch: SessionDispatch) {
    self.server = server
    self.dispatch = dispatch
  }

  /// Opens pages. Returns when each page is shown, and each task is done or rejected.
  func open(_ operation: OpenPagesOperation) async -> [Delivery<OpenedPage>] {
    let request = Task {
      do throws(CallError) {
        _ = try await dispatch.send(operation, to: server) { self.receive($0) }
        end(
          with: CallError(.outcomeUnknown, "The server \(server) did not report how the page ended")
        )
      } catch {
        end(with: error)
      }
    }
    let shown = await withTaskCancellationHandler {
      try? await self.shown.value().get()
    } onCancel: {
      request.cancel()
    }
    return (shown?.array ?? []).enumerated().compactMap { delivery($0, $1) }
  }

  private func delivery(_ index: Int, _ entry: Value) -> Delivery<OpenedPage>? {
    guard let session = entry["session"]?.string else { return nil }
    let client = entry["client"]?.string
    if let error = entry["error"] {
      return Delivery(
        session: session, client: client, result: .failure(CallError(peerValue: error)))
    }
    let page = entry["page"]?.string
    let outcome = outcome(of: index)
    let outcomeTask = Task { [dispatch, server] in
      try await withTaskCancellationHandler {
        try await outcome.value().get()
      } onCancel: {
        guard let page else { return }
        Task {
          _ = try? await dispatch.send(ClosePageOperation(session: session, page: page), to: server)
        }
      }
    }
    return Delivery(
      session: session, client: client,
      result: .success(OpenedPage(page: page, outcomeTask: outcomeTask)))
  }

  private func outcome(of index: Int) -> FirstResult<Outcome> {
    state.withLock { state in
      if let known = state.outcomes[index] { return known }
      let outcome = FirstResult<Outcome>()
      if let end = state.endError { outcome.complete(.failure(end)) }
      state.outcomes[index] = outcome
      return outcome
    }
  }

  private func receive(_ value: Value) {
    if let shown = value["shown"] { return self.shown.complete(.success(shown)) }
    guard let index = value["place"]?.integer.map({ Int(clamping: $0) }) else { return }
    let outcome = outcome(of: index)
    if let error = value["error"] {
      outcome.complete(.failure(CallError(peerValue: error)))
    } else if let ended = Outcome(value["outcome"] ?? .null) {
      outcome.complete(.success(ended))
    }
  }

  private func end(with error: CallError) {
    shown.complete(.failure(error))
    let pending = state.withLock { state in
      state.endError = error
      return Array(state.outcomes.values)
    }
    for outcome in pending { outcome.complete(.failure(error)) }
  }
}

extension Delivery<OpenedPage> {
  /// A key that is unique among the open pages.
  fileprivate var pageKey: String { session + "/" + ((try? result.get())?.page ?? "") }

  /// The entry for another server, before the page has ended.
  fileprivate var shownValue: Value {
    var members: ValueObject = ["session": .string(session)]
    members["client"] = client.map(Value.string)
    switch result {
    case .success(let opened): members["page"] = opened.page.map(Value.string)
    case .failure(let error): members["error"] = error.value
    }
    return .object(members)
  }
}
