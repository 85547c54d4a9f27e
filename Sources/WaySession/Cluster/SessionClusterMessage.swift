import WayRPC
import WayTransport
import WayValues

/// A message from one server of a cluster to another.
enum SessionClusterMessage {
  /// The sender is up, with its state. Sent to all servers.
  case presence(Value)
  /// An empty message: its number shows whether an earlier message is missing.
  case heartbeat
  /// Messages between the two servers are missing: the sender has ended all that was in progress
  /// between them.
  case reset
  /// A request in JSON-RPC, with an id that the sender has chosen.
  case request(Int64, method: String, params: Value)
  /// The progress of a request: `$/progress`.
  case progress(Int64, Value)
  /// The response to a request.
  case response(Int64, Result<Value, CallError>)
  /// The sender no longer needs the response: `$/cancelRequest`.
  case cancel(Int64)
  /// A message between a connection at one server and its session at the other.
  case relay(RelayMessage)
  /// A fragment of a message that is too large for one envelope.
  case fragment([UInt8], isLast: Bool)
}

/// A message of a relay. The entry server has the connection; the owner has its session. The entry
/// server has numbered the relay.
struct RelayMessage {
  enum RelayContent {
    /// A connection was accepted.
    case open(RelayRequest)
    /// The owner is ready for the connection. The value is the time by the owner's clock, in
    /// nanoseconds.
    case ready(UInt64)
    /// The first message of the connection, which is still open. It has the time at which the owner
    /// was ready, and the age of the connection in nanoseconds.
    case first(ready: UInt64, age: UInt64, [UInt8])
    /// The identity of the client, before a message that refers to it.
    case identity(RelayedIdentity)
    /// The owner has authenticated the client.
    case admitted
    /// A message of the connection.
    case text([UInt8])
    /// The receiver has processed this many bytes of messages.
    case credit(Int)
    /// The connection has ended, or must be closed. The code is nil if the connection was lost.
    case close(UInt16?, String)
  }

  let number: UInt64
  let isToOwner: Bool
  let content: RelayContent
}

/// A connection that the entry server offers to the owner of a session.
struct RelayRequest {
  /// The session that the client wants to use; empty for a new one.
  let session: String
  /// The handshake of the connection without its header fields. The token is a reference.
  let handshake: Handshake
  /// The identity of the client, as this server has verified it; nil if the owner needs none.
  var identity: RelayedIdentity?
}

extension SessionClusterMessage {
  var isFragment: Bool { if case .fragment = self { true } else { false } }

  var bytes: [UInt8] {
    var writer = RecordByteWriter()
    switch self {
    case .presence(let value): writer.write(1, value)
    case .heartbeat: writer.write(byte: 2)
    case .reset: writer.write(byte: 3)
    case .request(let id, let method, let params):
      writer.writeRPC(params) { ["id": .integer(id), "method": .string(method), "params": $0] }
    case .progress(let id, let value):
      writer.writeRPC(value) {
        ["method": "$/progress", "params": ["id": .integer(id), "value": $0]]
      }
    case .response(let id, .success(let value)):
      writer.writeRPC(value) { ["id": .integer(id), "result": $0] }
    case .response(let id, .failure(let error)):
      writer.writeRPC(error.value) { ["id": .integer(id), "error": $0] }
    case .cancel(let id):
      writer.writeRPC(.integer(id)) { ["method": "$/cancelRequest", "params": ["id": $0]] }
    case .relay(let relay):
      writer.write(byte: relay.isToOwner ? 8 : 9)
      writer.write(relay.number)
      writer.write(relay.content)
    case .fragment(let bytes, let isLast):
      writer.write(byte: isLast ? 11 : 10)
      writer.write(rest: bytes)
    }
    return writer.bytes
  }

  /// Decodes a message. Throws if it is no message of a server of this version.
  init(_ reader: consuming ByteReader) throws(ByteDecodingError) {
    switch try reader.byte() {
    case 1: self = .presence(try reader.value())
    case 2: self = .heartbeat
    case 3: self = .reset
    case 4: try self.init(rpc: try reader.value())
    case let kind where kind == 8 || kind == 9:
      self = .relay(
        RelayMessage(
          number: try reader.number(), isToOwner: kind == 8, content: try reader.relayContent()))
    case let kind where kind == 10 || kind == 11:
      self = .fragment(Array(reader.remaining), isLast: kind == 11)
    case let kind: throw ByteDecodingError("it has the unknown kind \(kind)")
    }
  }
}

extension SessionClusterMessage {
  /// Reads a message of JSON-RPC.
  private init(rpc message: Value) throws(ByteDecodingError) {
    let params = message["params"]
    switch (message["method"]?.string, message["id"]?.exactInteger) {
    case ("$/progress"?, nil):
      guard let id = params?["id"]?.exactInteger else { throw .noRPC }
      self = .progress(id, params?["value"] ?? .null)
    case ("$/cancelRequest"?, nil):
      guard let id = params?["id"]?.exactInteger else { throw .noRPC }
      self = .cancel(id)
    case (let method?, let id?): self = .request(id, method: method, params: params ?? .null)
    case (nil, let id?):
      if let error = message["error"] {
        self = .response(id, .failure(CallError(peerValue: error)))
      } else {
        self = .response(id, .success(message["result"] ?? .null))
      }
    default: throw .noRPC
    }
  }
}

