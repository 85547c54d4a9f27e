@_exported import class WayTransport.Mailbox

extension Mailbox {
  /// Returns the next element, waiting for it if necessary. Throws after this many seconds without
  /// one.
  package func receive(within seconds: Double = 20) async throws -> Element {
    guard let element = await next(within: .seconds(seconds)) else {
      throw ReceiveTimeout(seconds: seconds)
    }
    return element
  }
}

/// The error of a wait that timed out.
package struct ReceiveTimeout: Error, CustomStringConvertible {
  let seconds: Double
  package var description: String { "nothing came within \(seconds) s" }
}
