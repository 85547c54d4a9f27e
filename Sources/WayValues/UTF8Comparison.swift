extension String {
  /// Whether both have the same UTF-8 bytes. Swift's `==` also equates canonically equivalent
  /// strings.
  package func isSameUTF8(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.bytes.isSame(as: other.utf8.span.bytes)
  }

  /// Whether both have the same bytes, if `other` is ASCII: faster than ``isSameUTF8(as:)``.
  ///
  /// Swift's `==` equates canonically equivalent strings. A string that is equivalent to an ASCII
  /// one but differs has more bytes, since each of its non-ASCII characters has at least two and
  /// stands for one.
  @inlinable
  package func isSameASCII(as other: String) -> Bool {
    utf8.count == other.utf8.count && self == other
  }

  /// Feeds the UTF-8 bytes to `hasher`, consistent with ``isSameUTF8(as:)``.
  @inlinable
  package func hashUTF8(into hasher: inout Hasher) {
    let contiguous: Void? = utf8.withContiguousStorageIfAvailable { bytes in
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    if contiguous == nil {
      for byte in utf8 { hasher.combine(byte) }
    }
    hasher.combine(UInt8(0xFF))
  }
}

/// A name that others choose, such as that of a user or a group. It is compared and hashed as its
/// UTF-8 bytes: `café` with one code point for `é` is another name than with two, although Swift's
/// strings are equal then.
public struct UTF8Key: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as it was given.
  public let text: String

  /// Creates a key from any string.
  public init(_ text: String) {
    self.text = text
  }

  public init(stringLiteral text: StaticString) {
    self.text = "\(text)"
  }

  public var description: String { text }

  public static func == (left: UTF8Key, right: UTF8Key) -> Bool {
    left.text.isSameUTF8(as: right.text)
  }

  public func hash(into hasher: inout Hasher) {
    text.hashUTF8(into: &hasher)
  }
}

extension UTF8Key: Comparable {
  /// Whether the bytes of a name come before those of another one.
  public static func < (left: UTF8Key, right: UTF8Key) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

extension Sequence where Element == UTF8Key {
  /// The names as strings, sorted.
  package var sortedTexts: [String] { sorted().map(\.text) }

  /// The names as strings in a JSON array, sorted.
  package var sortedValue: Value { .array(sortedTexts.map(Value.string)) }
}

extension RawSpan {
  /// Whether both have the same bytes.
  package func isSame(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    guard byteCount >= 8 else { return isSameShort(as: other) }
    var index = 0
    while index + 8 < byteCount {
      if !isSame(as: other, at: index, UInt64.self) { return false }
      index += 8
    }
    // The last bytes are compared together with some before them.
    return isSame(as: other, at: byteCount - 8, UInt64.self)
  }

  /// The same, for two spans of the same length of less than 8 bytes.
  private func isSameShort(as other: RawSpan) -> Bool {
    if byteCount >= 4 {
      return isSame(as: other, at: 0, UInt32.self)
        && isSame(as: other, at: byteCount - 4, UInt32.self)
    }
    for index in 0..<byteCount where !isSame(as: other, at: index, UInt8.self) { return false }
    return true
  }

  @inline(__always)
  private func isSame<Word: FixedWidthInteger & BitwiseCopyable>(
    as other: RawSpan, at index: Int, _: Word.Type
  ) -> Bool {
    unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: Word.self)
      == other.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: Word.self)
  }
}
