import TestSupport
import Testing
import WayRPC
import Waybridge
import WaybridgeClient

/// The Swift client sends only messages that the server can read.
@Suite(.timeLimit(.minutes(1)))
struct ClientMessageDepthTests {
  private let server = ScriptedServer()

  /// A place for a value of the app in a message of the client.
  struct ValuePlace: Sendable, CustomTestStringConvertible {
    /// The path of the value, as an error names it.
    let path: String
    /// The number of levels around the value, including the message itself.
    let level: Int
    let send: @Sendable (BridgeClient, Value) async throws -> Void
    var testDescription: String { path }

    init(
      _ path: String, level: Int = 3,
      _ send: @escaping @Sendable (BridgeClient, Value) async throws -> Void
    ) {
      self.path = path
      self.level = level
      self.send = send
    }
  }

  private static let places: [ValuePlace] = [
    ValuePlace("params.params.deep") { _ = try await $0.invoke("action://a", ["deep": $1]) },
    ValuePlace("params.params['a b']") { _ = try await $0.open("native://a", ["a b": $1]) },
    ValuePlace("params.exts.deep") { _ = try await $0.open("native://a", exts: ["deep": $1]) },
    ValuePlace("params.result.data") { try await $0.finish(PageResult($1), page: "p") },
    ValuePlace("params.exts.deep") { try await $0.back(exts: ["deep": $1]) },
    ValuePlace("params.params.deep") { _ = try await $0.adopt("native://a", ["deep": $1]) },
    ValuePlace("params.params.deep") { _ = try await $0.explain("native://a", ["deep": $1]) },
    ValuePlace("params.params.deep") { _ = try await $0.deliver("native://a", ["deep": $1]) },
    ValuePlace("params.params.deep") {
      _ = try await $0.call(page: "p", method: "m", params: ["deep": $1])
    },
    ValuePlace("params[1]", level: 2) { _ = try await $0.request("m", [0, $1]) },
    ValuePlace("params.deep", level: 2) { try await $0.notify("m", ["deep": $1]) },
  ]

  /// Returns arrays within one another.
  private static func nested(_ levels: Int) -> Value {
    (0..<levels).reduce(Value.null) { value, _ in [value] }
  }

  /// Throws if the server could not read the message.
  private func read(_ message: Value, maxDepth: Int) throws {
    _ = try JSON.parse(try JSON.text(message), maxDepth: maxDepth)
  }

