/// The indexes of the members of a JSON-RPC object on the tape. Members with other names are
/// ignored.
struct Envelope {
  /// An index of 0 means that the member is missing.
  private(set) var jsonrpc = 0
  private(set) var id = 0
  private(set) var method = 0
  private(set) var params = 0
  private(set) var result = 0
  private(set) var error = 0
  private(set) var seq = 0
  /// A name that occurs more than once.
  private(set) var duplicateName: String?
  /// Whether `id` occurs more than once, so that the id is ambiguous.
  private(set) var hasDuplicateID = false

  @inline(__always)
  init(_ cursor: JSONTapeCursor, at object: Int) {
    var at = object + 1
    let end = cursor.end(of: object)
    while at < end {
      let value = at + 1
      switch cursor.shortStringWord(at: at) {
      case Self.jsonrpcName: Self.set(&jsonrpc, value, "jsonrpc", &duplicateName)
      case Self.idName:
        hasDuplicateID = id != 0 || hasDuplicateID
        Self.set(&id, value, "id", &duplicateName)
      case Self.methodName: Self.set(&method, value, "method", &duplicateName)
      case Self.paramsName: Self.set(&params, value, "params", &duplicateName)
      case Self.resultName: Self.set(&result, value, "result", &duplicateName)
      case Self.errorName: Self.set(&error, value, "error", &duplicateName)
      case Self.seqName: Self.set(&seq, value, "seq", &duplicateName)
      default: break
      }
      at = cursor.next(after: value)
    }
  }

  // The words that `JSONTapeCursor.shortStringWord(at:)` returns: the length, then the bytes from the
  // last to the first.
  private static var jsonrpcName: UInt64 { 0x07_63_70_72_6E_6F_73_6A }
  private static var idName: UInt64 { 0x02_00_00_00_00_00_64_69 }
  private static var methodName: UInt64 { 0x06_00_64_6F_68_74_65_6D }
  private static var paramsName: UInt64 { 0x06_00_73_6D_61_72_61_70 }
  private static var resultName: UInt64 { 0x06_00_74_6C_75_73_65_72 }
  private static var errorName: UInt64 { 0x05_00_00_72_6F_72_72_65 }
  private static var seqName: UInt64 { 0x03_00_00_00_00_71_65_73 }
  /// The string `2.0`.
  private static var version: UInt64 { 0x03_00_00_00_00_30_2E_32 }

  @inline(__always)
  private static func set(
    _ member: inout Int, _ index: Int, _ name: String, _ duplicate: inout String?
  ) {
    if member != 0 { duplicate = name }
    member = index
  }

  /// Returns the message's `seq`: `nil` if it has none, 0 for a value that is no integer from 1 on.
  @inline(__always)
  func sequenceNumber(_ cursor: JSONTapeCursor) -> UInt64? {
    seq == 0 ? nil : cursor.positiveInteger(at: seq) ?? 0
  }

  /// Returns the message's `id`, which must not be missing; `nil` for a value that is none.
  @inline(__always)
  func requestID(_ cursor: JSONTapeCursor) -> RequestID? {
    switch cursor.kind(at: id) {
    case .string: .string(cursor.string(at: id))
    case .object, .array: nil
    default: RequestID(cursor.scalar(at: id))
    }
  }

  /// Whether the message's `jsonrpc` is the string `2.0`.
  func isVersion2(_ cursor: JSONTapeCursor) -> Bool {
    // A missing member has the index 0, which holds no string.
    cursor.kind(at: jsonrpc) == .string && cursor.shortStringWord(at: jsonrpc) == Self.version
  }
}
