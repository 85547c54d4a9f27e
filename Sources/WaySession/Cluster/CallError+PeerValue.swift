import WayValues

extension CallError {
  /// Reads the error of a response of another server.
  init(peerValue value: Value) {
    self.init(
      code: value["code"]?.integer.map { Int(clamping: $0) } ?? ErrorCode.internal.rawValue,
      message: value["message"]?.string ?? "The server did not say why", data: value["data"])
  }
}