  @Test(arguments: places, [8, 128])
  func refusesParamsThatNestTooDeep(_ place: ValuePlace, maxDepth: Int) async throws {
    let client = try await server.openClient(maxDepth: Int64(maxDepth), canResume: true)
    for levels in [maxDepth - place.level + 1, 1000] {
      let error = await #expect(throws: CallError.self) {
        try await place.send(client, Self.nested(levels))
      }
      #expect(error?.code == -32602)
      #expect(error?.message.hasPrefix(place.path + "[0]") == true, "\(String(describing: error))")
    }
    let sending = Task {
      try await place.send(client, Self.nested(maxDepth - place.level))
    }
    let message = try await server.next()
    // The refused messages have no number.
    #expect(message["seq"] == 1)
    try read(message, maxDepth: maxDepth)
    await client.close()
    _ = try? await sending.value
  }

  private func runTask(_ id: Int64) async throws {
    try await server.send([
      "jsonrpc": "2.0", "seq": .integer(id), "id": .integer(id), "method": "task.run",
      "params": ["uri": "action://a"],
    ])
  }

  @Test(arguments: [8, 128])
  func responseWithATooDeepResultIsAnError(maxDepth: Int) async throws {
    let levels = Mailbox<Int>()
    let client = try await server.openClient(
      .init(
        name: "test", version: "1",
        hosts: [.task("action://a") { _ in Self.nested(try await levels.receive()) }]),
      maxDepth: Int64(maxDepth), canResume: true)
    levels.put(maxDepth - 1)
    try await runTask(1)
    let response = try await server.next()
    #expect(response["result"] == Self.nested(maxDepth - 1))
    try read(response, maxDepth: maxDepth)
    levels.put(maxDepth)
    try await runTask(2)
    let failed = try await server.next()
    #expect(failed["seq"] == 2)
    #expect(failed["id"] == 2)
    #expect(failed["error"]?["code"] == -32603)
    #expect(failed["error"]?["message"]?.string?.hasPrefix("result[0]") == true)
    await client.close()
  }

  @Test(arguments: [8, 128])
  func errorWithTooDeepDataIsSentWithoutIt(maxDepth: Int) async throws {
    let levels = Mailbox<Int>()
    let client = try await server.openClient(
      .init(
        name: "test", version: "1",
        hosts: [
          .task("action://a") { _ in
            let data = Self.nested(try await levels.receive())
            throw CallError(code: 7, message: "no", data: data)
          }
        ]),
      maxDepth: Int64(maxDepth), canResume: true)
    levels.put(maxDepth - 2)
    try await runTask(1)
    let response = try await server.next()
    #expect(response["error"]?["data"] == Self.nested(maxDepth - 2))
    try read(response, maxDepth: maxDepth)
    levels.put(maxDepth - 1)
    try await runTask(2)
    #expect(try await server.next()["error"] == ["code": 7, "message": "no"])
    await client.close()
  }

  @Test(arguments: [8, 128])
  func progressThatNestsTooDeepIsNotSent(maxDepth: Int) async throws {
    let client = try await server.openClient(
      .init(
        name: "test", version: "1",
        hosts: [
          .task("action://a") { call in
            call.reportProgress(Self.nested(maxDepth - 1))
            call.reportProgress(Self.nested(maxDepth - 2))
            return "done"
          }
        ]),
      maxDepth: Int64(maxDepth), canResume: true)
    try await runTask(1)
    let progress = try await server.next()
    #expect(progress["seq"] == 1)
    #expect(progress["params"]?["value"] == Self.nested(maxDepth - 2))
    try read(progress, maxDepth: maxDepth)
    #expect(try await server.next()["result"] == "done")
    await client.close()
  }

  @Test func pathOfADeepValueIsShortened() async throws {
    let client = try await server.openClient()
    let name = String(repeating: "x", count: 100_000)
    let deep = (0..<200).reduce(Value.null) { value, _ in [name: value] }
    let error = await #expect(throws: CallError.self) {
      try await client.invoke("action://a", ["deep": deep])
    }
    #expect(error?.code == -32602)
    #expect(error.map { $0.message.utf8.count < 400 } == true)
    await client.close()
  }

  @Test func numbersThatJSONLacksAreNotSent() async throws {
    let client = try await server.openClient()
    for number in [Double.nan, .infinity, -.infinity] {
      let error = await #expect(throws: CallError.self) {
        try await client.invoke(ValueCall<Int>(["action://a"], ["price": number]))
      }
      #expect(error?.code == -32602)
      #expect(error?.message.contains("price") == true)
      let sending = Task { try await client.invoke("action://a", ["price": Value(number)]) }
      let request = try await server.next()
      #expect(request["params"]?["params"] == ["price": nil])
      try await server.respond(request, 1)
      #expect(try await sending.value == 1)
    }
    await client.close()
  }

  /// Random values of any shape: the server reads them all, unchanged.
  @Test(arguments: 1...20)
  func serverReadsWhateverIsSent(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let maxDepth = Int.random(in: 4...40, using: &random)
    let client = try await server.openClient(maxDepth: Int64(maxDepth), canResume: true)
    var sent = 0
    for _ in 0..<200 {
      let depth = Int.random(in: 0...60, using: &random)
      let value = Self.randomValue(depth: depth, &random)
      do {
        try await client.notify("m", ["value": value])
      } catch {
        #expect(error.code == -32602, "seed \(seed): \(error)")
        continue
      }
      sent += 1
      let message = try await server.next()
      #expect(message["params"]?["value"] == value, "seed \(seed)")
      #expect(message["seq"] == .integer(Int64(sent)), "seed \(seed)")
      try read(message, maxDepth: maxDepth)
    }
    #expect((1..<200).contains(sent), "seed \(seed)")
    await client.close()
  }

  /// Returns a value with a branch of this depth.
  private static func randomValue(depth: Int, _ random: inout SeededRandom) -> Value {
    guard depth > 0 else { return randomScalar(&random) }
    let inner = randomValue(depth: depth - 1, &random)
    var siblings: [Value] = []
    while Bool.random(using: &random) { siblings.append(randomScalar(&random)) }
    if Bool.random(using: &random) { return .array([inner] + siblings) }
    var object: ValueObject = [:]
    for value in siblings { object[randomText(&random)] = value }
    object[randomText(&random)] = inner
    return .object(object)
  }

  private static func randomScalar(_ random: inout SeededRandom) -> Value {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2: .integer(Int64.random(in: .min ... .max, using: &random))
    case 3: Value(Double.random(in: -1e300...1e300, using: &random))
    case 4: .array([])
    default: .string(randomText(&random))
    }
  }

  /// Returns a text of any characters: control characters, marks, emoji.
  private static func randomText(_ random: inout SeededRandom) -> String {
    var text = ""
    let length = Int.random(in: 0...6, using: &random)
    for _ in 0..<length {
      let limit: UInt32 = Bool.random(using: &random) ? 0x80 : 0x10FFFF
      let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random))
      text.unicodeScalars.append(scalar ?? "\u{1F600}")
    }
    return text
  }
}
