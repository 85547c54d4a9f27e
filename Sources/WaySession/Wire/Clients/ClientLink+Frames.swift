import WayRPC

// The stored frames of the client.
extension ClientLink {
  /// The changes of the stored frames of a client.
  struct FrameChange {
    /// The frames that the client has acknowledged, by the numbers of their last messages; `nil` if
    /// there are none.
    fileprivate(set) var removed: ClosedRange<UInt64>?
    /// The frames that were not stored before.
    fileprivate(set) var added: [(last: UInt64, bytes: [UInt8])] = []
    /// Whether frames are left that are stored when the client does not acknowledge them.
    fileprivate(set) var isPartial = false
  }

  /// Time, in nanoseconds, to store frames that a client has not acknowledged. A client
  /// acknowledges frames within a second.
  private static let persistenceDelay: UInt64 = 2_000_000_000

  /// Decides which frames to store, and which are no longer needed. `isAwaited` is true if messages
  /// wait for the change: then all frames are stored with it. `now` is in nanoseconds of the loop's
  /// clock.
  ///
  /// After a restart, nothing waits for the responses to some requests. `abandonedRequests` returns
  /// these, by the numbers of their frames. A frame that cancels the request is stored in the place of
  /// each, since the client has not received the request by then.
  mutating func storeFrames(
    isAwaited: Bool, at now: UInt64, abandonedRequests: () -> [UInt64: RequestID]
  ) -> FrameChange {
    guard let outbox = sequence?.outbox else { return FrameChange() }
    var change = FrameChange()
    if let stored = persistence.storedFrames, stored.lowerBound <= outbox.acknowledged {
      let end = min(stored.upperBound, outbox.acknowledged)
      persistence.storedFrames = end == stored.upperBound ? nil : (end + 1)...stored.upperBound
      change.removed = stored.lowerBound...end
    }
    let first = max(outbox.acknowledged, persistence.storedFrames?.upperBound ?? 0)
    var last = outbox.last
    if !isAwaited, channel != nil {
      last = min(persistence.outboxMark.last, last)
      if now &- persistence.outboxMark.at < Self.persistenceDelay {
        last = first
      } else {
        persistence.outboxMark = (outbox.last, now)
      }
      change.isPartial = first < outbox.last
    }
    guard first < last else { return change }
    let abandoned = abandonedRequests()
    var writer = MessageWriter()
    outbox.forEach(after: first, through: last) { number, frame in
      var bytes = frame.withUnsafeBytes { Array($0) }
      if let id = abandoned[number],
        (try? writer.writeNotification("$/cancelRequest", ["id": id.value])) != nil
      {
        bytes = writer.numbered(number)
      }
      change.added.append((number, bytes))
      persistence.storedFrames = (persistence.storedFrames?.lowerBound ?? number)...number
    }
    return change
  }

  /// The number of the last stored frame, or of the last one that the client has acknowledged.
  var lastStoredFrame: UInt64 {
    persistence.storedFrames?.upperBound ?? sequence?.outbox.acknowledged ?? 0
  }

  /// The requests whose responses are lost with the server, so that the outcome of their calls is not
  /// known then, each with the number of the response's last message. A client that has received that
  /// message has the response.
  var unstoredResponses: [(id: RequestID, last: UInt64)] {
    var responses = persistence.unconfirmedResponses
    guard let outbox = sequence?.outbox else { return responses }
    responses += outbox.unsentResponseIDs.map { ($0, .max) }
    outbox.forEach(after: lastStoredFrame) { last, frame in
      responses += MessageIDReader.responseIDs(in: frame).map { ($0, last) }
    }
    return responses
  }
}
