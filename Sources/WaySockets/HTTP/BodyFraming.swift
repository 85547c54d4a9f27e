/// How the body of a request is delimited (RFC 9112 §6).
enum BodyFraming: Hashable {
  case none
  /// By Content-Length; bytes.
  case length(Int)
  /// By Transfer-Encoding, which is not read here.
  case coded

  init(_ head: RequestHead) throws(RequestFault) {
    let lengths = head.values("content-length")
    if !head.values("transfer-encoding").isEmpty {
      self = .coded
    } else if let length = lengths.first {
      guard lengths.count == 1, (1...18).contains(length.utf8.count),
        length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bytes = Int(length)
      else { throw RequestFault(400, "Content-Length is not one number") }
      self = .length(bytes)
    } else {
      self = .none
    }
  }

  /// Whether bytes follow the head.
  var hasBytes: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .coded: true
    }
  }
}
