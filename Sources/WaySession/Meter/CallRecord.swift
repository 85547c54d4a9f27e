import WayRPC
import WayValues

/// What the record of a call keeps of its beginning, for one that does not end at once.
struct CallStart {
  /// In the loop's nanoseconds.
  let start: UInt64
  /// Nil where nobody asks for records of calls.
  let note: CallTrace?
}

/// What a request said, and what became of it on its way, that only its record needs. Belongs to its
/// session's isolation.
final class CallTrace {
  let method: String
  let uri: String?
  /// What the request said, where somebody watches.
  let params: Value?
  /// Its number among the calls that did not end at once.
  var number: Int?
  /// The name of the declared route that it has come to.
  var route: String?
  /// Who serves it: the name of a client, or `server`.
  var host: String?
  /// The page that it has opened, or is about.
  var page: String?
  /// When it began, where that is not told otherwise, in the loop's nanoseconds.
  var start: UInt64 = 0
  /// Whether it has its answer.
  var isEnded = false

  init(_ request: RequestView, keepsParams: Bool) {
    method = request.method
    let params = request.params.value
    uri = params?["uri"]?.string
    self.params = keepsParams ? params : nil
  }

  /// It has come to who serves it.
  func reached(_ route: String?, host: String, page: String? = nil) {
    (self.route, self.host, self.page) = (route, host, page)
  }

  /// A call of Swift code.
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
  /// The URI, where the method has one.
  package let uri: String?
  /// The code of the error; 0 for a result.
  package let code: Int
  package let nanoseconds: UInt64
}
