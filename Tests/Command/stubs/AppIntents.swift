// The part of Apple's framework AppIntents that generated code uses, with the declarations that its
// documentation lists, and without behaviour.
@_exported import Foundation

public struct LocalizedStringResource: Equatable, Sendable, ExpressibleByStringInterpolation {
  public let key: String
  public init(stringLiteral value: String) { key = value }
}

public protocol CustomLocalizedStringResourceConvertible {
  var localizedStringResource: LocalizedStringResource { get }
}

public struct IntentDescription: Sendable {
  public let text: LocalizedStringResource
  public init(_ descriptionText: LocalizedStringResource) { text = descriptionText }
}

public enum IntentAuthenticationPolicy: Sendable {
  case alwaysAllowed, requiresAuthentication, requiresLocalDeviceAuthentication
}

public protocol _IntentValue {}
extension String: _IntentValue {}
extension Int: _IntentValue {}
extension Double: _IntentValue {}
extension Bool: _IntentValue {}
extension Array: _IntentValue where Element: _IntentValue {}
extension Optional: _IntentValue where Wrapped: _IntentValue {}

public struct TypeDisplayRepresentation: Sendable, ExpressibleByStringLiteral {
  public let name: LocalizedStringResource
  public init(stringLiteral value: String) { name = LocalizedStringResource(stringLiteral: value) }
}

public struct DisplayRepresentation: Sendable, ExpressibleByStringLiteral {
  public let title: LocalizedStringResource
  public init(stringLiteral value: String) { title = LocalizedStringResource(stringLiteral: value) }
}

public protocol AppEnum: _IntentValue, CaseIterable, RawRepresentable, Hashable, Sendable
where RawValue: LosslessStringConvertible {
  static var typeDisplayRepresentation: TypeDisplayRepresentation { get }
  static var caseDisplayRepresentations: [Self: DisplayRepresentation] { get }
}

public protocol IntentResult: Sendable {}

public protocol ReturnsValue<Value>: IntentResult {
  associatedtype Value: _IntentValue
  var value: Value? { get }
}

public struct IntentResultContainer<Value: _IntentValue & Sendable>: ReturnsValue {
  public let value: Value?
}

extension IntentResult {
  public static func result<Value>(value: Value) -> Self
  where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value)
  }
}

@propertyWrapper public final class IntentParameter<Value: _IntentValue>: @unchecked Sendable {
  private var stored: Value?
  public let title: LocalizedStringResource

  public init(title: LocalizedStringResource, description: LocalizedStringResource? = nil) {
    self.title = title
  }

  public init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil,
    default value: Value
  ) {
    self.title = title
    stored = value
  }

  public var wrappedValue: Value {
    get {
      if let stored { return stored }
      let optional = Value.self as? any ExpressibleByNilLiteral.Type
      guard let none = optional?.init(nilLiteral: ()) as? Value
      else { fatalError("\(title.key) has no value") }
      return none
    }
    set { stored = newValue }
  }
}

public protocol AppIntent: Sendable {
  associatedtype PerformResult: IntentResult
  typealias Parameter = IntentParameter
  static var title: LocalizedStringResource { get }
  static var description: IntentDescription? { get }
  static var openAppWhenRun: Bool { get }
  static var authenticationPolicy: IntentAuthenticationPolicy { get }
  init()
  func perform() async throws -> PerformResult
}

extension AppIntent {
  public static var description: IntentDescription? { nil }
  public static var openAppWhenRun: Bool { false }
  public static var authenticationPolicy: IntentAuthenticationPolicy { .alwaysAllowed }
  public func requestConfirmation() async throws { print("confirm \(Self.title.key)") }
}
