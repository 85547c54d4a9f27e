import WayValues

/// Appends values as compact JSON text to bytes that are used again and again.
///
/// Escapes no more than RFC 8259 §7 demands. Numbers are written with their digits.
package struct JSONWriter: ~Copyable, @unchecked Sendable {  // owns its memory alone
  private static let firstCapacity = 256
  private static let keptCapacity = 64 * 1024

  private var memory: UnsafeMutableRawPointer
  private var capacity = firstCapacity
  /// Bytes that were written.
  package private(set) var count = 0
  /// Writing stops soon after so many bytes, since nobody would be sent them.
  var limit = Int.max
  /// Set by a text that was left out, since it goes beyond the limit.
  var isOverLimit = false

  package init() {
    memory = .allocate(byteCount: capacity, alignment: 1)
  }

  deinit { memory.deallocate() }

  /// What was written.
  package var span: RawSpan {
    @_lifetime(borrow self) get {
      let span = RawSpan(_unsafeStart: memory, byteCount: count)
      return _overrideLifetime(span, borrowing: self)
    }
  }

  /// What was written, to be kept.
  package var bytes: [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: memory, count: count))
  }

  /// Forgets what was written and keeps the memory, unless it is much.
  package mutating func reset() {
    count = 0
    limit = .max
    isOverLimit = false
    if capacity > Self.keptCapacity { resize(to: Self.firstCapacity) }
  }

  /// Drops what was written from `count` on.
  mutating func cut(to count: Int) {
    isOverLimit = false
    self.count = count
  }

  /// Makes room for so many bytes behind what was written, and says where it begins. Who writes
  /// there tells how much by ``wrote(to:)``.
  @inline(__always)
  mutating func room(for size: Int) -> UnsafeMutableRawPointer {
    if size > capacity - count { resize(to: max(capacity * 2, count + size)) }
    return memory + count
  }

  /// What was written ends before `end`, in the room that was made last.
  @inline(__always)
  mutating func wrote(to end: UnsafeMutableRawPointer) { count = end - memory }

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
    room(for: 1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// Appends bytes that are JSON already.
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    room(for: bytes.count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends text that is JSON already, from the program itself.
  @inline(__always)
  mutating func raw(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends text that is JSON already.
  mutating func raw(verbatim text: String) {
    text.utf8.span.bytes.withUnsafeBytes { append($0) }
  }

  /// Appends a value. Fails when it nests more than `maxDepth` arrays and objects, and when it goes
  /// beyond the limit; what was written by then stays.
  package mutating func write(
    _ value: Value, maxDepth: Int = JSON.maxDepth
  ) throws(EncodingFailure) {
    switch value {
    case .null: raw("null")
    case .bool(let value): raw(value ? "true" : "false")
    case .integer(let value): write(value)
    case .number(let number): raw(verbatim: number.digits)
    case .string(let text): write(text)
    case .list(let values): try write(values, maxDepth)
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
    var to = room(for: longest)
    if value < 0 {
      to.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      to += 1
    }
    var rest = value.magnitude
    var digits = 1
    // A magnitude has 19 digits at most, and this fits 20.
    var power: UInt64 = 10
    while rest >= power {
      digits += 1
      power &*= 10
    }
    let end = to + digits
    var place = end
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      place -= 1
      place.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit), as: UInt8.self)
      rest = quotient
    } while place > to
    wrote(to: end)
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
