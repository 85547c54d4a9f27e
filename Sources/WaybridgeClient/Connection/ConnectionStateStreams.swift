/// The streams of connection states that this client's readers have opened.
struct ConnectionStateStreams {
  /// More states than an active reader ever has to catch up with.
  private static let bufferSize = 256

  private var continuations: [Int: BridgeClient.ConnectionStates.Continuation] = [:]
  private var lastNumber = 0
  /// The state that a new reader receives first.
  private var currentState: BridgeClient.ConnectionState?

  /// Adds a reader, which receives the current state first. `onTermination` is called with the
  /// reader's number when its stream ends.
  mutating func add(
    _ onTermination: @escaping @Sendable (Int) -> Void
  ) -> BridgeClient.ConnectionStates {
    let (states, continuation) = BridgeClient.ConnectionStates.makeStream(
      bufferingPolicy: .bufferingNewest(Self.bufferSize))
    if let currentState { continuation.yield(currentState) }
    if case .ended = currentState {
      continuation.finish()
      return states
    }
    lastNumber += 1
    continuations[lastNumber] = continuation
    continuation.onTermination = { [lastNumber] _ in onTermination(lastNumber) }
    return states
  }

  mutating func remove(_ number: Int) {
    continuations[number] = nil
  }

  mutating func publish(_ state: BridgeClient.ConnectionState) {
    self.currentState =
      switch state {
      case .resumed, .sessionReplaced: .open
      case .open, .waiting, .ended: state
      }
    for reader in continuations.values { reader.yield(state) }
    guard case .ended = state else { return }
    for reader in continuations.values { reader.finish() }
    continuations = [:]
  }
}
