import WayPatterns
import WayRouting
import WayValues

/// A result that does not fit its declaration, as its host, inspectors and the log get it.
package struct InvalidResultReport: Sendable, Encodable {
  package let source: InvalidResult.ResultSource
  /// The name of the client that has returned the result, or `server`.
  package let host: String
  package let uri: String
  package let route: String
  /// The method of a page; `nil` for the result of a route.
  package let method: String?
  package let errors: [PatternParameterFault]
  package let isRejected: Bool

  private enum CodingKeys: String, CodingKey {
    case source, host, uri, route, method, errors
    case isRejected = "rejected"
  }

  /// The data of the event and of the record.
  var value: ValueObject { RecordCoder.value(of: self).object ?? [:] }
}
