import WayTransport

@testable import WaySockets

extension FuzzTarget {
  /// The heads of HTTP requests: reading them in pieces gives the same as reading them at once, and a
  /// head that is written again is the same head.
  static let requestHead = FuzzTarget("request-head") { bytes throws(FuzzFailure) in
    let heads = HeadsRead(from: [bytes])
    try FuzzFailure.unless(
      HeadsRead(from: bytes.pieces) == heads, "reading in pieces gives another result")
    for head in heads.heads {
      try FuzzFailure.unless(head.fields.count <= RequestHead.maximumFields, "too many fields")
      let written = try? RequestHead(parsing: head.text.utf8.map(\.self)[...])
      try FuzzFailure.unless(written == head, "written again it is another head: \(head.text)")
      if let framing = try? BodyFraming(head) {
        let isCoded = !head.values("transfer-encoding").isEmpty
        let hasLength = !head.values("content-length").isEmpty
        let isExpected =
          switch framing {
          case .none: !isCoded && !hasLength
          case .length: !isCoded && hasLength
          case .chunked: isCoded && !hasLength && head.minorVersion == 1
          }
        try FuzzFailure.unless(isExpected, "the body is delimited as \(framing)")
      }
      let endpoint = Endpoint(
        path: "/bridge", subprotocols: ["waybridge.v1"], maxMessage: 1024,
        acceptor: IgnoringAcceptor())
      if let upgrade = try? WebSocketUpgrade(head, path: head.path, endpoints: [endpoint]) {
        let accept = upgrade.response.fields.first { $0.0 == "Sec-WebSocket-Accept" }?.1
        try FuzzFailure.unless(accept?.utf8.count == 28, "the accept key is \(accept ?? "missing")")
      }
    }
  }

  /// Bodies with the transfer coding chunked: reading in pieces gives the same body, which is not longer
  /// than its limit, and bytes after it stay unread.
  static let chunkedBody = FuzzTarget("chunked-body") { bytes throws(FuzzFailure) in
    let whole = ChunkedBodyRead(from: [bytes])
    let pieces = ChunkedBodyRead(from: bytes.pieces)
    try FuzzFailure.unless(pieces == whole, "reading in pieces gives another result")
    try FuzzFailure.unless(whole.body.count <= ChunkedBodyRead.limit, "the body is too long")
    if whole.isComplete {
      let alone = ChunkedBodyRead(from: [Array(bytes.prefix(whole.readCount))])
      try FuzzFailure.unless(alone == whole, "the bytes after the body change it")
    }
  }

  /// WebSocket frames: reading them in pieces gives the same messages, and messages that are written
  /// again are the same.
  static let frames = FuzzTarget("frames") { bytes throws(FuzzFailure) in
    let read = FramesRead(from: [bytes])
    try FuzzFailure.unless(
      FramesRead(from: bytes.pieces) == read, "reading in pieces gives another result")
    for frame in read.frames {
      switch frame {
      case .message(let payload, let kind):
        let isText = payload.withUnsafeBytes(isUTF8)
        let isValid = String(validating: payload, as: UTF8.self) != nil
        try FuzzFailure.unless(isText == isValid, "UTF-8 is judged as \(isText)")
        let again = FramesRead(from: [Self.frame(FrameHeader.Opcode(kind), payload)])
        try FuzzFailure.unless(again.frames == [frame], "written again it is \(again.frames)")
      case .close(let payload):
        let close = payload.withUnsafeBytes(CloseFrame.init)
        let code = close.response.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
        try FuzzFailure.unless(
          CloseCode(rawValue: code).isSendable, "it would be closed with \(code)")
      case .ping(let payload):
        try FuzzFailure.unless(payload.count <= 125, "a ping of \(payload.count) bytes")
      case .pong, .invalid: break
      }
    }
  }

  private static func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
    let header = FrameHeader(opcode: opcode, payloadSize: payload.count, mask: 0xA1B2_C3D4)
    var bytes = [UInt8](repeating: 0, count: header.size) + payload
    bytes.withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { header.write(to: start) }
      applyMask(0xA1B2_C3D4, to: UnsafeMutableRawBufferPointer(rebasing: bytes[header.size...]))
    }
    return bytes
  }
}

/// An acceptor whose connections nobody reads.
private final class IgnoringAcceptor: ChannelAcceptor, MessageReceiver {
  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver { self }
  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) {}
}

/// The result of a ``HeadReader``.
private struct HeadsRead: Equatable {
  private(set) var heads: [RequestHead] = []
  /// The reason why nothing further can be read.
  private(set) var end: String?

  init(from pieces: [[UInt8]]) {
    var reader = HeadReader(limit: 1024, budget: ByteBudget(.server, 1 << 20))
    var input: [UInt8] = []
    for piece in pieces {
      input += piece
      do throws(HTTPRequestRejection) {
        reading: while true {
          switch try reader.next(from: &input) {
          case .head(let head): heads.append(head)
          case .incomplete: break reading
          case .notHTTP:
            end = "not HTTP"
            return
          }
        }
      } catch {
        end = "\(error.status)"
        return
      }
    }
  }
}

extension RequestHead {
  /// The head as a client would send it.
  fileprivate var text: String {
    let target = (authority.map { "http://\($0)" } ?? "") + path + (query.map { "?\($0)" } ?? "")
    let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(method) \(target) HTTP/1.\(minorVersion)\r\n\(lines)\r\n"
  }
}

/// The result of a ``ChunkedBodyReader``.
private struct ChunkedBodyRead: Equatable {
  static let limit = 512

  private(set) var body: [UInt8] = []
  private(set) var isComplete = false
  private(set) var status: Int?
  /// The number of bytes read; 0 if they were rejected.
  private(set) var readCount = 0

  init(from pieces: [[UInt8]]) {
    var reader = ChunkedBodyReader(limit: Self.limit)
    for piece in pieces where !reader.isComplete {
      var index = 0
      do throws(HTTPRequestRejection) {
        while let part = try reader.nextPart(of: piece, at: &index) { body += piece[part] }
      } catch {
        status = error.status
        readCount = 0
        return
      }
      readCount += index
    }
    isComplete = reader.isComplete
  }
}

/// The result of a ``FrameReader``.
private struct FramesRead: Equatable {
  enum ReadFrame: Equatable {
    case message([UInt8], MessageKind)
    case ping([UInt8])
    case pong
    case close([UInt8])
    case invalid(String)
  }

  private(set) var frames: [ReadFrame] = []
  private var reader = FrameReader()
  private var message: [UInt8] = []

  init(from pieces: [[UInt8]]) {
    for var piece in pieces {
      let error = piece.withUnsafeMutableBytes { read($0) }
      if let error {
        frames.append(.invalid(error.reason))
        return
      }
    }
  }

  private mutating func read(_ bytes: UnsafeMutableRawBufferPointer) -> FrameReader.FrameError? {
    var rest = bytes
    do throws(FrameReader.FrameError) {
      while let part = try reader.next(&rest) {
        switch part {
        case .message(let bytes, let kind, let isLast, _):
          message += bytes
          guard isLast else { continue }
          frames.append(.message(message, kind))
          message = []
        case .ping(let payload): frames.append(.ping(payload))
        case .pong: frames.append(.pong)
        case .close(let payload): frames.append(.close(payload))
        }
      }
      return nil
    } catch {
      return error
    }
  }

  static func == (left: FramesRead, right: FramesRead) -> Bool {
    left.frames == right.frames && left.message == right.message
  }
}
