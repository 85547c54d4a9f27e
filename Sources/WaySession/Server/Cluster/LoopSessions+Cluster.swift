import WayTransport
import WayValues

// Fences the sessions of one loop while another server may own them.
extension LoopSessions {
  /// How often it checks whether the server's lease is still valid.
  private static let leaseCheckInterval: Duration = .milliseconds(100)

  /// Checks the lease from now on, also without messages, and before clients are notified of a
  /// change that the store has taken long for.
  func monitorLease() {
    writer?.willRelease = { [weak self] in self?.assumeIsolated { $0.checkLease() } }
    repeatLeaseCheck()
  }

  private func repeatLeaseCheck() {
    checkLease()
    _ = loop.schedule(after: Self.leaseCheckInterval) { [weak self] in
      self?.assumeIsolated { $0.repeatLeaseCheck() }
    }
  }

  private func checkLease() {
    guard let leaseValidity else { return }
    if leaseValidity.hasExpired(at: loop.nanoseconds) {
      fence(untilVerified: false)
    } else if ownershipChecks.required == ownershipChecks.completed {
      unfence()
    }
  }

  /// Stops all messages of durable sessions, and rejects connections: their clients use another
  /// server, or reconnect. `untilVerified` if it is not known which of the sessions this server
  /// still owns.
  func fence(untilVerified: Bool) {
    if untilVerified { ownershipChecks.required += 1 }
    guard !isFenced else { return }
    isFenced = true
    let reason = clusterReason
    sessionServer.logFence(because: reason)
    // Another server may own the sessions: none of them may send anything from now on.
    forEachSessionAtOnce { session in
      guard session.isDurable else { return }
      session.assumeIsolated { session in
        session.pauseResumeTimers()
        for client in session.clients.all {
          client.channel?.close(.drain, "\(reason.text); try another server")
        }
      }
    }
  }

  /// Stores all sessions again.
  func persistAll() async throws {
    try await writer?.verify()
  }

  /// Finds out which sessions this server still owns, after its lease was renewed.
  func verify() async throws {
    // A loss that happens meanwhile needs another check.
    let required = ownershipChecks.required
    try await persistAll()
    ownershipChecks.completed = required
    checkLease()
  }

  /// Accepts clients again.
  private func unfence() {
    guard isFenced else { return }
    isFenced = false
    sessionServer.logUnfence()
    Task { await resumeTimers() }
  }

  private func resumeTimers() async {
    await forEachSession(.send) { session in
      // Connections may be rejected again.
      guard session.isDurable, !isFenced else { return }
      session.assumeIsolated { $0.restartResumeTimers() }
    }
  }

  /// Fails with 2503 if connections are rejected.
  func checkAdmission() throws(CallError) {
    guard let reason = rejectionReason else { return }
    throw CallError(.unavailable, "The server accepts no sessions now: \(reason); try again later")
  }

  /// Why connections are rejected; nil if they are accepted.
  var rejectionReason: String? {
    guard isFenced || leaseValidity?.hasExpired(at: loop.nanoseconds) == true else { return nil }
    return clusterReason.text
  }

  /// Why the sessions are fenced. A loop whose lease was just renewed has not checked it yet.
  private var clusterReason: ClusterRejectionReason {
    sessionServer.cluster?.rejectionReason ?? .verification
  }
}
