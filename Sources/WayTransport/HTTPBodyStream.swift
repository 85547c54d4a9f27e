/// A part of a regular file that is the body of a response.
package struct HTTPFileRange: Sendable, Hashable {
  package var path: String
  /// The bytes to send. The file has at least as many.
  package var bytes: Range<Int>

  package init(path: String, bytes: Range<Int>) {
    self.path = path
    self.bytes = bytes
  }
}

/// A response body of a known length that a source makes in parts, so that it is never in memory as a
/// whole.
package struct HTTPSourcedBody: Sendable {
  /// The maximum number of bytes of a part, which is charged until the response ends.
  package static let partSize = 128 * 1024

  /// The number of bytes of all parts.
  package var length: Int
  package var source: any HTTPBodySource

  package init(length: Int, source: any HTTPBodySource) {
    self.length = length
    self.source = source
  }
}

/// Makes the body of a response in parts. It is asked for a part when the one before is sent.
package protocol HTTPBodySource: AnyObject, Sendable {
  /// Passes the next part to `done`, once, on any thread; nil if it cannot be read. The connection is
  /// closed then, because its client would wait for the rest. Called on the loop of the connection,
  /// and returns at once.
  func nextPart(_ done: @escaping @Sendable ([UInt8]?) -> Void)
}

/// A request body that a receiver gets in parts, so that it is never in memory as a whole.
package struct HTTPBodyStream: Sendable {
  /// The maximum number of bytes. For a longer body the response is 413.
  package var limit: Int
  package var receiver: any HTTPBodyReceiver

  package init(limit: Int, receiver: any HTTPBodyReceiver) {
    self.limit = limit
    self.receiver = receiver
  }
}

/// Receives a request body in parts. All methods are called on the loop of the connection, and
/// return at once. Each is called after the function of the one before has been called, except
/// ``cancel()``.
package protocol HTTPBodyReceiver: AnyObject, Sendable {
  /// Receives the next part of the body. No more of it is read until `done` is called, once, on any
  /// thread. A response given to `done` ends the request, although the body is not complete.
  func receive(_ part: [UInt8], _ done: @escaping @Sendable (HTTPResponse?) -> Void)
  /// Handles the end of the body. `respond` is called once, on any thread.
  func finish(_ respond: @escaping @Sendable (HTTPResponse) -> Void)
  /// Ends the request before its response, because the connection was lost or the rest of the body
  /// cannot be read.
  func cancel()
}
