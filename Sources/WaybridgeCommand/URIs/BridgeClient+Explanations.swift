import Waybridge
import WaybridgeClient

extension BridgeClient {
  /// How many URIs are asked for at a time.
  private static let window = 32

  /// What the bridge answers to `router.explain` for each URI, in order.
  func explanations(of uris: [String]) async throws -> [Value] {
    return try await withThrowingTaskGroup(of: (Int, Value).self) { group in
      var answers = [Value](repeating: .null, count: uris.count)
      for (index, uri) in uris.enumerated() {
        if index >= Self.window, let (answered, value) = try await group.next() {
          answers[answered] = value
        }
        group.addTask { (index, try await self.explanation(of: uri)) }
      }
      for try await (answered, value) in group { answers[answered] = value }
      return answers
    }
  }

  private func explanation(of uri: String) async throws -> Value {
    // Too long for any bridge, and perhaps for one of its messages.
    guard uri.utf8.count <= RouteURI.maxLength else { return Router().explain(uri).value }
    return try await request("router.explain", ["uri": .string(uri)])
  }
}
