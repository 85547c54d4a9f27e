import WayRPC
import WayRouting
import WayValues

extension Outcome {
  /// Reads back what a call of `router.open` was answered with.
  init(wire value: Value) throws(TaskError) {
    guard let outcome = Outcome(value) else {
      throw TaskError(
        code: ErrorCode.internal.rawValue, message: "The router answered without an outcome",
        data: value)
    }
    self = outcome
  }
}
