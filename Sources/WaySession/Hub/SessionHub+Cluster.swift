import WayTransport
import WayValues

// What becomes of the sessions of one loop while another server may have them.
extension LoopSessions {
  /// How often it is looked whether the server may still take its sessions for its own.
  private static let watchInterval: Duration = .milliseconds(100)
  /// As clients are told; where the engine is, and what is wrong with it, is for the log.
  private static let away = "the cluster's engine cannot be used"

  /// Looks from now on whether it may, also where nothing comes; and where the store has taken long
  /// for a change, before anybody is told of it.
  func watchTenure() {
    writer?.willRelease = { [weak self] in self?.assumeIsolated { $0.checkTenure() } }
    lookAtTenure()
  }

  private func lookAtTenure() {
    checkTenure()
    _ = loop.schedule(after: Self.watchInterval) { [weak self] in
      self?.assumeIsolated { $0.lookAtTenure() }
    }
  }

  private func checkTenure() {
    guard let tenure else { return }
    if tenure.isOver(at: loop.nanoseconds) {
      cutOff(Self.away, untilVerified: false)
    } else if doubts.begun == doubts.settled {
      letIn()
    }
  }

  /// Nothing of sessions that are kept goes out from now on, and nobody comes in: their clients go
  /// elsewhere, or come again. `untilVerified` where it is not known which of them are still here.
  func cutOff(_ reason: String, untilVerified: Bool) {
    if untilVerified { doubts.begun += 1 }
    guard cutOffReason == nil else { return }
    cutOffReason = reason
    group.closed(because: reason)
    for session in kept {
      session.assumeIsolated { session in
        ClientResume.pause(in: session)
        for client in session.members.all {
          client.channel?.close(.drain, "\(reason): try another server")
        }
      }
    }
  }

  /// Hands over all sessions anew.
  func keepAnew() async throws {
    try await writer?.verify()
  }

  /// Finds out which sessions are still here, after the server has its lease again.
  func verify() async throws {
    // What has been lost meanwhile is not settled by it.
    let begun = doubts.begun
    try await keepAnew()
    doubts.settled = begun
    checkTenure()
  }

  /// Clients can come in again.
  private func letIn() {
    guard cutOffReason != nil else { return }
    cutOffReason = nil
    group.opened()
    for session in kept { session.assumeIsolated { ClientResume.unpause(in: $0) } }
  }

  /// Fails with 2503 where nobody is let in.
  func checkOpen() throws(CallError) {
    guard let reason = closedReason else { return }
    throw CallError(.unavailable, "No session can begin: \(reason); try again later")
  }

  /// Why nobody is let in; nil where everybody is.
  var closedReason: String? {
    if let cutOffReason { return cutOffReason }
    guard let tenure, tenure.isOver(at: loop.nanoseconds) else { return nil }
    return Self.away
  }
}
