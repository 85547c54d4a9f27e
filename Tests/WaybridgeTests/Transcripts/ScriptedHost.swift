import TestSupport
import Waybridge
import WaybridgeClient

/// The host of a transcript's client. Each call of the host interface is reported as the
/// corresponding message with its own id. It then waits for the transcript's response to that id.
actor ScriptedHost {
  private let emit: @Sendable (Value) -> Void
  private var pendingRequests: [String: CheckedContinuation<Result<Value, any Error>, Never>] = [:]
  private var progressHandlers: [String: @Sendable (Value) -> Void] = [:]
  private var lastID = 0
  private var pages: [String: BridgeClient.HostedPage] = [:]
  /// The members that the last update of a page has changed, until the page is resumed.
  private var updatedMembers: [String: ValueObject] = [:]

  init(emit: @escaping @Sendable (Value) -> Void) {
    self.emit = emit
  }

  func open(_ page: BridgeClient.HostedPage, _ chosen: Value) async throws {
    pages[page.id] = page
    var params: ValueObject = ["page": page.pageOpenValue, "host": chosen]
    params["caller"] = page.caller?.value
    _ = try await request("page.open", .object(params))
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) async
  {
    // A page closed by the end of its connection has no message.
    guard reason != .failed else { return }
    var params: ValueObject = ["page": .string(page.id), "reason": .string(reason.rawValue)]
    if !exts.isEmpty { params["exts"] = .object(exts) }
    _ = try? await request("page.close", .object(params))
  }

  func resume(_ page: BridgeClient.HostedPage) async {
    var params: ValueObject = ["page": .string(page.id)]
    if let updated = updatedMembers.removeValue(forKey: page.id) { params.merge(updated) }
    emit(["jsonrpc": "2.0", "method": "page.resume", "params": .object(params)])
  }

  /// The interface has the whole page, the message only what a call has delivered.
  func update(_ page: BridgeClient.HostedPage) async {
    let before = pages.updateValue(page, forKey: page.id)
    var updated: ValueObject = [:]
    if page.uri != before?.uri { updated["uri"] = .string(page.uri) }
    if page.params != before?.params { updated["params"] = .object(page.params) }
    if page.exts != before?.exts { updated["exts"] = .object(page.exts) }
    updatedMembers[page.id] = updated
  }

  func callPageMethod(_ call: BridgeClient.MethodCall, _ page: String) async throws -> Value {
    var params: ValueObject = ["page": .string(page), "method": .string(call.method)]
    if !call.params.isNull { params["params"] = call.params }
    params["caller"] = call.caller?.value
    params["key"] = call.key.map(Value.string)
    return try await request("page.call", .object(params)) { call.reportProgress($0) }
  }

  func callMethod(_ call: BridgeClient.MethodCall) async throws -> Value {
    try await request(call.method, call.params) { call.reportProgress($0) }
  }

  func runTask(_ call: BridgeClient.TaskCall, _ chosen: Value) async throws -> Value {
    var params: ValueObject = [
      "uri": .string(call.uri), "params": .object(call.params), "exts": .object(call.exts),
      "host": chosen,
    ]
    params["caller"] = call.caller?.value
    params["key"] = call.key.map(Value.string)
    return try await request("task.run", .object(params)) { call.reportProgress($0) }
  }

  /// Responds to the request with an id; returns false if no request with it is pending.
  func respond(_ id: String, _ result: Result<Value, any Error>) -> Bool {
    guard let continuation = pendingRequests.removeValue(forKey: id) else { return false }
    continuation.resume(returning: result)
    return true
  }

  /// Reports progress of the request with an id, also after its response.
  func reportProgress(_ id: String, _ value: Value) {
    progressHandlers[id]?(value)
  }

  /// Ends all pending requests.
  func finishPendingRequests() {
    for continuation in pendingRequests.values { continuation.resume(returning: .success(.null)) }
    pendingRequests = [:]
  }

  private func request(
    _ method: String, _ params: Value,
    progress report: @escaping @Sendable (Value) -> Void = { _ in
    }
  ) async throws -> Value {
    lastID += 1
    let id = "asked \(lastID)"
    progressHandlers[id] = report
    var message: ValueObject = ["jsonrpc": "2.0", "id": .string(id), "method": .string(method)]
    if !params.isNull { message["params"] = params }
    emit(.object(message))
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { pendingRequests[id] = $0 }
    } onCancel: {
      emit(["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": .string(id)]])
    }.get()
  }
}

/// The pages of one host of a transcript's client. The interface does not report which pattern the
/// server has chosen, so that a host has one pattern or none.
struct ScriptedPageHost: PageHost {
  let host: ScriptedHost
  let chosen: Value

  func open(_ page: BridgeClient.HostedPage) async throws {
    try await host.open(page, chosen)
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) async
  {
    await host.close(page, reason: reason, exts: exts)
  }

  func resume(_ page: BridgeClient.HostedPage) async {
    await host.resume(page)
  }

  func update(_ page: BridgeClient.HostedPage) async {
    await host.update(page)
  }

  func call(_ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage) async throws -> Value
  {
    try await host.callPageMethod(call, page.id)
  }
}
