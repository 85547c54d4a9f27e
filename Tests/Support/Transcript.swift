import WayRPC
import WayTransport
import WayValues

/// What went wrong while a transcript was replayed, and at which step.
package struct TranscriptFailure: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// A transcript of `protocol/vectors/`: messages that clients send, and what they must receive.
package struct Transcript: Sendable, CustomStringConvertible {
  package let name: String
  /// Whether time has to pass.
  package let isSlow: Bool
  /// Whether its clients number what they send, and resume.
  package let isNumbered: Bool
  /// Whether so much time has to pass that it must not be real.
  package var isLong: Bool {
    steps.reduce(0) { $0 + ($1["advance"]?.integer ?? 0) } > 100_000
  }
  /// Whether the server ends and is started again.
  package var restarts: Bool { steps.contains { $0["restart"] != nil } }
  /// What the server's policy is, as a document; nil for none.
  package let policy: Value?
  package let clients: ValueObject
  package private(set) var steps: [Value]
  private let checksEnd: Bool

  package var description: String { name }

  package init(_ document: Value, file: String) throws {
    guard let name = document["name"]?.string, let clients = document["clients"]?.object,
      let steps = document["steps"]?.list, document["rows"]?.list != nil
    else { throw TranscriptFailure(description: "\(file) needs name, rows, clients and steps") }
    self.name = name
    self.clients = clients
    self.steps = steps
    policy = document["policy"]
    isSlow = document["slow"] == true
    isNumbered = document["numbered"] == true
    checksEnd = document["noEnd"] != true
  }

  /// The same with every `deadlineMs` that its clients send divided.
  package func dividingDeadlines(by divisor: Int64) -> Transcript {
    var transcript = self
    transcript.steps = steps.map { Self.dividingDeadlines(of: $0, by: divisor) }
    return transcript
  }

  private static func dividingDeadlines(of value: Value, by divisor: Int64) -> Value {
    switch value {
    case .list(let values): return .list(values.map { dividingDeadlines(of: $0, by: divisor) })
    case .object(let object):
      let members = object.members.map { member -> (String, Value) in
        if member.name == "deadlineMs", let time = member.value.integer {
          return (member.name, .integer(time / divisor))
        }
        return (member.name, dividingDeadlines(of: member.value, by: divisor))
      }
      return .object(ValueObject(members))
    default: return value
    }
  }

  /// Plays every step; throws at the first that goes otherwise.
  package func replay(on server: any PeerServer) async throws {
    try await replay(on: server) { _, options in
      try await Peer.connect(to: server, subprotocol: options["subprotocol"]?.string)
    }
  }

  /// The same with other parties than raw clients.
  package func replay(on server: any PeerServer, as make: @escaping TranscriptClientFactory)
    async throws
  {
    var players = Players(server: server, clients: clients, make: make)
    for (index, step) in steps.enumerated() {
      do {
        try await players.play(step)
      } catch {
        throw TranscriptFailure(description: "\(name), step \(index): \(error)")
      }
    }
    if checksEnd { try await players.expectNothingMore() }
  }
}

private struct Players {
  let server: any PeerServer
  let clients: ValueObject
  let make: TranscriptClientFactory
  private var open: [String: any TranscriptClient] = [:]
  private var pattern = TranscriptPattern()
  /// What came to a client whose messages have no order, and was not expected yet.
  private var early: [String: [Value]] = [:]

  init(server: any PeerServer, clients: ValueObject, make: @escaping TranscriptClientFactory) {
    self.server = server
    self.clients = clients
    self.make = make
  }

  mutating func play(_ step: Value) async throws {
    if let client = step["connect"]?.string {
      _ = try await peer(client)
    } else if let client = step["send"]?.string {
      try await send(step, to: try await peer(client))
    } else if let client = step["expect"]?.string {
      try await expect(step, from: try await peer(client), client)
    } else if let client = step["close"]?.string {
      let code = try step["code"].map { code in
        guard let code = code.integer.flatMap(UInt16.init(exactly:)) else {
          throw TranscriptFailure(description: "\(code) is no close code")
        }
        return code
      }
      try await (try await peer(client)).close(code ?? 1000)
      open[client] = nil
    } else if step["restart"] == true {
      open = [:]
      try await server.restart()
    } else if let time = step["advance"]?.integer {
      try await server.advance(by: .milliseconds(time))
    } else {
      throw TranscriptFailure(description: "the step \(step) has no meaning")
    }
  }

  private mutating func peer(_ name: String) async throws -> any TranscriptClient {
    if let peer = open[name] { return peer }
    guard let options = clients[name] else {
      throw TranscriptFailure(description: "there is no client \(name)")
    }
    let peer = try await make(name, options)
    open[name] = peer
    return peer
  }

