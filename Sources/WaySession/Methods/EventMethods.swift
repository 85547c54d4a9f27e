import WayRPC
import WayRouting
import WayTransport
import WayValues

/// `events.…`: the subscriptions of a client, and the events that it publishes.
enum EventMethods {
  private static let topics = Param(.topics, .list)

  static let all = [
    SessionMethod("events.subscribe", [topics], subscribe),
    SessionMethod("events.unsubscribe", [topics], unsubscribe),
    SessionMethod(
      "events.publish",
      [
        Param(.topic, .string), Param(.data, .any), Param(.retain, .count), Param(.clear, .bool),
      ], publish),
  ]

  private static func subscribe(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let requested = try requiredPatterns(params, session.limits)
    let before = session.events.subscribers[client.id]
    let owner = session.environment.owner
    let new = try session.events.subscribers.add(
      requested, for: client.id, after: owner.lastEventNumber)
    session.recordChange(client)
    // The response is sent first, so that the client knows what the retained events belong to.
    let response = SessionCallResponse.value(session.events.subscribers[client.id].value)
    session.respond(response, to: handle)
    let isWanted: @Sendable (String) -> Bool = { topic in
      !before.matches(topic) && new.contains { $0.matches(topic) }
    }
    let retained =
      owner.retainedEvents(for: session.id, client: client.name, where: isWanted)
      + session.events.retainedEvents(where: isWanted)
    // All retained messages are sent, or none. A client that reads must be able to receive all of
    // them, however many there are.
    if !retained.isEmpty {
      let messages = retained.sorted { $0.number < $1.number }.map(\.message)
      session.clientWriter.deliver(messages, to: client)
    }
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
      try requiredPatterns(params, session.limits), of: client.id)
    session.recordChange(client)
    return .value(session.events.subscribers[client.id].value)
  }

  /// Publishes an event in the client's session, or only removes the retained events of its topic.
  private static func publish(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let topic = try params.required(.topic)
    if let violation = SessionTopic.violation(in: topic, limit: session.limits.maxTopic) {
      throw .invalidParams("params.topic \(violation)")
    }
    if SystemTopic.isReserved(topic) {
      throw .invalidParams(
        "params.topic: \(topic.quoted) is the server's own; begin it with another word")
    }
    let retain = params.count(.retain) ?? 0
    guard retain <= RetainedEvents.maxEvents else {
      throw .invalidParams("params.retain must be an integer from 0 to \(RetainedEvents.maxEvents)")
    }
    // A client that is not allowed to publish learns nothing about the topics.
    try client.rights.check(.publish, topic)
    let clears = params.bool(.clear) ?? false
    let snapshot = session.resolver.snapshot
    guard let declared = snapshot.topics[topic] else {
      throw undeclared(topic, snapshot, client.rights)
    }
    // A JSON null is data; only an absent member has no value.
    let given = params[.data]
    if case .none = given, clears {
      guard retain == 0 else {
        throw .invalidParams("params.retain needs params.data, because params.clear is true")
      }
      session.events.forget(topic)
      return .value(EventReceipt().value)
    }
    let data = given ?? .null
    do { try declared.check(data) } catch { throw CallError(RouterResolutionError(error)) }
    let receipt = try session.events.publish(
      topic, data, retain: retain, clears: clears, by: client)
    return .value(receipt.value)
  }

  private static func undeclared(
    _ topic: String, _ snapshot: RouterSnapshot, _ rights: Rights
  ) -> CallError {
    guard snapshot.table != nil else {
      return CallError(
        .noRoute,
        "The server has no route table, and clients may publish only topics that a table declares",
        kind: "noTopic")
    }
    let known = snapshot.topics.keys.lazy.filter { (try? rights.check(.publish, $0)) != nil }
    return CallError(
      .noRoute,
      "The route table declares no topic \(topic.quoted)"
        + (NameSuggestion.closest(topic, among: known).map { "; did you mean \($0.quoted)?" } ?? ""),
      kind: "noTopic")
  }

  private static func requiredPatterns(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [TopicPattern] {
    _ = try params.requiredList(.topics)
    return try patterns(params, limits) ?? []
  }

  /// Reads the topics of a request; `nil` if there is no list.
  static func patterns(
    _ params: Params, _ limits: Limits
  ) throws(CallError) -> [TopicPattern]? {
    guard let values = params.list(.topics) else { return nil }
    // A client's list is limited to this count, so that more topics are rejected without being
    // read.
    guard values.count <= limits.maxSubscriptions else {
      throw CallError(
        .tooMany, "params.topics may hold at most \(limits.maxSubscriptions) topics")
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
