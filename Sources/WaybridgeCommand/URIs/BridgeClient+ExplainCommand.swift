import Waybridge
import WaybridgeClient

extension BridgeClient {
  /// The number of concurrent requests.
  private static let maxConcurrentRequests = 32

  /// The results of `router.explain` for each URI, in order.
  func explanations(of uris: [String]) async throws -> [Value] {
    return try await withThrowingTaskGroup(of: (Int, Value).self) { group in
      var explanations = [Value](repeating: .null, count: uris.count)
      for (index, uri) in uris.enumerated() {
        if index >= Self.maxConcurrentRequests, let (finished, value) = try await group.next() {
          explanations[finished] = value
        }
        group.addTask { (index, try await self.explanation(of: uri)) }
      }
      for try await (finished, value) in group { explanations[finished] = value }
      return explanations
    }
  }

  private func explanation(of uri: String) async throws -> Value {
    // The URI is too long for every server, and perhaps for a message to it.
    guard uri.utf8.count <= RouteURI.maxLength else { return Router().explain(uri).value }
    return try await request("router.explain", ["uri": .string(uri)])
  }
}
