import WayValues

/// What one text frame holds, while its tape stands.
package enum Frame: ~Escapable {
  /// One request or notification.
  case request(RequestView)
  case other(FrameContent)
  /// It is no text at all: bytes that are not UTF-8. With what it is answered where it is answered.
  case notText(CallError)
}

/// A request, or a notification where it has no id: one that lies on the tape, of which nothing is
/// decoded before it is asked for, or one that was decoded before.
///
/// Who must keep something of it copies that: nothing of it outlives the frame.
package struct RequestView: ~Escapable, @unchecked Sendable {  // used on one thread
  /// Nil for a notification.
  package let id: RequestID?
  package let params: ParamsView
  /// Nil for one that was decoded before.
  private let cursor: TapeCursor?
  private let place: Int
  private let decoded: String

  @_lifetime(borrow frame)
  init(
    _ cursor: TapeCursor, _ envelope: Envelope, _ id: RequestID?, of frame: borrowing RawSpan
  ) {
    self.id = id
    self.cursor = cursor
    place = envelope.method
    decoded = ""
    params = ParamsView(cursor, envelope.params, of: frame)
  }

  /// One that was decoded before.
  @_lifetime(immortal)
  package init(_ request: Request) {
    self.init(request.id, request.method, request.params)
  }

  /// One that was decoded before.
  @_lifetime(immortal)
  package init(_ notification: Notification) {
    self.init(nil, notification.method, notification.params)
  }

  @_lifetime(immortal)
  private init(_ id: RequestID?, _ method: String, _ params: Value?) {
    self.id = id
    cursor = nil
    place = 0
    decoded = method
    self.params = ParamsView(params)
  }

  package var method: String { cursor?.string(at: place) ?? decoded }

  /// The end of the method's name.
  package var methodEnd: NameEnd {
    NameEnd(word: cursor?.end(ofStringAt: place) ?? NameEnd(decoded).word)
  }

  /// Whether it is for the method of a name.
  package func isFor(_ name: String) -> Bool {
    cursor?.isString(at: place, sameAs: name) ?? decoded.isSameUTF8(as: name)
  }

  /// All of it, to be kept.
  package var message: Message {
    guard let id else {
      return .notification(Notification(method: method, params: params.value))
    }
    return .request(Request(id: id, method: method, params: params.value))
  }
}

/// The length of a name and its last bytes, as one word: names of one beginning are told apart
/// without comparing them.
package struct NameEnd: Sendable, Equatable {
  fileprivate let word: UInt64

  package init(_ name: String) {
    let bytes = name.utf8
    word = bytes.suffix(7).reduce(0) { $0 << 8 | UInt64($1) } | UInt64(min(bytes.count, 255)) << 56
  }

  fileprivate init(word: UInt64) { self.word = word }
}
