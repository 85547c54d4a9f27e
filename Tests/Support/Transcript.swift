import WayRPC
import WayTransport
import WayValues

/// The failure of a transcript, with its step.
package struct TranscriptFailure: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// A transcript of `protocol/vectors/`: messages that clients send, and what they must receive.
package struct Transcript: Sendable, CustomStringConvertible {
  package let name: String
  /// Whether the transcript depends on the passage of time.
  package let isSlow: Bool
  /// Whether its clients number their messages and resume.
  package let isNumbered: Bool
  /// Whether it needs too much time to run in real time.
  package var isLong: Bool {
    steps.reduce(0) { $0 + ($1["advance"]?.integer ?? 0) } > 100_000
  }
  /// Whether it restarts the server.
  package var restartsServer: Bool { steps.contains { $0["restart"] != nil } }
  /// The server's policy document; `nil` for none.
  package let policy: Value?
  package let clients: ValueObject
  package private(set) var steps: [Value]
  private let checksEnd: Bool

  package var description: String { name }

  package init(_ document: Value, file: String) throws {
    guard let name = document["name"]?.string, let clients = document["clients"]?.object,
      let steps = document["steps"]?.array, document["rows"]?.array != nil
    else { throw TranscriptFailure(description: "\(file) needs name, rows, clients and steps") }
    self.name = name
    self.clients = clients
    self.steps = steps
    policy = document["policy"]
    isSlow = document["slow"] == true
    isNumbered = document["numbered"] == true
    checksEnd = document["noEnd"] != true
  }

  /// Returns the transcript with every `deadlineMs` of its clients divided.
  package func dividingDeadlines(by divisor: Int64) -> Transcript {
    var transcript = self
    transcript.steps = steps.map { Self.dividingDeadlines(of: $0, by: divisor) }
    return transcript
  }

  private static func dividingDeadlines(of value: Value, by divisor: Int64) -> Value {
    switch value {
    case .array(let values): return .array(values.map { dividingDeadlines(of: $0, by: divisor) })
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

  /// Runs every step. Throws at the first difference.
  package func replay(on server: any ServerFixture) async throws {
    try await replay(on: server) { _, options in
      try await RawClient.connect(to: server, subprotocol: options["subprotocol"]?.string)
    }
  }

  /// Runs every step with clients of another kind than raw clients.
  package func replay(on server: any ServerFixture, as make: @escaping TranscriptClientFactory)
    async throws
  {
    var players = TranscriptPlayer(server: server, clients: clients, makeClient: make)
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

private struct TranscriptPlayer {
  let server: any ServerFixture
  let clients: ValueObject
  let makeClient: TranscriptClientFactory
  private var openClients: [String: any TranscriptClient] = [:]
  private var pattern = TranscriptPattern()
  /// The received messages, by client, that no step has matched yet. Used if the client's messages
  /// have no order.
  private var unmatchedMessages: [String: [Value]] = [:]

  init(
    server: any ServerFixture, clients: ValueObject, makeClient: @escaping TranscriptClientFactory
  ) {
    self.server = server
    self.clients = clients
    self.makeClient = makeClient
  }

  mutating func play(_ step: Value) async throws {
    if let client = step["connect"]?.string {
      _ = try await openClient(client)
    } else if let client = step["send"]?.string {
      try await send(step, to: try await openClient(client))
    } else if let client = step["expect"]?.string {
      try await expect(step, from: try await openClient(client), client)
    } else if let client = step["close"]?.string {
      let code = try step["code"].map { code in
        guard let code = code.integer.flatMap(UInt16.init(exactly:)) else {
          throw TranscriptFailure(description: "\(code) is no close code")
        }
        return code
      }
      try await (try await openClient(client)).close(code ?? 1000)
      openClients[client] = nil
    } else if step["restart"] == true {
      openClients = [:]
      try await server.restart()
    } else if let time = step["advance"]?.integer {
      try await server.advance(by: .milliseconds(time))
    } else {
      throw TranscriptFailure(description: "the step \(step) has no meaning")
    }
  }

  private mutating func openClient(_ name: String) async throws -> any TranscriptClient {
    if let peer = openClients[name] { return peer }
    guard let options = clients[name] else {
      throw TranscriptFailure(description: "there is no client \(name)")
    }
    let peer = try await makeClient(name, options)
    openClients[name] = peer
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
        unmatchedMessages[client, default: []].append(try JSON.parse(bytes.span.bytes))
        event = try await peer.next()
      }
      guard case .closed(let closed) = event else {
        throw TranscriptFailure(description: "\(client) got a message, not the close \(code)")
      }
      if let value = unmatchedMessages[client]?.first {
        throw TranscriptFailure(
          description: "\(client) got an unexpected \(Self.text(value)) before its close")
      }
      guard closed.map(Int64.init) == code else {
        throw TranscriptFailure(
          description:
            "\(client) was closed with \(closed.map { "\($0)" } ?? "no code"), not \(code)")
      }
      openClients[client] = nil
    } else if let expected = step["message"] {
      try match(expected, try await nextMessage(from: peer, client, like: [expected]))
    } else if var expected = step["any"]?.array {
      while !expected.isEmpty {
        let value = try await nextMessage(from: peer, client, like: expected)
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
    return trial.mismatch(expected, Self.removingSequence(value, like: expected)) == nil
  }

  /// Removes the message's sequence number if the expected message has none.
  private static func removingSequence(_ value: Value, like expected: Value) -> Value {
    switch (value, expected) {
    case (.object(var members), _) where expected["seq"] == nil:
      members["seq"] = nil
      return .object(members)
    case (.array(let values), .array(let expected)) where values.count == expected.count:
      return .array(zip(values, expected).map(removingSequence(_:like:)))
    default: return value
    }
  }

  private mutating func match(_ expected: Value, _ value: Value) throws {
    if let reason = pattern.mismatch(expected, Self.removingSequence(value, like: expected)) {
      throw TranscriptFailure(description: "\(reason) in \(Self.text(value))")
    }
  }

  /// Returns the next message. If the client's messages have no order, returns the first that is
  /// like one of the expected messages.
  private mutating func nextMessage(
    from peer: any TranscriptClient, _ client: String, like expected: [Value]
  ) async throws -> Value {
    if peer.isOrdered { return try await nextMessage(from: peer, client) }
    let isExpected = { [self] value in expected.contains { matches($0, value) } }
    if let index = unmatchedMessages[client, default: []].firstIndex(where: isExpected) {
      return unmatchedMessages[client, default: []].remove(at: index)
    }
    while true {
      let value: Value
      do {
        value = try await nextMessage(from: peer, client)
      } catch {
        throw TranscriptFailure(
          description:
            "\(error), while \(client) waited for \(Self.text(.array(expected))) and got "
            + Self.text(.array(unmatchedMessages[client] ?? [])))
      }
      if isExpected(value) { return value }
      unmatchedMessages[client, default: []].append(value)
    }
  }

  private func nextMessage(from peer: any TranscriptClient, _ client: String) async throws -> Value
  {
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
    for (client, peer) in openClients {
      try await peer.send(["jsonrpc": "2.0", "id": "end", "method": "$/ping"])
      let value = try await nextMessage(from: peer, client, like: [end])
      guard value == end, unmatchedMessages[client, default: []].isEmpty else {
        let values = (unmatchedMessages[client] ?? []) + [value]
        throw TranscriptFailure(
          description: "\(client) got an unexpected \(Self.text(.array(values)))")
      }
    }
  }

  private static func text(_ value: Value) -> String {
    (try? JSON.text(value)) ?? "\(value)"
  }
}
