import WayNavigation
import WayRouting
import WayValues

/// What `session.push` asks for: a method, done in other sessions.
struct Push: Sendable {
  /// How long it is waited for where nothing is said.
  static let usualDeadline: Duration = .seconds(60)

  enum Action: Sendable {
    /// `router.open`: a page is opened, and its outcome awaited.
    case open(uri: String, style: Style?, exts: ValueObject)
    case invoke(uri: String, exts: ValueObject)
    case deliver(DeepLink)
    case pageCall(page: String, method: String)
    /// An event of the app's own.
    case event(topic: String, data: Value, retain: Int)
    /// A method of the clients' own.
    case client(String)
  }

  let audience: Audience
  let action: Action
  let params: ValueObject
  let deadline: Duration
  let method: String

  /// As `session.push` takes it.
  var told: Value {
    var given: ValueObject = [:]
    switch action {
    case .open(let uri, let style, let exts):
      given = ["uri": .string(uri), "params": .object(params), "exts": .object(exts)]
      given["style"] = style.map { .string($0.rawValue) }
    case .invoke(let uri, let exts):
      given = ["uri": .string(uri), "params": .object(params), "exts": .object(exts)]
    case .deliver(let link):
      given = ["uri": .string(link.uri), "params": .object(link.params)]
    case .pageCall(let page, let method):
      given = ["page": .string(page), "method": .string(method), "params": .object(params)]
    case .event(let topic, let data, let retain):
      given = ["topic": .string(topic), "data": data, "retain": .integer(Int64(retain))]
    case .client: given = params
    }
    return [
      "to": audience.told, "method": .string(method), "params": .object(given),
      "deadlineMs": .integer(Int64(clamping: deadline.milliseconds)),
    ]
  }

  /// Whether they may do it by themselves, too. Fails with 2403.
  func check(_ rights: Rights) throws(CallError) { try rights.enter(method) }
}
