import WayTransport
import WayValues

/// The events that the clients of one session publish: their rate, and those that are retained for
/// later subscribers.
struct SessionPublications {
  /// The maximum number of topics with retained events, and of bytes of all retained events.
  static let maxRetained = (topics: 64, bytes: 256 << 10)

  private(set) var retained = RetainedEvents(
    maxTopics: maxRetained.topics, maxBytes: maxRetained.bytes)
  private let clientLimit: PublishRateLimit
  private let sessionLimit: PublishRateLimit
  private var allowance = PublishRateLimit.PublishAllowance()

  init(_ limits: Limits) {
    clientLimit = PublishRateLimit(limits, part: 4)
    sessionLimit = PublishRateLimit(limits, part: 2)
  }

  /// Counts an event of a client. If the client, or all clients of the session, publish too often,
  /// throws 2429 and does not count it.
  mutating func charge(
    _ byteCount: Int, _ client: inout PublishRateLimit.PublishAllowance, at now: UInt64
  ) throws(CallError) {
    let wait = max(clientLimit.wait(client, at: now), sessionLimit.wait(allowance, at: now))
    guard wait == 0 else {
      let milliseconds = RateLimit.milliseconds(ofWait: wait)
      throw CallError(
        .tooMany, "Clients of the session publish too often; try again in \(milliseconds) ms",
        data: ["retryAfterMs": .integer(Int64(milliseconds))])
    }
    clientLimit.add(byteCount, &client, at: now)
    sessionLimit.add(byteCount, &allowance, at: now)
  }

  /// Retains an event for later subscribers, as the last of `count` events of its topic.
  mutating func retain(
    _ event: PublishedEvent, in session: String, last count: Int, _ charge: ByteBudget.Charge
  ) {
    retained.retain(event, for: .session(session), last: count, charge)
  }

  /// Removes the retained events of a topic.
  mutating func forget(_ topic: String, in session: String) {
    retained.forget(topic, for: .session(session))
  }
}
