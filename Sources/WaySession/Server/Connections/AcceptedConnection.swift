import WayTransport

/// A connection that a loop has accepted.
struct AcceptedConnection: Sendable {
  let channel: any MessageChannel
  let handshake: Handshake
  /// The loop of the channel.
  let loopSessions: LoopSessions
  /// Whether another server relays it.
  let isRelayed: Bool
  /// When it was accepted, in nanoseconds of the loops' clock: one time, or a range if another
  /// server relays it.
  let acceptTime: ClosedRange<UInt64>

  init(_ channel: any MessageChannel, _ handshake: Handshake, on loopSessions: LoopSessions) {
    let acceptedAt = handshake.receivedAt ?? channel.loop.nanoseconds
    self.init(
      channel, handshake, on: loopSessions, isRelayed: false, acceptTime: acceptedAt...acceptedAt)
  }

  init(
    _ channel: any MessageChannel, _ handshake: Handshake, on loopSessions: LoopSessions,
    isRelayed: Bool, acceptTime: ClosedRange<UInt64>
  ) {
    self.channel = channel
    self.handshake = handshake
    self.loopSessions = loopSessions
    self.isRelayed = isRelayed
    self.acceptTime = acceptTime
  }

  /// Waits for some work, which is not measured, and receives no messages meanwhile. Returns nil if
  /// the task was cancelled by then, and still receives none. Call on the loop.
  nonisolated(nonsending) func pause<Result: Sendable>(
    during work: @Sendable () async -> Result
  ) async -> Result? {
    channel.pause()
    let result = await work()
    guard !Task.isCancelled else { return nil }
    channel.resume()
    loopSessions.meter.begin()
    return result
  }

  /// The same connection after its channel has become another one on another loop.
  func moved(to channel: any MessageChannel, on loopSessions: LoopSessions) -> AcceptedConnection {
    AcceptedConnection(
      channel, handshake, on: loopSessions, isRelayed: isRelayed, acceptTime: acceptTime)
  }
}
