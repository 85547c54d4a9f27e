import WayValues

extension CallError {
  /// As another server tells it (``value``).
  init(told value: Value) {
    self.init(
      code: value["code"]?.integer.map { Int(clamping: $0) } ?? ErrorCode.internal.rawValue,
      message: value["message"]?.string ?? "The server did not say why", data: value["data"])
  }
}
