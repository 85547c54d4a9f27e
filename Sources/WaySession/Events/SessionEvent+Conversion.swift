import WayNavigation
import WayRouting
import WayValues

// Conversions of a session event for hooks and for event subscribers.
extension SessionEvent {
  /// The event for hooks of the router; nil if they do not receive it.
  var routeEvent: RouteEvent? {
    switch self {
    case .pageRequested(let page): .willOpen(page)
    case .pageOpened(let page, let time): .didOpen(page, after: time)
    case .pageClosed(let page, let outcome, let time): .didClose(page, outcome, after: time)
    case .pageResumed(let page): .didResume(page)
    case .pageVisibilityChanged(let page, let visibility):
      .didChangeVisibility(page, visibility)
    case .pageFailed(let page, let error, let time):
      .didFail(RouteFailure(uri: page.uri, route: page.route, error, after: time))
    case .taskEnded(let task, nil, let time):
      .didRun(uri: task.uri, route: task.route, after: time)
    case .taskEnded(let task, let error?, let time):
      .didFail(RouteFailure(uri: task.uri, route: task.route, error, after: time))
    case .handlerResponded(let uri, let time): .didRun(uri: uri, route: nil, after: time)
    case .routeFailed(let uri, let error):
      .didFail(RouteFailure(uri: uri, route: nil, error, after: nil))
    case .operationFailed(let attempt, let error):
      .didFail(
        RouteFailure(
          uri: attempt.uri, method: attempt.method, route: nil, error, after: nil))
    case .joined, .left, .disconnected, .reconnected, .discarded, .restored, .unreadable,
      .restoreFailed, .takenOver,
      .handedOver,
      .gateChanged, .ended,
      .taskStarted, .taskDeclined, .callEnded,
      .hostTimedOut, .hostsChanged, .interceptorsDecided, .handlerThrew, .resultInvalid:
      nil
    }
  }

  /// The event for clients and Swift code, without the session's id; nil if they do not receive it.
  var systemEvent: (topic: SystemTopic, data: ValueObject)? {
    switch self {
    case .joined(let client, let isFirst):
      (isFirst ? .sessionOpened : .sessionJoined, client.members)
    case .disconnected(let client, _): (.sessionDisconnected, Self.data(of: client))
    case .reconnected(let client): (.sessionReconnected, Self.data(of: client))
    case .left(let client, _): (.sessionLeft, Self.data(of: client))
    case .gateChanged(let change):
      (.sessionGate, RecordCoder.value(of: change).object ?? [:])
    case .ended: (.sessionClosed, [:])
    case .pageOpened(let page, _): (.pageOpened, page.eventData)
    case .pageResumed(let page): (.pageResumed, page.eventData)
    case .pageVisibilityChanged(let page, let visibility):
      (.pageVisibility, page.visibilityData(visibility))
    case .pageClosed(let page, let outcome, _):
      (.pageClosed, page.eventData.with("outcome", .string(outcome.kind.rawValue)))
    case .pageFailed(let page, let error, _):
      (.pageFailed, page.eventData.with("code", .integer(Int64(error.code))))
    case .taskStarted(let task): (.taskStarted, task.eventData)
    case .taskEnded(let task, nil, _): (.taskFinished, task.eventData)
    case .taskEnded(let task, let error?, _):
      (.taskFailed, task.eventData.with("code", .integer(Int64(error.code))))
    case .taskDeclined(let task): (.taskDeclined, task.eventData)
    case .routeFailed(let uri, let error): (.routeFailed, error.eventData(uri: uri))
    case .operationFailed(let attempt, let error):
      (
        .routeFailed,
        attempt.method.map {
          error.eventData(uri: attempt.uri).with("method", .string($0))
        } ?? error.eventData(uri: attempt.uri)
      )
    case .discarded, .restored, .unreadable, .restoreFailed, .takenOver, .handedOver,
      .pageRequested,
      .handlerResponded,
      .callEnded, .hostTimedOut, .hostsChanged, .interceptorsDecided, .handlerThrew, .resultInvalid:
      nil
    }
  }
}

extension SessionEvent {
  /// The data of an event that names only a client.
  private static func data(of client: String) -> ValueObject { ["client": .string(client)] }

  /// What an event is about, which not every client of the session may know.
  enum Subject {
    case page(Page)
    /// The URI of a call.
    case call(String)
    /// The client that has joined, left, or lost or regained its connection.
    case client(String)

    /// Returns the data of an event for a client that may not know everything about the subject.
    func redacted(_ data: ValueObject) -> ValueObject {
      switch self {
      case .page, .call: data.with("uri", nil)
      case .client(let name): SessionEvent.data(of: name)
      }
    }
  }

  /// What the event is about; nil if every client may know all of its data.
  var subject: Subject? {
    switch self {
    case .joined(let client, _): .client(client.client)
    case .disconnected(let client, _), .reconnected(let client), .left(let client, _):
      .client(client)
    case .pageOpened(let page, _), .pageResumed(let page), .pageClosed(let page, _, _),
      .pageFailed(let page, _, _), .pageVisibilityChanged(let page, _):
      .page(page)
    case .taskStarted(let task), .taskEnded(let task, _, _), .taskDeclined(let task):
      .call(task.uri)
    case .routeFailed(let uri, _): .call(uri)
    case .operationFailed(let attempt, _): attempt.uri.map(Subject.call)
    default: nil
    }
  }

  /// Whether the event tells its caller a URI that it has not named itself.
  var addsURI: Bool {
    if case .operationFailed(let attempt, _) = self { return attempt.addsURI }
    return false
  }
}

extension RouteFailure {
  fileprivate init(
    uri: String?, method: String? = nil, route: String?, _ error: CallError, after: Duration?
  ) {
    self.init(
      uri: uri, method: method, route: route, code: error.code,
      kind: error.data?["kind"]?.string, message: error.message, duration: after)
  }
}

extension CallError {
  fileprivate func eventData(uri: String?) -> ValueObject {
    [
      "uri": uri.map(Value.string) ?? .null, "code": .integer(Int64(code)),
      "kind": data?["kind"] ?? .null,
    ]
  }
}

extension Page {
  fileprivate var eventData: ValueObject {
    ["page": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null]
  }
}

extension Page {
  /// The data of the event about the visibility of a page.
  func visibilityData(_ visibility: PageVisibility) -> ValueObject {
    eventData.with("visibility", .string(visibility.rawValue))
  }
}

extension TaskStart {
  fileprivate var eventData: ValueObject {
    [
      "call": .integer(Int64(number)), "uri": .string(uri),
      "route": route.map(Value.string) ?? .null,
    ]
  }
}

extension ValueObject {
  fileprivate func with(_ name: String, _ value: Value?) -> ValueObject {
    var fields = self
    fields[name] = value
    return fields
  }
}
