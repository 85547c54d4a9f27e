import WayNavigation
import WayValues

/// The way in which a page is shown if the call that opens it does not specify it.
public struct Presentation: Sendable, Hashable {
  /// The style on the stack; `nil` for ``Style/push``.
  public let style: Style?
  /// The value of `exts.animated`; `nil` omits it.
  public let isAnimated: Bool?
  /// The value of `exts.navigation`, `false` for a modal without a stack of its own; `nil` omits
  /// it.
  public let hasNavigation: Bool?

  /// Creates a presentation; values that are `nil` are left to the call.
  public init(style: Style? = nil, isAnimated: Bool? = nil, hasNavigation: Bool? = nil) {
    self.style = style
    self.isAnimated = isAnimated
    self.hasNavigation = hasNavigation
  }

  /// Returns the `exts` of a call, completed by the values of the route.
  package func completing(_ exts: ValueObject) -> ValueObject {
    var filled = exts
    if let isAnimated, exts["animated"] == nil { filled["animated"] = .bool(isAnimated) }
    if let hasNavigation, exts["navigation"] == nil { filled["navigation"] = .bool(hasNavigation) }
    return filled
  }

  /// The presentation in a route table.
  package var value: Value {
    var members: ValueObject = [:]
    members["style"] = style.map { .string($0.rawValue) }
    members["animated"] = isAnimated.map(Value.bool)
    members["navigation"] = hasNavigation.map(Value.bool)
    return .object(members)
  }
}
