/// Where the members of a JSON-RPC object stand on the tape. Members of other names are passed
/// over.
struct Envelope {
  /// A place of 0 means that the member is missing.
  private(set) var jsonrpc = 0
  private(set) var id = 0
  private(set) var method = 0
  private(set) var params = 0
  private(set) var result = 0
  private(set) var error = 0
  private(set) var seq = 0
  /// A name that stands more than once.
  private(set) var duplicate: String?
  /// Whether `id` does, so that nobody knows which one is meant.
  private(set) var duplicatesID = false

  @inline(__always)
  init(_ cursor: TapeCursor, at object: Int) {
    var at = object + 1
    let end = cursor.end(of: object)
    while at < end {
      let value = at + 1
      switch cursor.shortName(at: at) {
      case Self.jsonrpcName: Self.set(&jsonrpc, value, "jsonrpc", &duplicate)
      case Self.idName:
        duplicatesID = id != 0 || duplicatesID
        Self.set(&id, value, "id", &duplicate)
      case Self.methodName: Self.set(&method, value, "method", &duplicate)
      case Self.paramsName: Self.set(&params, value, "params", &duplicate)
      case Self.resultName: Self.set(&result, value, "result", &duplicate)
      case Self.errorName: Self.set(&error, value, "error", &duplicate)
      case Self.seqName: Self.set(&seq, value, "seq", &duplicate)
      default: break
      }
      at = cursor.next(after: value)
    }
  }

  // As `TapeCursor.shortName(at:)` gives them: the length, then the bytes from the last to the
  // first.
  private static var jsonrpcName: UInt64 { 0x07_63_70_72_6E_6F_73_6A }
  private static var idName: UInt64 { 0x02_00_00_00_00_00_64_69 }
  private static var methodName: UInt64 { 0x06_00_64_6F_68_74_65_6D }
  private static var paramsName: UInt64 { 0x06_00_73_6D_61_72_61_70 }
  private static var resultName: UInt64 { 0x06_00_74_6C_75_73_65_72 }
  private static var errorName: UInt64 { 0x05_00_00_72_6F_72_72_65 }
  private static var seqName: UInt64 { 0x03_00_00_00_00_71_65_73 }
  /// The text `2.0`.
  static var version: UInt64 { 0x03_00_00_00_00_30_2E_32 }

  @inline(__always)
  private static func set(
    _ member: inout Int, _ place: Int, _ name: String, _ duplicate: inout String?
  ) {
    if member != 0 { duplicate = name }
    member = place
  }

  /// Its `seq`: nil where it has none, 0 for what is no number from 1 on.
  @inline(__always)
  func number(_ cursor: TapeCursor) -> UInt64? {
    seq == 0 ? nil : cursor.positive(at: seq) ?? 0
  }
}
