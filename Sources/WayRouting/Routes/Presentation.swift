import WayNavigation
import WayValues

/// How a page is shown where the call that opens it does not say.
public struct Presentation: Sendable, Hashable {
  /// How it takes its place on the stack; nil for ``Style/push``.
  public let style: Style?
  /// `exts.animated`; nil leaves it out.
  public let isAnimated: Bool?
  /// `exts.navigation`: false for a modal without a stack of its own; nil leaves it out.
  public let hasNavigation: Bool?

  /// A presentation; what is nil is left to the call.
  public init(style: Style? = nil, isAnimated: Bool? = nil, hasNavigation: Bool? = nil) {
    self.style = style
    self.isAnimated = isAnimated
    self.hasNavigation = hasNavigation
  }

  /// The `exts` of a call, with what it leaves to the route.
  package func filling(_ exts: ValueObject) -> ValueObject {
    var filled = exts
    if let isAnimated, exts["animated"] == nil { filled["animated"] = .bool(isAnimated) }
    if let hasNavigation, exts["navigation"] == nil { filled["navigation"] = .bool(hasNavigation) }
    return filled
  }

  /// As a route table has it.
  package var value: Value {
    var members: ValueObject = [:]
    members["style"] = style.map { .string($0.rawValue) }
    members["animated"] = isAnimated.map(Value.bool)
    members["navigation"] = hasNavigation.map(Value.bool)
    return .object(members)
  }
}
