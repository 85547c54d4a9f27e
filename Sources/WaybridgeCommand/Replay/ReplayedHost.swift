import Waybridge
import WaybridgeClient

/// The pages, tasks and methods of one recorded client in its replay.
struct ReplayedHost: PageHost {
  let replayer: Replayer
  /// The client's id in the recording.
  let client: String

  /// Creates a host for a recorded declaration.
  func makeHost(_ declaration: Value) throws -> BridgeClient.Host {
    switch declaration["kind"]?.string {
    case "page": return try BridgeClient.Host.declared(declaration, pages: self)
    case "interceptor":
      return try BridgeClient.Host.declared(
        declaration,
        intercepts: { call in
          try BridgeClient.InterceptorDecision(
            response: try await replayer.handleRequest(client, "router.intercept", call.uri, .null))
        })
    default:
      return try BridgeClient.Host.declared(declaration) { call in
        try await replayer.handleRequest(client, "task.run", call.uri, call.requestID)
      }
    }
  }

  /// Decides as in the recording whether a page that the client guards may close.
  func decideLeave(_ leave: BridgeClient.Leave) async throws -> BridgeClient.LeaveDecision {
    let response = try await replayer.handleRequest(client, "page.leave", nil, .null)
    return response == .null ? .allow : try BridgeClient.LeaveDecision(response: response)
  }

  /// Handles a method of the client, or of the page that it runs in.
  func handleCall(_ call: BridgeClient.MethodCall) async throws -> Value {
    try await replayer.handleRequest(client, nil, call.method, call.requestID)
  }

  func open(_ page: BridgeClient.HostedPage) async throws {
    try await replayer.handleOpen(client, page)
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) async
  {
    await replayer.handleClose(client)
  }

  func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage
  ) async throws -> Value {
    try await replayer.handleRequest(client, "page.call", call.method, call.requestID)
  }
}
