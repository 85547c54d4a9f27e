import WayRPC
import WayValues

/// The start of a call that does not end at once, for its record.
struct CallStart {
  /// The start time, in nanoseconds of the loop's clock.
  let start: UInt64
  /// The trace; nil if no call records are wanted.
  let trace: CallTrace?
}

/// Details of a request and its handling that only its record needs. Belongs to its session's
/// isolation.
final class CallTrace {
  let method: String
  let uri: String?
  /// The params of the request, if an inspector is active.
  let params: Value?
  /// The number of the call, if it does not end at once.
  var number: Int?
  /// The name of the declared route that serves the call.
  var route: String?
  /// The name of the client that serves the call, or `server`.
  var host: String?
  /// The page that the call has opened, or concerns.
  var page: String?
  /// The start time, in nanoseconds of the loop's clock.
  let start: UInt64
  /// Whether the call has its response.
  var hasEnded = false

  init(_ request: RPCRequestView, at start: UInt64, keepsParams: Bool) {
    method = request.method
    self.start = start
    let params = request.params.value
    uri = params?["uri"]?.string
    self.params = keepsParams ? params : nil
  }

  /// Records the target that serves the call.
  func recordTarget(_ route: String?, host: String, page: String? = nil) {
    (self.route, self.host, self.page) = (route, host, page)
  }

  /// Creates the trace of a call of Swift code.
  init(_ method: String, number: Int, at start: UInt64) {
    self.method = method
    self.number = number
    self.start = start
    (uri, params) = (nil, nil)
  }
}

/// One call that has ended.
package struct CallRecord: Sendable {
  package let client: String
  package let id: RequestID
  package let method: String
  /// The URI, if the method has one.
  package let uri: String?
  /// The code of the error; 0 for a result.
  package let code: Int
  package let nanoseconds: UInt64
}
