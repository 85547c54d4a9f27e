import WayRPC
import WayRouting
import WayValues

extension Outcome {
  /// Reads back what a call of `router.open` was answered with.
  init(wire value: Value) throws(TaskError) {
    guard let kind = value["outcome"]?.string.flatMap(Kind.init(rawValue:)),
      let code = value["code"]?.integer.flatMap({ Int(exactly: $0) })
    else {
      throw TaskError(
        code: ErrorCode.internal.rawValue, message: "The router answered without an outcome",
        data: value)
    }
    self.init(
      kind: kind, code: code, message: value["message"]?.string ?? "",
      data: value["data"] ?? .null)
  }
}
