import WayValues

/// What one text frame holds, while its tape stands.
package enum Frame: ~Escapable {
  /// One request or notification.
  case request(RequestView)
  case other(Incoming)
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

/// The params of a ``RequestView``.
package struct ParamsView: ~Escapable, @unchecked Sendable {  // used on one thread
  /// What a value is.
  package enum Kind {
    case null, bool, number, string, list, object
  }

  /// Names that members may have: at most as many as there is room for in ``Places``.
  package struct Names: Sendable {
    package let texts: [String]
    /// The length of each and its first bytes, as ``TapeCursor/beginning(ofStringAt:)`` gives them.
    fileprivate let beginnings: [UInt64]

    package init(_ texts: [String]) {
      self.texts = texts
      beginnings = texts.map(Self.beginning)
    }

    fileprivate static func beginning(_ name: String) -> UInt64 {
      let bytes = name.utf8
      return bytes.prefix(7).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        | UInt64(min(bytes.count, 255)) << 56
    }
  }

  /// Where the members of ``Names`` are, in their order; -1 for those that are not there.
  package typealias Places = InlineArray<16, Int32>

  /// Nil for those that were decoded before.
  private let cursor: TapeCursor?
  /// 0 where there are none on the tape.
  private let place: Int
  private let decoded: Value?

  @_lifetime(borrow frame)
  init(_ cursor: TapeCursor, _ place: Int, of frame: borrowing RawSpan) {
    self.cursor = cursor
    self.place = place
    decoded = nil
  }

  /// Those that were decoded before; nil for none.
  @_lifetime(immortal)
  package init(_ value: Value?) {
    cursor = nil
    place = 0
    decoded = value
  }

  package var isAbsent: Bool { place == 0 && decoded == nil }

  /// Whether they are given by name.
  package var isObject: Bool {
    if let cursor { return cursor.kind(at: place) == .object }
    if case .object? = decoded { return true }
    return false
  }

  /// All of them, to be kept; nil where there are none.
  package var value: Value? {
    guard let cursor else { return decoded }
    return place == 0 ? .none : cursor.value(at: place)
  }

  private var members: [ValueObject.Member] {
    if case .object(let object)? = decoded { object.members } else { [] }
  }

  /// Where members of these names are. Of two with one name the last counts.
  package func locate(_ names: Names, _ places: inout Places) {
    guard let cursor else {
      for (index, member) in members.enumerated() {
        let name = names.texts.firstIndex { $0.isSameUTF8(as: member.name) }
        if let name, name < places.count { places[name] = Int32(truncatingIfNeeded: index) }
      }
      return
    }
    var at = place + 1
    let end = cursor.end(of: place)
    let count = min(names.beginnings.count, places.count)
    while at < end {
      let beginning = cursor.beginning(ofStringAt: at)
      for index in 0..<count where names.beginnings[index] == beginning {
        // All of a short name is in its beginning.
        if beginning >> 56 > 7, !cursor.isString(at: at, sameAs: names.texts[index]) { continue }
        places[index] = Int32(truncatingIfNeeded: at)
        break
      }
      at = cursor.next(after: at + 1)
    }
  }

  /// What the value of a member is.
  package func kind(of member: Int) -> Kind {
    guard let cursor else { return Kind(members[member].value) }
    return switch cursor.kind(at: member + 1) {
    case .object: .object
    case .list: .list
    case .string: .string
    case .yes, .no: .bool
    case .null: .null
    default: .number
    }
  }

  /// The value of a member.
  package func value(of member: Int) -> Value {
    cursor?.value(at: member + 1) ?? members[member].value
  }

  /// The value of a member that is a string; `likely` itself where it is the same.
  package func string(of member: Int, likely: String) -> String? {
    guard kind(of: member) == .string else { return nil }
    guard let cursor else { return members[member].value.string }
    return cursor.isString(at: member + 1, sameAs: likely) ? likely : cursor.string(at: member + 1)
  }
}

extension ParamsView.Kind {
  fileprivate init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .bool: .bool
      case .integer, .number: .number
      case .string: .string
      case .list: .list
      case .object: .object
      }
  }
}
