import WayRPC
import WayTransport
import WayValues

/// `events.…`: the subscriptions of a client.
enum EventMethods {
  private static let topics = Param(.topics, .list)

  static let all = [
    SessionMethod("events.subscribe", [topics], subscribe),
    SessionMethod("events.unsubscribe", [topics], unsubscribe),
  ]

  private static func subscribe(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let requested = try patterns(params, session.limits)
    let before = session.events.subscribers[client.id]
    let owner = session.environment.owner
    let new = try session.events.subscribers.add(
      requested, for: client.id, after: owner.lastEventNumber)
    session.recordChange(client)
    // The response is sent first, so that the client knows what the retained events belong to.
    let response = SessionCallResponse.value(session.events.subscribers[client.id].value)
    session.respond(response, to: handle)
    let retained = owner.retainedMessages(for: session.id, client: client.name) {
      topic in !before.matches(topic) && new.contains { $0.matches(topic) }
    }
    // All retained messages are sent, or none. A client that reads must be able to receive all of
    // them, however many there are.
    if !retained.isEmpty { session.clientWriter.deliver(retained, to: client) }
    let visibility = SystemTopic.pageVisibility
    if !before.matches(visibility.rawValue),
      new.contains(where: { $0.matches(visibility.rawValue) })
    {
      for (page, state) in session.pages.stack.visibilities
      where session.pages.isOwn(page, of: handle.caller) {
        session.events.send(visibility, page.visibilityData(state), to: client)
      }
    }
    return .later
  }

  private static func unsubscribe(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    try session.events.subscribers.remove(
      try patterns(params, session.limits), of: client.id)
    session.recordChange(client)
    return .value(session.events.subscribers[client.id].value)
  }

  private static func patterns(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [TopicPattern] {
    let values = try params.requiredList(.topics)
    // A client's list is limited to this count, so that more topics are rejected without being
    // read.
    guard values.count <= limits.maxSubscriptions else {
      throw CallError(
        .tooMany, "A client may subscribe to at most \(limits.maxSubscriptions) topics")
    }
    var patterns: [TopicPattern] = []
    for (position, value) in values.enumerated() {
      let path = "params.topics[\(position)]"
      guard let text = value.string else { throw .typeMismatch(path, "a string", value) }
      do {
        patterns.append(try TopicPattern(text, limit: limits.maxTopic))
      } catch {
        throw .invalidParams("\(path) \(error.reason)")
      }
    }
    return patterns
  }
}
