import WayRPC
import WayRouting
import WayTransport
import WayValues

// Events: who wants which, and telling them.
extension Session {
  func subscribe(_ params: MethodParams, _ origin: Origin) throws(RPCError) -> Reply {
    let client = origin.client
    let asked = try params.topics(limits: settings.limits)
    let before = client.subscriptions
    let new = try client.subscriptions.add(asked, limit: settings.limits.maxSubscriptions)
    subscriptionsChanged()
    // The answer goes first, so that the client knows what the retained events belong to.
    reply(.success(client.subscriptions.value), to: origin)
    let retained = bridge.assumeIsolated { bridge in
      bridge.retained(for: id, client: client.name) { topic in
        !before.covers(topic) && new.contains { $0.covers(topic) }
      }
    }
    guard !retained.isEmpty, let channel = readingChannel(of: client) else { return .later }
    // All of it or nothing: a client that reads must be able to take what is retained, however much that is.
    for bytes in retained { channel.send(bytes.span.bytes, as: .text) }
    return .later
  }

  func unsubscribe(_ params: MethodParams, _ client: Client) throws(RPCError) -> Value {
    try client.subscriptions.remove(try params.topics(limits: settings.limits))
    subscriptionsChanged()
    return client.subscriptions.value
  }

  /// Sees anew which of the server's own topics anybody listens to.
  func subscriptionsChanged() {
    heard = clients.values.reduce(into: heardBySwift) { $0.formUnion($1.subscriptions.families) }
  }

  /// What Swift code listens to has changed.
  func swiftHears(_ families: TopicFamilies) {
    heardBySwift = families
    subscriptionsChanged()
  }

  /// Tells an event of the session's own; costs one test when nobody listens to such.
  func tell(_ topic: OwnTopic, _ data: @autoclosure () -> ValueObject) {
    guard heard.contains(topic.family) else { return }
    var members: ValueObject = ["session": .string(id)]
    members.merge(data())
    let event = BridgeEvent(topic: topic.rawValue, data: .object(members), at: settings.now())
    if heardBySwift.contains(topic.family) { bridge.assumeIsolated { $0.heard(event) } }
    guard (try? writer.notification("event", event.value)) != nil else { return }
    deliver(writer.bytes, topic.rawValue)
  }

  /// Sends a whole `event` message to those who want its topic: to one client, where it is named.
  func deliver(_ bytes: [UInt8], _ topic: String, only name: String? = nil) {
    for client in clients.values
    where (name ?? client.name) == client.name && client.subscriptions.covers(topic) {
      readingChannel(of: client)?.send(bytes.span.bytes, as: .text)
    }
  }

  /// A client that does not read what it asked for would make the server grow: it is closed.
  private func readingChannel(of client: Client) -> (any MessageChannel)? {
    let limit = settings.limits.maxBacklog
    guard let channel = client.channel, channel.bufferedBytes > limit else { return client.channel }
    channel.close(.slowConsumer, "more than \(limit) bytes wait to be read")
    return nil
  }
}

extension Subscriptions {
  /// As the wire has it.
  fileprivate var value: Value {
    ["topics": .list(patterns.map { .string($0.text) })]
  }
}

// What the session's own events tell.
extension Session {
  func tell(_ change: StackChange) {
    for closed in change.closed {
      tell(
        .pageClosed,
        closed.page.eventData.with("outcome", .string(closed.outcome.kind.rawValue)))
    }
    if let page = change.shown { tell(.pageOpened, page.eventData) }
    if let page = change.resumed { tell(.pageResumed, page.eventData) }
  }

  func tellFailed(_ page: Page, _ error: RPCError) {
    tell(.pageFailed, page.eventData.with("code", .integer(Int64(error.code))))
  }

  /// A call that came to no page and no task.
  func tellNowhere(_ uri: @autoclosure () -> String?, _ error: RPCError) {
    let isHooked = routes.current().hasHooks
    guard isHooked || heard.contains(.route), let uri = uri() else { return }
    if isHooked { tellHooks(.failed(failure(uri, nil, error))) }
    let kind = error.data?["kind"] ?? .null
    tell(.routeFailed, ["uri": .string(uri), "code": .integer(Int64(error.code)), "kind": kind])
  }

  /// A task begins; what is given back tells of its end. Nil when nobody listens.
  func taskStarted(_ destination: Destination) -> ((Result<Value, RPCError>) -> Void)? {
    guard heard.contains(.task) || routes.current().hasHooks else { return nil }
    let began = loop.nanoseconds
    let (uri, route) = (destination.uri.text, destination.route?.name)
    let data: ValueObject = [
      "call": .integer(Int64(makeCallNumber())), "uri": .string(uri),
      "route": route.map(Value.string) ?? .null,
    ]
    tell(.taskStarted, data)
    return { result in
      switch result {
      case .success:
        self.tell(.taskFinished, data)
        self.tellHooks(.didRun(uri: uri, route: route, after: self.elapsed(since: began)))
      case .failure(let error):
        self.tell(.taskFailed, data.with("code", .integer(Int64(error.code))))
        self.tellHooks(.failed(self.failure(uri, route, error, after: self.elapsed(since: began))))
      }
    }
  }
}

extension Page {
  fileprivate var eventData: ValueObject {
    ["page": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null]
  }
}

extension ValueObject {
  fileprivate func with(_ name: String, _ value: Value) -> ValueObject {
    var members = self
    members[name] = value
    return members
  }
}
