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

  /// Whether they may do it by themselves, too. Fails with 2403.
  func check(_ rights: Rights) throws(CallError) { try rights.enter(method) }
}
