import WayValues

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

  /// The value of a member that is a string; nil for others.
  package func string(of member: Int) -> String? {
    guard let cursor else { return members[member].value.string }
    return cursor.kind(at: member + 1) == .string ? cursor.string(at: member + 1) : nil
  }

  /// Whether the value of a member is a string, and this one.
  package func isString(_ text: String, of member: Int) -> Bool {
    guard let cursor else { return members[member].value.string?.isSameUTF8(as: text) ?? false }
    return cursor.kind(at: member + 1) == .string && cursor.isString(at: member + 1, sameAs: text)
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
