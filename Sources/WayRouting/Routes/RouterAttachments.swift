import Synchronization
import WayPatterns
import WayValues

/// The Swift values that a call from Swift code to Swift code carries, and the Swift value that it
/// returns. They never leave the process.
package final class RouterAttachments: Sendable, Hashable {
  let values: [String: any Sendable]
  let expectedResult: ExpectedResult?
  private let result = Mutex<(any Sendable)?>(nil)

  struct ExpectedResult: Sendable {
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

  func setResult(_ value: any Sendable) {
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
  func value<Model: Sendable>(
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
  static func invalidAttachment(_ message: String) -> RouterResolutionError {
    .invalidParameters([PatternParameterFault(path: "$", message: message)])
  }
}
