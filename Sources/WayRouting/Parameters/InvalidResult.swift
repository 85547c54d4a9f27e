import WayPatterns
import WayValues

/// A result that does not fit its declaration.
package struct InvalidResult: Error, Sendable {
  /// What has returned a result.
  package enum ResultSource: String, Sendable, CaseIterable, Encodable {
    /// A task or service.
    case task
    /// A page that closes.
    case page
    /// A method of a page.
    case method

    /// The path of the result in the message that contains it.
    private var path: JSONPath {
      let result = JSONPath.root.member("result")
      return self == .page ? result.member("data") : result
    }

    /// Returns the faults of a result, each with its path; empty if it fits.
    fileprivate func faults(of value: Value, in schema: ValueSchema) -> [PatternParameterFault] {
      // A page can finish without a result.
      if self == .page, value.isNull { return [] }
      var faults: [SchemaFault] = []
      schema.check(value, &faults)
      return faults.prefix(ValueSchema.maxFaults).map { $0.fault(at: path) }
    }
  }

  package let value: Value
  package let source: ResultSource
  /// The faults, each with its path; never empty.
  package let faults: [PatternParameterFault]

  /// Returns `nil` if the result fits.
  package init?(_ value: Value, of schema: ValueSchema, from source: ResultSource) {
    faults = source.faults(of: value, in: schema)
    if faults.isEmpty { return nil }
    self.value = value
    self.source = source
  }
}
