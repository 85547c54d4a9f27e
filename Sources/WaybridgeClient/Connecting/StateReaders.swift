/// Who wants to know what becomes of the connection.
struct StateReaders {
  /// More than a reader that reads ever has to catch up with.
  private static let buffer = 256

  private var readers: [Int: BridgeClient.ConnectionStates.Continuation] = [:]
  private var last = 0
  /// What a new reader is told.
  private var state: BridgeClient.ConnectionState?

  /// A reader, who is told the state of now first; `gone` is called with its number when it is.
  mutating func add(
    _ gone: @escaping @Sendable (Int) -> Void
  ) -> BridgeClient.ConnectionStates {
    let (states, continuation) = BridgeClient.ConnectionStates.makeStream(
      bufferingPolicy: .bufferingNewest(Self.buffer))
    if let state { continuation.yield(state) }
    if case .ended = state {
      continuation.finish()
      return states
    }
    last += 1
    readers[last] = continuation
    continuation.onTermination = { [last] _ in gone(last) }
    return states
  }

  mutating func remove(_ number: Int) {
    readers[number] = nil
  }

  mutating func tell(_ state: BridgeClient.ConnectionState) {
    self.state =
      switch state {
      case .resumed, .begunAnew: .open
      case .open, .waiting, .ended: state
      }
    for reader in readers.values { reader.yield(state) }
    guard case .ended = state else { return }
    for reader in readers.values { reader.finish() }
    readers = [:]
  }
}
