import WayNavigation
import WayRouting
import WayValues

/// The request of `session.push`: a method to run in other sessions.
struct SessionPush: Sendable {
  /// The timeout if the caller gives none.
  static let defaultTimeout: Duration = .seconds(60)

  enum PushAction: Sendable {
    /// `router.open`: opens a page and awaits its outcome.
    case open(uri: String, style: Style?, exts: ValueObject)
    case invoke(uri: String, exts: ValueObject)
    case deliver(DeepLink)
    case pageCall(page: String, method: String)
    case edit(StackEditParams)
    /// An event of the app.
    case event(topic: String, data: Value, retain: Int)
    /// A method that the clients define.
    case client(String)
  }

  let audience: Audience
  let action: PushAction
  let params: ValueObject
  let timeout: Duration
  let method: String
  /// The idempotency key; `nil` if each push counts. That of a deep link is the link's own.
  var key: String?

  /// The params of `session.push`.
  var value: Value {
    var pushParams: ValueObject = [:]
    switch action {
    case .open(let uri, let style, let exts):
      pushParams = ["uri": .string(uri), "params": .object(params), "exts": .object(exts)]
      pushParams["style"] = style.map { .string($0.rawValue) }
    case .invoke(let uri, let exts):
      pushParams = ["uri": .string(uri), "params": .object(params), "exts": .object(exts)]
    case .deliver(let link): pushParams = link.with(key: nil).recordFields
    case .pageCall(let page, let method):
      pushParams = ["page": .string(page), "method": .string(method), "params": .object(params)]
    case .edit(let edit): pushParams = edit.value
    case .event(let topic, let data, let retain):
      pushParams = ["topic": .string(topic), "data": data, "retain": .integer(Int64(retain))]
    case .client: pushParams = params
    }
    var value: ValueObject = [
      "to": audience.value, "method": .string(method), "params": .object(pushParams),
      "deadlineMs": .integer(Int64(clamping: timeout.milliseconds)),
    ]
    value["key"] = key.map(Value.string)
    return .object(value)
  }

  /// The request that the key stands for. It has no audience: a session that receives it twice under
  /// the same key carries it out once.
  var request: IdempotentRequest {
    switch action {
    case .open(let uri, let style, let exts):
      var content: ValueObject = ["params": .object(params), "exts": .object(exts)]
      content["style"] = style.map { .string($0.rawValue) }
      return IdempotentRequest(method: method, target: uri, params: content)
    case .invoke(let uri, let exts):
      return IdempotentRequest(
        method: method, target: uri, params: ["params": .object(params), "exts": .object(exts)])
    case .deliver(let link): return link.request
    case .pageCall(let page, let pageMethod):
      return IdempotentRequest(
        method: "\(method) \(pageMethod)", target: page, params: params)
    case .edit(let edit):
      return IdempotentRequest(method: method, target: "", params: edit.value)
    case .event(let topic, let data, let retain):
      return IdempotentRequest(
        method: method, target: topic, params: ["data": data, "retain": .integer(Int64(retain))])
    case .client: return IdempotentRequest(method: method, target: "", params: params)
    }
  }

  /// The name of the key among those of a session; `nil` without a key. If each client of a session
  /// gets the push, `client` tells them apart.
  func keyName(by rights: Rights?, client: String? = nil) -> ScopedKey? {
    guard let key else { return nil }
    var owner = Rights.pushKeyOwner(rights)
    if case .client = action, let client { owner += "/\(client)" }
    return ScopedKey(owner: owner, text: key)
  }

  /// Checks that the caller may also call the method itself. Fails with 2403.
  func authorize(_ rights: Rights) throws(CallError) {
    if case .event(let topic, _, _) = action {
      try rights.check(.event, topic)
    } else {
      try rights.authorize(method)
    }
  }
}

/// The result of an operation of the app for one of several sessions or clients.
public struct Delivery<Success: Sendable>: Sendable {
  /// The id of the session.
  public let session: String
  /// The name of the client that received the request; nil if it was the session.
  public let client: String?
  /// The response, or why there is none: the client's own error unchanged, or one of the
  /// protocol's.
  public let result: Result<Success, CallError>

  /// Creates a delivery, for tests of code that reads deliveries.
  public init(session: String, client: String? = nil, result: Result<Success, CallError>) {
    self.session = session
    self.client = client
    self.result = result
  }
}

extension AwayPush {
  /// Creates the description of a push. Returns `nil` for methods of pages, of the stack and of the
  /// clients' own, which mean nothing without their clients.
  init?(_ push: SessionPush, at now: Int64) {
    switch push.action {
    case .open(let uri, _, _), .invoke(let uri, _):
      self.init(
        method: push.method, target: uri, params: .object(push.params), key: push.key, at: now)
    case .deliver(let link): self.init(link, at: now)
    case .event(let topic, let data, _):
      self.init(method: push.method, target: topic, params: data, key: push.key, at: now)
    case .pageCall, .edit, .client: return nil
    }
  }
}
