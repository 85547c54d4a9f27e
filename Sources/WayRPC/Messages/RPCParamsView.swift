import WayValues

/// The params of a ``RPCRequestView``.
package struct RPCParamsView: ~Escapable, @unchecked Sendable {  // used on one thread
  /// The type of a value.
  package enum JSONType {
    case null, bool, number, string, array, object
  }

  /// Names of members: at most as many as ``MemberPositions`` can hold.
  package struct MemberNames: Sendable {
    package let strings: [String]
    /// The length of each name and its first bytes, as ``JSONTapeCursor/prefixWord(ofStringAt:)``
    /// returns them.
    fileprivate let prefixWords: [UInt64]

    package init(_ strings: [String]) {
      self.strings = strings
      prefixWords = strings.map(Self.prefixWord)
    }

    fileprivate static func prefixWord(_ name: String) -> UInt64 {
      let bytes = name.utf8
      return bytes.prefix(7).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        | UInt64(min(bytes.count, 255)) << 56
    }
  }

  /// The indexes of the members of ``MemberNames``, in their order; -1 for those that are missing.
  package typealias MemberPositions = InlineArray<16, Int32>

  /// The cursor; `nil` for params that were decoded before.
  private let cursor: JSONTapeCursor?
  /// The index of the params on the tape; 0 if there are none.
  private let tapeIndex: Int
  private let decodedValue: Value?

  @_lifetime(borrow frame)
  init(_ cursor: JSONTapeCursor, _ index: Int, of frame: borrowing RawSpan) {
    self.cursor = cursor
    self.tapeIndex = index
    decodedValue = nil
  }

  /// Creates a view of params that were decoded before; `nil` for none.
  @_lifetime(immortal)
  package init(_ value: Value?) {
    cursor = nil
    tapeIndex = 0
    decodedValue = value
  }

  /// Whether there are no params. Null counts as absent.
  package var isAbsent: Bool {
    guard let cursor else { return decodedValue == nil || decodedValue == Value.null }
    return tapeIndex == 0 || cursor.kind(at: tapeIndex) == .null
  }

  /// The number of members; of a name that occurs twice, both count.
  package var memberCount: Int {
    guard let cursor else { return members.count }
    return isAbsent ? 0 : cursor.count(of: tapeIndex)
  }

  /// The names of the members.
  package var memberNames: [String] { value?.object?.members.map(\.name) ?? [] }

  /// Returns the params at an index of a tape; `nil` for none or null.
  static func value(_ cursor: JSONTapeCursor, at index: Int) -> Value? {
    index == 0 || cursor.kind(at: index) == .null ? .none : cursor.value(at: index)
  }

  /// Whether the params are an object.
  package var isObject: Bool {
    if let cursor { return cursor.kind(at: tapeIndex) == .object }
    if case .object? = decodedValue { return true }
    return false
  }

  /// A copy of all params; `nil` if there are none.
  package var value: Value? {
    guard let cursor else { return isAbsent ? .none : decodedValue }
    return Self.value(cursor, at: tapeIndex)
  }

  private var members: [ValueObject.ObjectMember] {
    if case .object(let object)? = decodedValue { object.members } else { [] }
  }

  /// Finds the members with these names. If a name occurs twice, the last member counts.
  package func locate(_ names: MemberNames, _ positions: inout MemberPositions) {
    guard let cursor else {
      for (index, member) in members.enumerated() {
        let name = names.strings.firstIndex { $0.isSameUTF8(as: member.name) }
        if let name, name < positions.count { positions[name] = Int32(truncatingIfNeeded: index) }
      }
      return
    }
    var at = tapeIndex + 1
    let end = cursor.end(of: tapeIndex)
    let count = min(names.prefixWords.count, positions.count)
    while at < end {
      let prefix = cursor.prefixWord(ofStringAt: at)
      for index in 0..<count where names.prefixWords[index] == prefix {
        // A short name is contained in its prefix word.
        if prefix >> 56 > 7, !cursor.isString(at: at, sameAs: names.strings[index]) { continue }
        positions[index] = Int32(truncatingIfNeeded: at)
        break
      }
      at = cursor.next(after: at + 1)
    }
  }

  /// Returns the type of a member's value.
  package func kind(of member: Int) -> JSONType {
    guard let cursor else { return JSONType(members[member].value) }
    return switch cursor.kind(at: member + 1) {
    case .object: .object
    case .array: .array
    case .string: .string
    case .trueLiteral, .falseLiteral: .bool
    case .null: .null
    default: .number
    }
  }

  /// Returns the value of a member.
  package func value(of member: Int) -> Value {
    cursor?.value(at: member + 1) ?? members[member].value
  }

  /// Returns the value of a member that is a string; `nil` for others.
  package func string(of member: Int) -> String? {
    guard let cursor else { return members[member].value.string }
    return cursor.kind(at: member + 1) == .string ? cursor.string(at: member + 1) : nil
  }

  /// Returns the first of some members that is a string, without what exceeds `maxBytes`; `nil` if
  /// there is none. Reads nothing else of the params.
  package func firstString(of names: MemberNames, maxBytes: Int) -> String? {
    guard isObject else { return nil }
    var positions = MemberPositions(repeating: -1)
    locate(names, &positions)
    for index in positions.indices.prefix(names.strings.count) where positions[index] >= 0 {
      let member = Int(positions[index])
      guard kind(of: member) == .string else { continue }
      if let cursor { return cursor.string(at: member + 1, maxBytes: maxBytes) }
      return members[member].value.string.map { text in
        text.utf8.count <= maxBytes
          ? text : String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self)
      }
    }
    return nil
  }

  /// Whether the value of a member is this string.
  package func isString(_ text: String, of member: Int) -> Bool {
    guard let cursor else { return members[member].value.string?.isSameUTF8(as: text) ?? false }
    return cursor.kind(at: member + 1) == .string && cursor.isString(at: member + 1, sameAs: text)
  }
}

extension RPCParamsView.JSONType {
  fileprivate init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .bool: .bool
      case .integer, .number: .number
      case .string: .string
      case .array: .array
      case .object: .object
      }
  }
}
