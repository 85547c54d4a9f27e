import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Pages in sessions of another server, which reports when they are shown, and how each ends.
final class RemotePages: Sendable {
  /// The longest time for which a page may be shown.
  private static let maxPageDuration: Duration = .seconds(86_400)

  private struct RemotePagesState {
    var outcomes: [Int: FirstResult<Outcome>] = [:]
    /// The error for pages without an outcome; nil while outcomes may arrive.
    var endError: CallError?
  }

  private let state = Locked(RemotePagesState())
  private let shown = FirstResult<Value>()

  /// Opens pages. Returns when each page is shown, and each task is done or rejected.
  static func open(
    _ body: ValueObject, at server: String, _ cluster: ClusterNode
  ) async -> [Delivery<OpenedPage>] {
    let pages = RemotePages()
    let request = Task {
      do throws(CallError) {
        _ = try await cluster.request(server, .object(body), within: maxPageDuration) {
          pages.receive($0)
        }
        pages.end(
          with: CallError(.outcomeUnknown, "The server \(server) did not report how the page ended")
        )
      } catch {
        pages.end(with: error)
      }
    }
    let shown = await withTaskCancellationHandler {
      try? await pages.shown.value().get()
    } onCancel: {
      request.cancel()
    }
    return (shown?.array ?? []).enumerated().compactMap { index, entry in
      pages.delivery(index, entry, at: server, cluster)
    }
  }

  private func delivery(
    _ index: Int, _ entry: Value, at server: String, _ cluster: ClusterNode
  ) -> Delivery<OpenedPage>? {
    guard let session = entry["session"]?.string else { return nil }
    let client = entry["client"]?.string
    if let error = entry["error"] {
      return Delivery(
        session: session, client: client, result: .failure(CallError(peerValue: error)))
    }
    let page = entry["page"]?.string
    let outcome = outcome(of: index)
    let outcomeTask = Task {
      try await withTaskCancellationHandler {
        try await outcome.value().get()
      } onCancel: {
        guard let page else { return }
        Task {
          _ = try? await cluster.request(
            server, ["ask": "close", "session": .string(session), "page": .string(page)],
            within: ClusterDispatch.requestTimeout)
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
