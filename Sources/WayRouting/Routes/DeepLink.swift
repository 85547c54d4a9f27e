import WayNavigation
import WayPatterns
import WayValues

/// A deep link: a link from outside of the app, such as a push message, a shortcut, a universal
/// link or another app.
public struct DeepLink: Sendable, Hashable {
  /// The URI to open.
  public let uri: String
  /// The business parameters, which override those of the URI.
  public let params: ValueObject
  /// Extensions that are not business data (`animated`, …); they reach the host unchanged.
  public let exts: ValueObject
  /// The style of the page; `nil` for the one that its route declares.
  public let style: Style?
  /// The idempotency key, 1 to 128 bytes; `nil` if each delivery counts. Within 10 minutes, a link
  /// with the same key and the same content is followed once.
  public let key: String?

  /// Creates a deep link; its URI is parsed when it is delivered.
  public init(
    _ uri: String, params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    key: String? = nil
  ) {
    self.uri = uri
    self.params = params
    self.exts = exts
    self.style = style
    self.key = key
  }
}

extension PatternTarget {
  /// The name of the URL in the targets of actions.
  static var actionURL: String { "action_url" }

  /// Creates a target whose only parameter is the URL of an action.
  package init(action text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first(where: { $0 != Self.actionURL }) {
      throw RoutePatternError(text, at: 0, "\":\(name)\" has no value here; \":action_url\" has")
    }
  }
}
