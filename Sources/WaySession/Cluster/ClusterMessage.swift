import WayRPC
import WayTransport
import WayValues

/// What one server of a cluster tells another.
enum ClusterMessage {
  /// It is there, and how it is: to all.
  case presence(Value)
  /// Nothing: the number that it goes with shows whether one before it is missing.
  case beat
  /// Messages are missing between the two: what was under way there is over.
  case broken
  /// Asks for something, under a number of its own.
  case question(UInt64, Value)
  /// How far that is.
  case progress(UInt64, Value)
  /// `{"result": …}` or `{"error": …}`.
  case answer(UInt64, Value)
  /// The answer is not wanted any more.
  case cancel(UInt64)
  /// What is between a connection here and its session there.
  case relay(RelayMessage)
  /// A piece of an envelope that is too large for one message.
  case piece([UInt8], isLast: Bool)
}

/// What passes between the server that has a connection, the entrance, and the one that has its
/// session, the owner. The entrance has numbered the relay.
struct RelayMessage {
  enum Content {
    /// A connection came.
    case open(RelayHello)
    /// The owner is ready for it, at a time by its clock.
    case ready(UInt64)
    /// It is still there, and so many nanoseconds old; this came on it first. Says when the owner was
    /// ready.
    case first(ready: UInt64, age: UInt64, [UInt8])
    /// A message on it.
    case text([UInt8])
    /// So many bytes of messages were taken.
    case credit(Int)
    /// It has ended, or is to end; the code is nil where it was lost.
    case close(UInt16?, String)
  }

  let number: UInt64
  let isToOwner: Bool
  let content: Content
}

/// What the owner of a session is told of a connection.
struct RelayHello {
  /// The session that it is for; empty for a new one.
  let session: String
  let handshake: Handshake
}

extension ClusterMessage {
  var isPiece: Bool { if case .piece = self { true } else { false } }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .presence(let value): writer.write(1, value)
    case .beat: writer.write(byte: 2)
    case .broken: writer.write(byte: 3)
    case .question(let id, let value): writer.write(4, id, value)
    case .progress(let id, let value): writer.write(5, id, value)
    case .answer(let id, let value): writer.write(6, id, value)
    case .cancel(let id):
      writer.write(byte: 7)
      writer.write(id)
    case .relay(let relay):
      writer.write(byte: relay.isToOwner ? 8 : 9)
      writer.write(relay.number)
      writer.write(relay.content)
    case .piece(let bytes, let isLast):
      writer.write(byte: isLast ? 11 : 10)
      writer.write(rest: bytes)
    }
    return writer.bytes
  }

  /// Throws for what is no message of a server of this version.
  init(_ reader: consuming ByteReader) throws(ByteFault) {
    switch try reader.byte() {
    case 1: self = .presence(try reader.value())
    case 2: self = .beat
    case 3: self = .broken
    case 4: self = .question(try reader.number(), try reader.value())
    case 5: self = .progress(try reader.number(), try reader.value())
    case 6: self = .answer(try reader.number(), try reader.value())
    case 7: self = .cancel(try reader.number())
    case let kind where kind == 8 || kind == 9:
      self = .relay(
        RelayMessage(
          number: try reader.number(), isToOwner: kind == 8, content: try reader.relayed()))
    case let kind where kind == 10 || kind == 11:
      self = .piece(Array(reader.rest), isLast: kind == 11)
    case let kind: throw ByteFault("it is of the kind \(kind)")
    }
  }
}

/// A message with who sends it, and its number among those from that server to this, from 1; 0 for
/// one to all.
struct ClusterEnvelope {
  let sender: String
  let number: UInt64
  let message: ClusterMessage

  /// The form of the messages; one that reads a later one is a later version.
  private static let form: UInt8 = 1
  /// Bytes beside those of the message and of the sender's name.
  static let overhead = 1 + 8 + 8

  /// The envelope of a message that is written.
  static func bytes(from sender: String, _ number: UInt64, _ message: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(byte: form)
    writer.write(sender)
    writer.write(number)
    writer.write(rest: message)
    return writer.bytes
  }

  /// Throws for what is no message of a server of this version.
  init(_ bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    try reader.expect(form: Self.form)
    sender = try reader.text()
    number = try reader.number()
    message = try ClusterMessage(reader)
  }
}

extension ByteWriter {
  fileprivate mutating func write(_ kind: UInt8, _ value: Value) {
    write(byte: kind)
    write(rest: value.text)
  }

  fileprivate mutating func write(_ kind: UInt8, _ id: UInt64, _ value: Value) {
    write(byte: kind)
    write(id)
    write(rest: value.text)
  }

  fileprivate mutating func write(_ content: RelayMessage.Content) {
    switch content {
    case .open(let hello):
      write(byte: 1)
      write(hello.session)
      write(hello.handshake.value.text)
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
  fileprivate func value() throws(ByteFault) -> Value {
    try Value(read: rest)
  }

  fileprivate mutating func relayed() throws(ByteFault) -> RelayMessage.Content {
    switch try byte() {
    case 1:
      let session = try text()
      return .open(
        RelayHello(session: session, handshake: Handshake(try Value(read: try bytes()))))
    case 2: return .text(Array(rest))
    case 3: return .credit(Int(clamping: try number()))
    case 4:
      let code = try number()
      return .close(code == 0 ? nil : UInt16(clamping: code), try text())
    case 5: return .ready(try number())
    case 6: return .first(ready: try number(), age: try number(), Array(rest))
    case let kind: throw ByteFault("it relays what is of the kind \(kind)")
    }
  }
}

extension Value {
  /// Its JSON, for another server.
  fileprivate var text: [UInt8] {
    var writer = JSONWriter()
    // Swift code may give what nests without end: nothing could be sent of it either.
    do { try writer.write(self, maxDepth: JSON.maxKeptDepth) } catch { return Array("null".utf8) }
    return writer.bytes
  }

  fileprivate init(read bytes: ArraySlice<UInt8>) throws(ByteFault) {
    do {
      self = try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxKeptDepth)
    } catch {
      throw ByteFault("it has what is no JSON: \(error)")
    }
  }
}

extension Handshake {
  fileprivate var value: Value {
    var members: ValueObject = [
      "headers": .list(headers.map { .list([.string($0.name), .string($0.value)]) })
    ]
    members["subprotocol"] = subprotocol.map(Value.string)
    members["origin"] = origin.map(Value.string)
    members["address"] = address.map(Value.string)
    members["token"] = token.map(Value.string)
    return .object(members)
  }

  fileprivate init(_ value: Value) {
    self.init(
      subprotocol: value["subprotocol"]?.string, origin: value["origin"]?.string,
      address: value["address"]?.string, token: value["token"]?.string,
      headers: (value["headers"]?.list ?? []).compactMap { pair in
        guard let pair = pair.list, pair.count == 2, let name = pair[0].string,
          let value = pair[1].string
        else { return nil }
        return (name, value)
      })
  }
}
