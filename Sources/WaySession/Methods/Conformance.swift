import WayRPC
import WayRouting
import WayValues

/// The example methods of the JSON-RPC 2.0 specification (§7), `echo`, and the task
/// `action://echo`: for testing clients and for public test suites.
package enum Conformance {
  package static let methods: [String: RawMethod] = [
    "subtract": { params throws(CallError) in
      let (minuend, subtrahend) = try operands(params)
      let (difference, overflow) = minuend.subtractingReportingOverflow(subtrahend)
      guard !overflow else { throw .invalidParams("The difference does not fit 64 bits") }
      return .integer(difference)
    },
    "sum": { params throws(CallError) in
      guard let terms = params?.list else {
        throw .invalidParams("sum takes integers by position")
      }
      var sum: Int64 = 0
      for term in terms {
        guard let term = term.integer else {
          throw .invalidParams("sum takes integers by position")
        }
        let (next, overflow) = sum.addingReportingOverflow(term)
        guard !overflow else { throw .invalidParams("The sum does not fit 64 bits") }
        sum = next
      }
      return .integer(sum)
    },
    "get_data": { _ throws(CallError) in ["hello", 5] },
    "notify_hello": { _ throws(CallError) in .null },
    "update": { _ throws(CallError) in .null },
    "echo": { params throws(CallError) in params ?? .null },
  ]

  /// Adds `action://echo`, which returns its parameters.
  package static func register(in router: Router) throws {
    try router.task("action://echo") { call in .object(call.params) }
  }

  private static func operands(_ params: Value?) throws(CallError) -> (Int64, Int64) {
    switch params {
    case .list(let values)?:
      if values.count == 2, let minuend = values[0].integer, let subtrahend = values[1].integer {
        return (minuend, subtrahend)
      }
    case .object(let members)?:
      if let minuend = members["minuend"]?.integer, let subtrahend = members["subtrahend"]?.integer
      {
        return (minuend, subtrahend)
      }
    default: break
    }
    throw .invalidParams("subtract takes two integers: [minuend, subtrahend], or by these names")
  }
}