extension ByteDecodingError {
  fileprivate static let noRPC = ByteDecodingError("it is no message of JSON-RPC")
}

/// A message with its sender, and its number among the messages from that server to this one.
/// Numbers begin at 1; a message to all servers has 0.
struct ClusterEnvelope {
  let sender: String
  let number: UInt64
  let message: SessionClusterMessage

  /// The version of the message format. A server that reads a later one belongs to a later release.
  private static let formatVersion: UInt8 = 3
  /// Bytes in addition to those of the message and of the sender's name.
  static let overhead = 1 + 8 + 8

  /// Returns the envelope of an encoded message.
  static func bytes(from sender: String, _ number: UInt64, _ message: [UInt8]) -> [UInt8] {
    var writer = RecordByteWriter()
    writer.write(byte: formatVersion)
    writer.write(sender)
    writer.write(number)
    writer.write(rest: message)
    return writer.bytes
  }

  /// Decodes an envelope. Throws if it is no message of a server of this version.
  init(_ bytes: [UInt8]) throws(ByteDecodingError) {
    var reader = ByteReader(bytes)
    try reader.expect(form: Self.formatVersion)
    sender = try reader.string()
    number = try reader.number()
    message = try SessionClusterMessage(reader)
  }
}

extension RecordByteWriter {
  fileprivate mutating func write(_ kind: UInt8, _ value: Value) {
    write(byte: kind)
    write(rest: value.jsonBytes)
  }

  /// Writes a message of JSON-RPC that contains a value.
  fileprivate mutating func writeRPC(_ value: Value, _ message: (Value) -> ValueObject) {
    write(byte: 4)
    // The app may provide a value that nests too deeply. It could not be sent to a client either.
    write(rest: Self.rpcBytes(message(value)) ?? Self.rpcBytes(message(.null)) ?? [])
  }

  private static func rpcBytes(_ message: ValueObject) -> [UInt8]? {
    var members: ValueObject = ["jsonrpc": "2.0"]
    members.merge(message)
    var writer = JSONWriter()
    do { try writer.write(.object(members), maxDepth: JSON.maxStoredDepth) } catch { return nil }
    return writer.bytes
  }

  fileprivate mutating func write(_ content: RelayMessage.RelayContent) {
    switch content {
    case .open(let request):
      write(byte: 1)
      write(request.session)
      write(request.handshake.value.jsonBytes)
      write(rest: request.identity?.value.jsonBytes ?? [])
    case .identity(let identity):
      write(byte: 7)
      write(rest: identity.value.jsonBytes)
    case .admitted: write(byte: 8)
    case .ready(let time):
      write(byte: 5)
      write(time)
    case .first(let ready, let age, let bytes):
      write(byte: 6)
      write(ready)
      write(age)
      write(rest: bytes)
    case .text(let bytes):
      write(byte: 2)
      write(rest: bytes)
    case .credit(let count):
      write(byte: 3)
      write(UInt64(count))
    case .close(let code, let reason):
      write(byte: 4)
      write(UInt64(code ?? 0))
      write(reason)
    }
  }
}

extension ByteReader {
  fileprivate func value() throws(ByteDecodingError) -> Value {
    try Value(read: remaining)
  }

  fileprivate mutating func relayContent() throws(ByteDecodingError) -> RelayMessage.RelayContent {
    switch try byte() {
    case 1:
      let session = try string()
      let handshake = Handshake(try Value(read: try bytes()))
      let identity =
        remaining.isEmpty ? nil : try RelayedIdentity(try Value(read: remaining))
      return .open(RelayRequest(session: session, handshake: handshake, identity: identity))
    case 2: return .text(Array(remaining))
    case 3: return .credit(Int(clamping: try number()))
    case 4:
      let code = try number()
      return .close(code == 0 ? nil : UInt16(clamping: code), try string())
    case 5: return .ready(try number())
    case 8: return .admitted
    case 7: return .identity(try RelayedIdentity(try value()))
    case 6: return .first(ready: try number(), age: try number(), Array(remaining))
    case let kind: throw ByteDecodingError("it relays a message of the unknown kind \(kind)")
    }
  }
}

extension Value {
  /// The value as JSON, for another server.
  fileprivate var jsonBytes: [UInt8] {
    var writer = JSONWriter()
    // The app may provide a value that nests too deeply. It could not be sent to a client either.
    do { try writer.write(self, maxDepth: JSON.maxStoredDepth) } catch { return Array("null".utf8) }
    return writer.bytes
  }

  fileprivate init(read bytes: ArraySlice<UInt8>) throws(ByteDecodingError) {
    do {
      self = try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth)
    } catch {
      throw ByteDecodingError("it contains invalid JSON: \(error)")
    }
  }
}

extension Handshake {
  /// The form for another server, without header fields, which may contain credentials.
  fileprivate var value: Value {
    var members: ValueObject = [:]
    members["subprotocol"] = subprotocol.map(Value.string)
    members["origin"] = origin.map(Value.string)
    members["address"] = address.map(Value.string)
    members["token"] = token.map(Value.string)
    return .object(members)
  }

  fileprivate init(_ value: Value) {
    self.init(
      subprotocol: value["subprotocol"]?.string, origin: value["origin"]?.string,
      address: value["address"]?.string, token: value["token"]?.string)
  }
}
