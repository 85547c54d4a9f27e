import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Pages that are opened in sessions of another server: it tells when they are shown, and how each
/// ends.
final class RemotePages: Sendable {
  /// A page may be shown for so long.
  private static let patience: Duration = .seconds(86_400)

  private struct State {
    var outcomes: [Int: FirstResult<Outcome>] = [:]
    /// What has become of those that nothing was told of; nil while it may come.
    var end: CallError?
  }

  private let state = Locked(State())
  private let shown = FirstResult<Value>()

  /// Opens them, and returns when each is shown, done or refused.
  static func open(
    _ question: ValueObject, at server: String, _ cluster: ClusterNode
  ) async -> [Delivery<OpenedPage>] {
    let pages = RemotePages()
    let asking = Task {
      do throws(CallError) {
        _ = try await cluster.ask(server, .object(question), within: patience) {
          pages.heard($0)
        }
        pages.end(with: CallError(.outcomeUnknown, "The server \(server) did not say how it ended"))
      } catch {
        pages.end(with: error)
      }
    }
    let told = await withTaskCancellationHandler {
      try? await pages.shown.value().get()
    } onCancel: {
      asking.cancel()
    }
    return (told?.list ?? []).enumerated().compactMap { place, told in
      pages.delivery(place, told, at: server, cluster)
    }
  }

  private func delivery(
    _ place: Int, _ told: Value, at server: String, _ cluster: ClusterNode
  ) -> Delivery<OpenedPage>? {
    guard let session = told["session"]?.string else { return nil }
    let client = told["client"]?.string
    if let error = told["error"] {
      return Delivery(session: session, client: client, result: .failure(CallError(told: error)))
    }
    let page = told["page"]?.string
    let outcome = outcome(of: place)
    let opening = Task {
      try await withTaskCancellationHandler {
        try await outcome.value().get()
      } onCancel: {
        guard let page else { return }
        Task {
          _ = try? await cluster.ask(
            server, ["ask": "close", "session": .string(session), "page": .string(page)],
            within: AllServers.patience)
        }
      }
    }
    return Delivery(
      session: session, client: client, result: .success(OpenedPage(page: page, opening: opening)))
  }

  private func outcome(of place: Int) -> FirstResult<Outcome> {
    state.withLock { state in
      if let known = state.outcomes[place] { return known }
      let outcome = FirstResult<Outcome>()
      if let end = state.end { outcome.give(.failure(end)) }
      state.outcomes[place] = outcome
      return outcome
    }
  }

  private func heard(_ value: Value) {
    if let shown = value["shown"] { return self.shown.give(.success(shown)) }
    guard let place = value["place"]?.integer.map({ Int(clamping: $0) }) else { return }
    let outcome = outcome(of: place)
    if let error = value["error"] {
      outcome.give(.failure(CallError(told: error)))
    } else if let ended = Outcome(value["outcome"] ?? .null) {
      outcome.give(.success(ended))
    }
  }

  private func end(with error: CallError) {
    shown.give(.failure(error))
    let left = state.withLock { state in
      state.end = error
      return Array(state.outcomes.values)
    }
    for outcome in left { outcome.give(.failure(error)) }
  }
}
