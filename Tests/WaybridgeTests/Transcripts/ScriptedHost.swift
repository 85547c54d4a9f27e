import TestSupport
import Waybridge
import WaybridgeClient

/// What the transcript's client is asked, through the interface for hosts: every call of a host is
/// told as the message that stands behind it, under an id of its own, and waits for the
/// transcript's answer to that id.
actor ScriptedHost {
  private let tell: @Sendable (Value) -> Void
  private var answers: [String: CheckedContinuation<Result<Value, any Error>, Never>] = [:]
  private var progress: [String: @Sendable (Value) -> Void] = [:]
  private var last = 0

  init(tell: @escaping @Sendable (Value) -> Void) {
    self.tell = tell
  }

  func open(_ page: BridgeClient.Page, _ chosen: Value) async throws {
    var params: ValueObject = ["page": page.opening, "host": chosen]
    params["caller"] = page.caller?.value
    _ = try await ask("page.open", .object(params))
  }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
    // The page of a connection that has ended is no message.
    guard reason != .failed else { return }
    var params: ValueObject = ["page": .string(page.id), "reason": .string(reason.rawValue)]
    if !exts.isEmpty { params["exts"] = .object(exts) }
    _ = try? await ask("page.close", .object(params))
  }

  func resume(_ page: BridgeClient.Page) async {
    tell([
      "jsonrpc": "2.0", "method": "page.resume", "params": ["page": .string(page.id)],
    ])
  }

  func pageCall(_ call: BridgeClient.MethodCall, _ page: String) async throws -> Value {
    var params: ValueObject = ["page": .string(page), "method": .string(call.method)]
    if !call.params.isNull { params["params"] = call.params }
    params["caller"] = call.caller?.value
    return try await ask("page.call", .object(params)) { call.progress($0) }
  }

  func method(_ call: BridgeClient.MethodCall) async throws -> Value {
    try await ask(call.method, call.params) { call.progress($0) }
  }

  func run(_ call: BridgeClient.TaskCall, _ chosen: Value) async throws -> Value {
    var params: ValueObject = [
      "uri": .string(call.uri), "params": .object(call.params), "exts": .object(call.exts),
      "host": chosen,
    ]
    params["caller"] = call.caller?.value
    return try await ask("task.run", .object(params)) { call.progress($0) }
  }

  /// Answers what was asked under an id; false where nothing waits there.
  func answer(_ id: String, _ result: Result<Value, any Error>) -> Bool {
    guard let continuation = answers.removeValue(forKey: id) else { return false }
    continuation.resume(returning: result)
    return true
  }

  /// Tells progress of what was asked under an id, also after its answer.
  func progress(_ id: String, _ value: Value) {
    progress[id]?(value)
  }

  /// Lets go of everything that waits.
  func end() {
    for continuation in answers.values { continuation.resume(returning: .success(.null)) }
    answers = [:]
  }

  private func ask(
    _ method: String, _ params: Value,
    progress report: @escaping @Sendable (Value) -> Void = { _ in
    }
  ) async throws -> Value {
    last += 1
    let id = "asked \(last)"
    progress[id] = report
    var message: ValueObject = ["jsonrpc": "2.0", "id": .string(id), "method": .string(method)]
    if !params.isNull { message["params"] = params }
    tell(.object(message))
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { answers[id] = $0 }
    } onCancel: {
      tell(["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": .string(id)]])
    }.get()
  }
}

/// The pages of one declaration of a transcript's client. The interface does not tell which of its
/// patterns the server has chosen: it has one, or none.
struct ScriptedPageHost: PageHost {
  let host: ScriptedHost
  let chosen: Value

  func open(_ page: BridgeClient.Page) async throws {
    try await host.open(page, chosen)
  }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
    await host.close(page, reason: reason, exts: exts)
  }

  func resume(_ page: BridgeClient.Page) async {
    await host.resume(page)
  }

  func call(_ call: BridgeClient.MethodCall, of page: BridgeClient.Page) async throws -> Value {
    try await host.pageCall(call, page.id)
  }
}
