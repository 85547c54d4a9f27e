import WayPatterns
import WayValues

/// A topic as a table declares it. Clients may publish only such events. Other publishers may use any
/// topic; the data of a declared one is checked.
package struct DeclaredTopic: Sendable {
  /// The schema of the events' data; `nil` if any data is allowed.
  private let data: ValueSchema?

  /// Creates a topic. `data` is `nil` if any data is allowed.
  package init(data: ValueSchema?) {
    self.data = data
  }

  /// Checks the data of an event. Throws ``PatternParameterError`` with the path
  /// of each fault, which begins with `data`.
  package func check(_ value: Value) throws(PatternParameterError) {
    guard let data else { return }
    var faults: [SchemaFault] = []
    data.check(value, &faults)
    guard faults.isEmpty else {
      throw .parameters(faults.prefix(ValueSchema.maxFaults).map { $0.fault(of: "data") })
    }
  }
}
