@_exported import class WayTransport.Mailbox

extension Mailbox {
  /// The next element, awaited if need be; throws when none has come after so many seconds.
  package func take(within seconds: Double = 20) async throws -> Element {
    guard let element = await next(within: .seconds(seconds)) else {
      throw ReceiveTimeout(seconds: seconds)
    }
    return element
  }
}

/// What was awaited did not come.
package struct ReceiveTimeout: Error, CustomStringConvertible {
  let seconds: Double
  package var description: String { "nothing came within \(seconds) s" }
}
