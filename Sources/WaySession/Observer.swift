import WayRPC
import WayTransport

/// Is told what happens in a bridge, on the bridge's loop. What nobody asks for costs a look at a flag.
package struct Observer: Sendable {
  /// Whether every call is told, with its URI.
  package var isToldCalls = false
  /// Whether it is told how long each call took, for its own measure: the method's place in ``CallMeter/names``, and
  /// nanoseconds.
  package var timed: (@Sendable (CallMeter.Method, UInt64) -> Void)?
  package var tell: @Sendable (BridgeNotice) -> Void = { _ in }

  package init() {}
}

/// Something that happened in a bridge. Ids, methods, URIs and names are what peers sent.
package enum BridgeNotice: Sendable {
  case sessionOpened(session: String)
  case clientJoined(session: String, client: String, name: String?, version: String?)
  /// `code` is that of the close frame; nil where there was none, or where the connection goes on.
  case clientLeft(session: String, client: String, code: UInt16?)
  case sessionClosed(session: String)
  /// A connection was closed because of what it did, or did not do.
  case refused(code: CloseCode, reason: String)
  /// A host did not answer in time.
  case hostSilent(session: String, client: String, method: String)
  case call(CallRecord)
}

/// One call that has ended.
package struct CallRecord: Sendable {
  package let session: String
  package let client: String
  package let id: RequestID
  package let method: String
  /// The URI, where the method has one.
  package let uri: String?
  /// The code of the error; 0 for a result.
  package let code: Int
  package let nanoseconds: UInt64
}
