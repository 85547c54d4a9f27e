import Synchronization
import WayNavigation
import WayPatterns
import WayValues

/// The Swift values that a call from Swift code to Swift code carries, and the Swift value that it
/// returns. They never leave the process.
package final class RouterAttachments: Sendable, Hashable {
  fileprivate let values: [String: any Sendable]
  fileprivate let expectedResult: ExpectedResult?
  private let result = Mutex<(any Sendable)?>(nil)

  fileprivate struct ExpectedResult: Sendable {
    let type: String
    let accepts: @Sendable (any Sendable) -> Bool
  }

  /// Returns `nil` if there are no values.
  package init?(_ values: [String: any Sendable]) {
    guard !values.isEmpty else { return nil }
    self.values = values
    expectedResult = nil
  }

  /// Creates the attachments of a call whose caller expects a Swift value as the result.
  package init<Returned: Sendable>(_ values: [String: any Sendable], result: Returned.Type) {
    self.values = values
    expectedResult = ExpectedResult(type: "\(result)", accepts: { $0 is Returned })
  }

  /// The value that the handler attached as the result.
  package var returnedValue: (any Sendable)? { result.withLock { $0 } }

  /// Discards the result of a handler that declined the call.
  package func resetResult() {
    guard expectedResult != nil else { return }
    result.withLock { $0 = nil }
  }

  fileprivate func setResult(_ value: any Sendable) {
    result.withLock { $0 = value }
  }

  /// Returns the error for a URI that no Swift code of this process serves.
  package func deliveryError(of uri: String) -> RouterResolutionError {
    var things = values.keys.sorted().map { "\"\($0.brief)\"" }
    if let expectedResult { things.append("a \(expectedResult.type) in reply") }
    return .notOverTheWire(
      "\(things.joined(separator: ", ")) cannot be passed: no Swift code of this process handles "
        + "\"\(uri.brief)\""
    )
  }

  package static func == (left: RouterAttachments, right: RouterAttachments) -> Bool {
    left === right
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension RouterAttachments? {
  fileprivate func value<Model: Sendable>(
    _ name: String, as type: Model.Type
  ) throws(RouterResolutionError) -> Model {
    guard let value = self?.values[name] else {
      throw .invalidAttachment(
        "the attachment \"\(name.brief)\" is missing: it must be a \(type), which only a caller in "
          + "Swift can pass"
      )
    }
    guard let model = value as? Model else {
      throw .invalidAttachment(
        "the attachment \"\(name.brief)\" is a \(Swift.type(of: value)), not a \(type)")
    }
    return model
  }
}

extension RouterResolutionError {
  fileprivate static func invalidAttachment(_ message: String) -> RouterResolutionError {
    .invalidParameters([PatternParameterFault(path: "$", message: message)])
  }
}

extension Call {
  /// Returns a value that the caller, Swift code of this process, attached under a name: a model
  /// object or a closure, for example.
  ///
  /// Throws ``RouterResolutionError/invalidParameters(_:)`` if there is no such value of the type, as in
  /// every call over the wire. If a handler rethrows it, its caller receives the error 2422.
  public func attachment<Model: Sendable>(
    _ name: String, as type: Model.Type = Model.self
  ) throws(RouterResolutionError) -> Model {
    try attachments.value(name, as: type)
  }

  /// Passes a value of any type to a caller that expects it, as with
  /// ``Navigator/invoke(_:params:exts:timeout:attachments:returning:)``. Call this before the
  /// handler returns, and return its result from the handler.
  ///
  /// ```swift
  /// try router.task("action://photo") { call in
  ///   try call.attachResult([UInt8](repeating: 0, count: 64))
  /// }
  /// ```
  ///
  /// Throws ``RouterResolutionError/notOverTheWire(_:)`` if the caller expects a `Value`, as clients do.
  /// If a handler rethrows it, its caller receives the error 2405. Throws ``CallError`` (-32603) if
  /// the caller expects another type.
  public func attachResult<Returned: Sendable>(_ value: Returned) throws -> Value {
    guard let attachments, let expected = attachments.expectedResult else {
      throw RouterResolutionError.notOverTheWire(
        "a \(Returned.self) cannot be returned: only Swift code that calls with returning: can "
          + "receive it"
      )
    }
    guard expected.accepts(value) else {
      throw CallError(
        code: -32603,
        message:
          "\"\(uri.text.brief)\" returns a \(Returned.self), but its caller expects a \(expected.type)"
      )
    }
    attachments.setResult(value)
    return .null
  }
}
