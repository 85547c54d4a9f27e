import WayValues

/// The content of one text frame, while its tape is valid.
package enum FrameView: ~Escapable {
  /// One request or notification.
  case request(RPCRequestView)
  case decoded(FrameContent)
  /// Bytes that are not UTF-8, with the error of the response if one is sent.
  case invalidUTF8(CallError)
}

/// A request, or a notification if it has no id. It is a view of the tape, which decodes only the
/// parts that are read, or was decoded before.
///
/// To keep any part of it, copy that part: the view is invalid after the frame.
package struct RPCRequestView: ~Escapable, @unchecked Sendable {  // used on one thread
  /// The id; `nil` for a notification.
  package let id: RequestID?
  package let params: RPCParamsView
  /// The cursor; `nil` for a request that was decoded before.
  private let cursor: JSONTapeCursor?
  private let methodIndex: Int
  private let decodedMethod: String

  @_lifetime(borrow frame)
  init(
    _ cursor: JSONTapeCursor, _ envelope: Envelope, _ id: RequestID?, of frame: borrowing RawSpan
  ) {
    self.id = id
    self.cursor = cursor
    methodIndex = envelope.method
    decodedMethod = ""
    params = RPCParamsView(cursor, envelope.params, of: frame)
  }

  /// Creates a view of a request that was decoded before.
  @_lifetime(immortal)
  package init(_ request: Request) {
    self.init(request.id, request.method, request.params)
  }

  /// Creates a view of a notification that was decoded before.
  @_lifetime(immortal)
  package init(_ notification: Notification) {
    self.init(nil, notification.method, notification.params)
  }

  @_lifetime(immortal)
  private init(_ id: RequestID?, _ method: String, _ params: Value?) {
    self.id = id
    cursor = nil
    methodIndex = 0
    decodedMethod = method
    self.params = RPCParamsView(params)
  }

  package var method: String { cursor?.string(at: methodIndex) ?? decodedMethod }

  /// The end of the method's name, for a fast comparison.
  package var methodSuffix: NameSuffix {
    NameSuffix(word: cursor?.suffixWord(ofStringAt: methodIndex) ?? NameSuffix(decodedMethod).word)
  }

  /// Whether the request calls the method with this name.
  package func hasMethod(_ name: String) -> Bool {
    cursor?.isString(at: methodIndex, sameAs: name) ?? decodedMethod.isSameUTF8(as: name)
  }

  /// A copy of the whole message.
  package var message: Message {
    guard let id else {
      return .notification(Notification(method: method, params: params.value))
    }
    return .request(Request(id: id, method: method, params: params.value))
  }
}

/// The length of a name and its last bytes, as one word, which distinguishes names with the same
/// beginning without comparing them.
package struct NameSuffix: Sendable, Equatable {
  fileprivate let word: UInt64

  package init(_ name: String) {
    let bytes = name.utf8
    word = bytes.suffix(7).reduce(0) { $0 << 8 | UInt64($1) } | UInt64(min(bytes.count, 255)) << 56
  }

  fileprivate init(word: UInt64) { self.word = word }
}
