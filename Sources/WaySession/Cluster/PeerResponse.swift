import WayValues

/// The response of one server to a request.
struct PeerResponse<Success: Sendable>: Sendable {
  let server: String
  let result: Result<Success, CallError>

  var isFailure: Bool { if case .failure = result { true } else { false } }

  /// Returns the response with another form of its result.
  func flatMap<Other>(
    _ transform: (Success) throws(CallError) -> Other
  ) -> PeerResponse<Other> {
    PeerResponse<Other>(
      server: server,
      result: result.flatMap { success in
        Result { () throws(CallError) in try transform(success) }
      })
  }
}

extension PeerResponse<Value> {
  /// The response as part of a result from all servers.
  var value: Value {
    switch result {
    case .success(let value):
      var members = value.object ?? [:]
      members["server"] = .string(server)
      return .object(members)
    case .failure(let error): return ["server": .string(server), "error": error.value]
    }
  }
}

extension CallError {
  /// Reads the error of a response of another server.
  init(peerValue value: Value) {
    self.init(
      code: value["code"]?.integer.map { Int(clamping: $0) } ?? ErrorCode.internal.rawValue,
      message: value["message"]?.string ?? "The server did not say why", data: value["data"])
  }
}