  private func send(_ step: Value, to peer: any TranscriptClient) async throws {
    if let message = step["message"] {
      try await peer.send(pattern.fill(message))
    } else if let text = step["text"]?.string {
      let count = Int(step["repeat"]?.integer ?? 1)
      try await peer.send(
        Array(String(repeating: pattern.fill(text), count: count).utf8), as: .text)
    } else if let bytes = step["bytes"]?.string ?? step["binary"]?.string {
      try await peer.send(Self.bytes(bytes), as: step["binary"] == nil ? .text : .binary)
    } else {
      throw TranscriptFailure(description: "nothing to send")
    }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  private mutating func expect(_ step: Value, from peer: any TranscriptClient, _ client: String)
    async throws
  {
    if let code = step["close"]?.integer {
      var event = try await peer.next()
      while !peer.isOrdered, case .text(let bytes) = event {
        early[client, default: []].append(try JSON.parse(bytes.span.bytes))
        event = try await peer.next()
      }
      guard case .closed(let closed) = event else {
        throw TranscriptFailure(description: "\(client) got a message, not the close \(code)")
      }
      if let value = early[client]?.first {
        throw TranscriptFailure(
          description: "\(client) got an unexpected \(Self.text(value)) before its close")
      }
      guard closed.map(Int64.init) == code else {
        throw TranscriptFailure(
          description:
            "\(client) was closed with \(closed.map { "\($0)" } ?? "no code"), not \(code)")
      }
      open[client] = nil
    } else if let expected = step["message"] {
      try match(expected, try await message(from: peer, client, like: [expected]))
    } else if var expected = step["any"]?.list {
      while !expected.isEmpty {
        let value = try await message(from: peer, client, like: expected)
        guard let index = expected.firstIndex(where: { matches($0, value) }) else {
          throw TranscriptFailure(
            description: "\(client) got \(Self.text(value)), which is none of those expected")
        }
        try match(expected.remove(at: index), value)
      }
    } else {
      throw TranscriptFailure(description: "nothing is expected")
    }
  }

  private func matches(_ expected: Value, _ value: Value) -> Bool {
    var trial = pattern
    return trial.mismatch(expected, Self.shown(value, like: expected)) == nil
  }

  /// A message without its number, where none is expected.
  private static func shown(_ value: Value, like expected: Value) -> Value {
    switch (value, expected) {
    case (.object(var members), _) where expected["seq"] == nil:
      members["seq"] = nil
      return .object(members)
    case (.list(let values), .list(let expected)) where values.count == expected.count:
      return .list(zip(values, expected).map(shown(_:like:)))
    default: return value
    }
  }

  private mutating func match(_ expected: Value, _ value: Value) throws {
    if let reason = pattern.mismatch(expected, Self.shown(value, like: expected)) {
      throw TranscriptFailure(description: "\(reason) in \(Self.text(value))")
    }
  }

  /// The next message; where they have no order, the first that is like one of those expected.
  private mutating func message(
    from peer: any TranscriptClient, _ client: String, like expected: [Value]
  ) async throws -> Value {
    if peer.isOrdered { return try await message(from: peer, client) }
    let isExpected = { [self] value in expected.contains { matches($0, value) } }
    if let index = early[client, default: []].firstIndex(where: isExpected) {
      return early[client, default: []].remove(at: index)
    }
    while true {
      let value: Value
      do {
        value = try await message(from: peer, client)
      } catch {
        throw TranscriptFailure(
          description: "\(error), while \(client) waited for \(Self.text(.list(expected))) and got "
            + Self.text(.list(early[client] ?? [])))
      }
      if isExpected(value) { return value }
      early[client, default: []].append(value)
    }
  }

  private func message(from peer: any TranscriptClient, _ client: String) async throws -> Value {
    switch try await peer.next() {
    case .text(let bytes): return try JSON.parse(bytes.span.bytes)
    case .binary: throw TranscriptFailure(description: "\(client) got a binary message")
    case .closed(let code):
      throw TranscriptFailure(
        description: "\(client) was closed with \(code.map { "\($0)" } ?? "no code")")
    }
  }

  mutating func expectNothingMore() async throws {
    let end: Value = ["jsonrpc": "2.0", "id": "end", "result": nil]
    for (client, peer) in open {
      try await peer.send(["jsonrpc": "2.0", "id": "end", "method": "$/ping"])
      let value = try await message(from: peer, client, like: [end])
      guard value == end, early[client, default: []].isEmpty else {
        let values = (early[client] ?? []) + [value]
        throw TranscriptFailure(
          description: "\(client) got an unexpected \(Self.text(.list(values)))")
      }
    }
  }

  private static func text(_ value: Value) -> String {
    (try? JSON.text(value)) ?? "\(value)"
  }
}
