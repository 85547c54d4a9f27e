import Waybridge
import WaybridgeClient

/// What one client of a recording shows, runs and answers in its replay.
struct ReplayedHost: PageHost {
  let player: Replayer
  /// Its name in the recording.
  let client: String

  /// What was declared, as this one serves it.
  func serving(_ declared: Value) throws -> BridgeClient.Host {
    guard declared["kind"] == "page" else {
      return try BridgeClient.Host.declared(declared) { call in
        try await player.ask(client, "task.run", call.uri, call.request)
      }
    }
    return try BridgeClient.Host.declared(declared, pages: self)
  }

  /// Answers a method of the client's own, or of the page that it runs in.
  func answer(_ call: BridgeClient.MethodCall) async throws -> Value {
    try await player.ask(client, nil, call.method, call.request)
  }

  func open(_ page: BridgeClient.Page) async throws { try await player.opens(client, page) }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
    await player.closes(client)
  }

  func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.Page
  ) async throws -> Value {
    try await player.ask(client, "page.call", call.method, call.request)
  }
}
