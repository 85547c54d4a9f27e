import WayValues

/// Appends values as compact JSON text to a buffer that is reused.
///
/// Escapes only the characters that RFC 8259 §7 requires. Numbers are written with their digits.
package struct JSONWriter: ~Copyable, @unchecked Sendable {  // owns its memory alone
  private static let initialCapacity = 256
  private static let retainedCapacity = 64 * 1024

  private var memory: UnsafeMutableRawPointer
  private var capacity = initialCapacity
  /// The number of bytes written.
  package private(set) var count = 0
  /// Writing stops soon after this number of bytes, since a longer text is not sent.
  var limit = Int.max
  /// Whether a text was left out because it exceeds the limit.
  var isOverLimit = false

  package init() {
    memory = .allocate(byteCount: capacity, alignment: 1)
  }

  deinit { memory.deallocate() }

  /// The bytes written.
  package var span: RawSpan {
    @_lifetime(borrow self) get {
      let span = RawSpan(_unsafeStart: memory, byteCount: count)
      return _overrideLifetime(span, borrowing: self)
    }
  }

  /// A copy of the bytes written.
  package var bytes: [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: memory, count: count))
  }

  /// Discards the bytes written and keeps the memory, unless it is large.
  package mutating func reset() {
    count = 0
    limit = .max
    isOverLimit = false
    if capacity > Self.retainedCapacity { resize(to: Self.initialCapacity) }
  }

  /// Removes the bytes from `count` on.
  mutating func truncate(to count: Int) {
    isOverLimit = false
    self.count = count
  }

  /// Reserves room for `size` bytes after those written, and returns its address. After writing
  /// there, call ``commit(to:)``.
  @inline(__always)
  mutating func reserve(for size: Int) -> UnsafeMutableRawPointer {
    if size > capacity - count { resize(to: max(capacity * 2, count + size)) }
    return memory + count
  }

  /// Ends the bytes written before `end`, in the room that was reserved last.
  @inline(__always)
  mutating func commit(to end: UnsafeMutableRawPointer) { count = end - memory }

  @inline(never)
  private mutating func resize(to size: Int) {
    let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
    capacity = size
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(for: 1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// Appends bytes that are JSON already.
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    reserve(for: bytes.count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends a string of the program itself that is JSON already.
  @inline(__always)
  mutating func appendRaw(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a string that is JSON already.
  mutating func appendRaw(verbatim text: String) {
    text.utf8.span.bytes.withUnsafeBytes { append($0) }
  }

  /// Appends a value. Fails if it nests more than `maxDepth` arrays and objects, or exceeds the
  /// limit; the bytes written until then stay.
  package mutating func write(
    _ value: Value, maxDepth: Int = JSON.maxDepth
  ) throws(EncodingFailure) {
    switch value {
    case .null: appendRaw("null")
    case .bool(let value): appendRaw(value ? "true" : "false")
    case .integer(let value): write(value)
    case .number(let number): appendRaw(verbatim: number.digits)
    case .string(let text): write(text)
    case .array(let values): try write(values, maxDepth)
    case .object(let object): try write(object, maxDepth)
    }
    if count > limit || isOverLimit { throw .tooLarge }
  }

  private mutating func write(_ values: [Value], _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    append(UInt8(ascii: "["))
    for index in values.indices {
      if index > 0 { append(UInt8(ascii: ",")) }
      try write(values[index], maxDepth: maxDepth - 1)
    }
    append(UInt8(ascii: "]"))
  }

  private mutating func write(_ object: ValueObject, _ maxDepth: Int) throws(EncodingFailure) {
    if maxDepth < 1 { throw .tooDeep }
    let members = object.members
    if members.isEmpty { append(UInt8(ascii: "{")) }
    for index in members.indices {
      write(members[index].name, after: index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      append(UInt8(ascii: ":"))
      try write(members[index].value, maxDepth: maxDepth - 1)
    }
    append(UInt8(ascii: "}"))
  }

  /// Appends an integer.
  package mutating func write(_ value: Int64) {
    let longest = 20
    var to = reserve(for: longest)
    if value < 0 {
      to.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      to += 1
    }
    var rest = value.magnitude
    var digits = 1
    // A magnitude has at most 19 digits, and this type holds 20.
    var power: UInt64 = 10
    while rest >= power {
      digits += 1
      power &*= 10
    }
    let end = to + digits
    var destination = end
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      destination -= 1
      destination.storeBytes(
        of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit), as: UInt8.self)
      rest = quotient
    } while destination > to
    commit(to: end)
  }
}

extension EncodingFailure {
  static var tooDeep: EncodingFailure {
    EncodingFailure("it nests too many arrays and objects")
  }

  static var tooLarge: EncodingFailure {
    EncodingFailure("it is larger than its limit")
  }
}
