import WayRPC
import WayValues

/// What the record of a call keeps of its beginning, for one that does not end at once.
struct CallMark {
  /// In the loop's nanoseconds.
  let start: UInt64
  /// Nil where nobody asks for records of calls.
  let note: CallNote?
}

/// What a request said that only its record needs.
final class CallNote {
  let method: String
  let uri: String?

  init(_ request: RequestView) {
    method = request.method
    uri = request.params.value?["uri"]?.string
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
