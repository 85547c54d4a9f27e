import Glibc
import WayTransport

@testable import WaySockets

/// A blocking TCP socket that sends arbitrary bytes, for peers that violate the protocol.
final class RawSocket {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// Reads wait at most 10 s.
  convenience init(port: Int, receiveBuffer: Int32? = nil) throws {
    try self.init(
      SystemSocketAddress(IPAddress(bytes: [127, 0, 0, 1]), port: UInt16(port)), AF_INET,
      receiveBuffer)
  }

  /// Connects to an address of this machine.
  convenience init(address: IPAddress, port: Int) throws {
    try self.init(
      SystemSocketAddress(address, port: UInt16(port)), address.isIPv6 ? AF_INET6 : AF_INET, nil)
  }

  convenience init(unixPath: String) throws {
    guard let address = SystemSocketAddress(unixPath: unixPath) else {
      throw SocketError(.invalid, "the path is too long")
    }
    try self.init(address, AF_UNIX, nil)
  }

  private init(_ address: SystemSocketAddress, _ family: Int32, _ receiveBuffer: Int32?) throws {
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if var receiveBuffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = address
    let status = address.withPointer { Glibc.connect(descriptor, $0, $1) }
    guard status == 0 else { throw SocketError.errno("connect", errno) }
  }

  deinit {
    Glibc.close(descriptor)
  }

  /// Returns the number of bytes sent until the end, or until the peer accepted none for a second.
  func sendUntilBlocked(_ bytes: [UInt8]) -> Int {
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return send(bytes)
  }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(
          descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      sent += count
    }
    return sent
  }

  func send(_ text: String) {
    send(Array(text.utf8))
  }

  func shutdownWrite() {
    Glibc.shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Whether bytes have arrived that were not read.
  var hasInput: Bool {
    var byte = UInt8(0)
    return !buffer.isEmpty
      || recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  /// Returns false at the end of the stream, after a reset, and if nothing arrived in time.
  private func receiveMore() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count > 0 else { return false }
    buffer += chunk[..<count]
    return true
  }

  /// Reads up to the end of the connection.
  func readToEnd() -> String {
    while receiveMore() {}
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Reads up to and including the empty line.
  func readHead() -> String {
    while true {
      if let end = RequestHead.end(in: buffer, from: 0) {
        let head = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(..<end)
        return head
      }
      if !receiveMore() { return String(decoding: buffer, as: UTF8.self) }
    }
  }

  func read(_ count: Int) -> [UInt8] {
    while buffer.count < count, receiveMore() {}
    let bytes = Array(buffer.prefix(count))
    buffer.removeFirst(bytes.count)
    return bytes
  }

  /// Returns the first byte and the payload of the server's next frame; `nil` at the end.
  func readFrame() -> (first: UInt8, payload: [UInt8])? {
    let start = read(2)
    guard start.count == 2 else { return nil }
    var size = Int(start[1])
    if size >= 126 {
      size = read(size == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
    }
    return (start[0], read(size))
  }

  /// Returns the code of the next close frame; skips other frames. Returns `nil` if the connection
  /// ends without one.
  func readCloseCode() -> UInt16? {
    while let frame = readFrame() {
      if frame.first == 0x88 {
        guard frame.payload.count >= 2 else { return 1005 }
        return UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
      }
    }
    return nil
  }

  /// Performs the WebSocket handshake. Returns the head of the response.
  @discardableResult
  func upgrade(port: Int, path: String = "/echo", more: String = "") -> String {
    send(Self.handshake(path: path, host: "127.0.0.1:\(port)", more: more))
    return readHead()
  }

  static func handshake(path: String = "/echo", host: String, more: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(more)\r\n"
  }

  /// Returns a client's frame, masked with zeros. `size` overrides the length in the header.
  /// The bytes of a frame many times. In a debug build, `joined()` takes longer for so many than a
  /// server waits for a silent client.
  static func frames(_ frame: [UInt8], count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * frame.count)
    for _ in 0..<count { bytes.append(contentsOf: frame) }
    return bytes
  }

  static func frame(_ first: UInt8, _ payload: [UInt8], size: UInt64? = nil) -> [UInt8] {
    let size = size ?? UInt64(payload.count)
    var bytes = [first]
    if size < 126 {
      bytes.append(0x80 | UInt8(size))
    } else if size < 65_536 {
      bytes += [0xFE, UInt8(size >> 8), UInt8(size & 0xFF)]
    } else {
      bytes.append(0xFF)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: size >> UInt64(shift)))
      }
    }
    return bytes + [0, 0, 0, 0] + payload
  }
}
