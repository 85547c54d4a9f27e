import WayAgents
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// What the client of one agent's call does next: it opens a session as an agent, makes the call, and
/// waits for its response. Pure: it decides, ``AgentCall`` acts.
struct AgentCallProgress {
  private enum Step {
    case opening
    case calling
    case complete
  }

  enum Action {
    case nothing
    /// Send the request of the call.
    case call
    /// Report something about the call.
    case report(Value)
    /// The call has ended.
    case complete(Result<Value, CallError>)
  }

  static let openID = RequestID.integer(1)
  static let callID = RequestID.integer(2)

  private var step = Step.opening
  /// The session that the agent has joined; nil before.
  private(set) var session: String?

  /// Decides what to do with a message of the server.
  mutating func received(_ content: FrameContent) -> Action {
    switch (step, content) {
    case (.opening, .message(.response(let response))) where response.id == Self.openID:
      guard case .success(let opened) = response.result else { return complete(response.result) }
      session = (try? opened.decode(as: OpenedSession.self))?.session
      step = .calling
      return .call
    case (.calling, .message(.response(let response))) where response.id == Self.callID:
      return complete(response.result)
    case (.calling, .message(.notification(let notification)))
    where notification.method == "$/progress":
      guard let report = try? notification.params?.decode(as: Report.self),
        report.id == Self.callID
      else { return .nothing }
      return .report(report.value)
    default: return .nothing
    }
  }

  /// Decides what to do when the server has closed the connection.
  mutating func closed(_ code: CloseCode, _ reason: String) -> Action {
    guard step != .complete else { return .nothing }
    return complete(
      .failure(
        step == .opening
          ? CallError(.unavailable, reason)
          : CallError(.outcomeUnknown, "The connection to the session ended: \(reason)")))
  }

  private mutating func complete(_ result: Result<Value, CallError>) -> Action {
    step = .complete
    return .complete(result)
  }

  private struct OpenedSession: Decodable {
    let session: String
  }

  private struct Report: Decodable {
    let id: RequestID
    let value: Value
  }
}

/// The call of a tool: a client of a session, inside the process, that opens or joins the session,
/// makes the call, and leaves. It receives messages on the loop of its channel, which changes if the
/// session is on another loop.
final class AgentCall: AgentChannelClient, @unchecked Sendable {
  /// Receives what the call reports, and at the end its result with the session in which it ran.
  /// Called on the loop of the channel.
  struct Receiver: Sendable {
    let report: @Sendable (Value) -> Void
    let complete: @Sendable (Result<Value, CallError>, String?) -> Void
  }

  private let call: AgentToolCall
  private let client: MCPImplementation?
  private let receiver: Receiver
  private var progress = AgentCallProgress()
  /// The channel, which reaches the loop that has the session now. Set once, before it is used.
  private var channel: AgentChannel?

  init(_ call: AgentToolCall, by client: MCPImplementation?, _ receiver: Receiver) {
    self.call = call
    self.client = client
    self.receiver = receiver
  }

  /// Begins the call. Call once, on the loop of the sessions.
  func begin(_ identity: Identity, _ handshake: Handshake, on loopSessions: LoopSessions) {
    let channel = AgentChannel(
      loopSessions.loop, identity, loopSessions.decoder, client: self)
    self.channel = channel
    let acceptor = ConnectionAcceptor(loopSessions.sessionServer)
    channel.attach(acceptor.accept(channel, handshake))
    send(
      AgentCallProgress.openID, "session.open",
      OpenParams(
        client: client, agent: .init(session: call.session, uri: call.uri.text)))
  }

  /// Ends the call before it has a result: the client leaves. Call on the loop where it began.
  func cancel() {
    channel?.closeFromClient()
  }

  private struct OpenParams: Encodable {
    struct JoiningAgent: Encodable {
      let session: String?
      let uri: String
    }
    let client: MCPImplementation?
    let agent: JoiningAgent
  }

  private struct RouteCallParams: Encodable {
    let uri: String
    let params: ValueObject
    let key: String?
  }

  func receive(_ content: FrameContent) { perform(progress.received(content)) }

  func closed(_ code: CloseCode, _ reason: String) { perform(progress.closed(code, reason)) }

  private func perform(_ action: AgentCallProgress.Action) {
    switch action {
    case .nothing: break
    case .call:
      send(
        AgentCallProgress.callID, call.method,
        RouteCallParams(uri: call.uri.text, params: call.params, key: call.key))
    case .report(let value): receiver.report(value)
    case .complete(let result):
      receiver.complete(result, progress.session)
      channel?.closeFromClient()
    }
  }

  private func send(_ id: RequestID, _ method: String, _ params: some Encodable) {
    var writer = MessageWriter()
    do { try writer.writeRequest(id, method, RecordCoder.value(of: params)) } catch {
      return perform(
        .complete(.failure(.invalidParams("the arguments cannot be written: \(error)"))))
    }
    channel?.sendFromClient(writer.bytes)
  }
}
