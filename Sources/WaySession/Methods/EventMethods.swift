import WayRPC
import WayValues

/// `events.…`: what a client wants to be told of.
enum EventMethods {
  private static let topics = Param(.topics, .list)

  static let all = [
    Method("events.subscribe", [topics], subscribe),
    Method("events.unsubscribe", [topics], unsubscribe),
  ]

  private static func subscribe(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let client = address.client
    let asked = try patterns(params, session.limits)
    let before = session.happenings.subscribers[client.id]
    let new = try session.happenings.subscribers.add(asked, for: client.id)
    session.note(client)
    // The answer goes first, so that the client knows what the retained events belong to.
    let answer = Answer.value(session.happenings.subscribers[client.id].value)
    session.reply(answer, to: address)
    let retained = session.environment.owner.retained(for: session.id, client: client.name) {
      topic in !before.covers(topic) && new.contains { $0.covers(topic) }
    }
    // All of it or nothing: a client that reads must be able to take what is retained, however much
    // that is.
    if !retained.isEmpty { session.mail.deliver(retained, to: client) }
    return .later
  }

  private static func unsubscribe(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let client = address.client
    try session.happenings.subscribers.remove(
      try patterns(params, session.limits), of: client.id)
    session.note(client)
    return .value(session.happenings.subscribers[client.id].value)
  }

  private static func patterns(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [TopicPattern] {
    let values = try params.requiredList(.topics)
    // So many at once are looked at as may stand in one client's list: the rest is refused unread.
    guard values.count <= limits.maxSubscriptions else {
      throw CallError(.tooMany, "A client may subscribe to \(limits.maxSubscriptions) topics")
    }
    var patterns: [TopicPattern] = []
    for (position, value) in values.enumerated() {
      let path = "params.topics[\(position)]"
      guard let text = value.string else { throw .unfit(path, "a string", value) }
      do {
        patterns.append(try TopicPattern(text, limit: limits.maxTopic))
      } catch {
        throw .invalidParams("\(path) \(error.reason)")
      }
    }
    return patterns
  }
}
