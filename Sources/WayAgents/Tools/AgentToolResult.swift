import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// The result of a tool's call, in the form of `tools/call`.
struct AgentToolResult: Encodable, Sendable {
  private(set) var resultType: String?
  private let content: [TextContent]
  private let structuredContent: Value?
  private let isError: Bool?
  private let meta: MCPResultMeta

  private enum CodingKeys: String, CodingKey {
    case resultType, content, structuredContent, isError
    case meta = "_meta"
  }

  private struct TextContent: Encodable, Sendable {
    var type = "text"
    let text: String
  }

  /// A result with a value, which is also sent as text.
  init(_ value: Value, message: String = "", in context: MCPResponseContext) {
    resultType = context.resultType
    // The older revision allows objects only.
    let isAllowed = context.revision == .stateless || value.object != nil
    structuredContent = isAllowed ? value : nil
    let text = (try? JSON.text(value)) ?? value.brief
    content = (message.isEmpty ? [text] : [message, text]).map { TextContent(text: $0) }
    isError = nil
    meta = context.meta()
  }

  /// A result that reports an error, with advice for the agent.
  init(_ error: CallError, in context: MCPResponseContext) {
    resultType = context.resultType
    structuredContent = nil
    content = [TextContent(text: AgentAdvice(error).text)]
    isError = true
    meta = context.meta(error)
  }

  /// The result of a call of a session's client. That of a page is the data of its outcome.
  init(
    _ result: Result<Value, CallError>, of tool: AgentTool, in context: MCPResponseContext
  ) {
    switch result {
    case .failure(let error): self.init(error, in: context)
    case .success(let value):
      guard tool.route.kind == .page else {
        self.init(value, in: context)
        return
      }
      guard let outcome = Outcome(value) else {
        self.init(CallError(.internal, "The page has no outcome"), in: context)
        return
      }
      // Pages may finish without a result, which does not fit the schema of the tool.
      let isNull = outcome.data.isNull && tool.route.result?.isNullable == false
      guard outcome.kind == .finished, !isNull else {
        self.init(CallError(unfinished: outcome), in: context)
        return
      }
      self.init(outcome.data, message: outcome.message, in: context)
    }
  }
}

extension CallError {
  /// The error of a page that has closed without a result.
  fileprivate init(unfinished outcome: Outcome) {
    let reason =
      switch outcome.kind {
      case .dismissed: "The user closed the page without a result"
      case .replaced: "Another page replaced the page before it had a result"
      case .cancelled: "The call was cancelled, and the page closed"
      case .failed: "The app that showed the page is gone"
      case .finished: "The page finished without a result"
      }
    self.init(
      code: outcome.code == 0 ? ErrorCode.refused.rawValue : outcome.code,
      message: outcome.message.isEmpty ? reason : "\(reason): \(outcome.message)",
      data: ["kind": "\(outcome.kind.rawValue)", "retryable": false])
  }
}

/// What a failed call means for an agent, in words.
struct AgentAdvice {
  private let error: CallError

  init(_ error: CallError) { self.error = error }

  /// The error and what the agent can do.
  var text: String {
    let sentence = error.message + (error.message.hasSuffix(".") ? "" : ".")
    return ([sentence] + faults + [advice]).filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The faults of single arguments.
  private var faults: [String] {
    (error.data?["errors"]?.array ?? []).prefix(16).compactMap { fault in
      guard let fault = try? fault.decode(as: ArgumentFault.self) else { return nil }
      return "\(fault.path): \(fault.message)."
    }
  }

  private struct ArgumentFault: Decodable {
    let path: String
    let message: String
  }

  private struct Facts: Decodable {
    let rule: String?
    let reason: String?
    let retryAfterMs: Int64?
  }

  private var facts: Facts? { error.data.flatMap { try? $0.decode(as: Facts.self) } }

  private var advice: String {
    switch error.protocolCode {
    case .invalidParams, .invalidParameters:
      "Correct the arguments as the tool's input schema says, and call it again."
    case .notAuthenticated: "Get a new token for the user."
    case .forbidden:
      (facts?.rule.map { "The rule is \"\($0.brief)\". " } ?? "")
        + "Do not try again: ask the user, or the operator of the app, to allow it."
    case .noRoute where error.kind == "noHost", .hostAbsent:
      "The app is not open: ask the user to open it, and call the tool again."
    case .noRoute where error.kind == "noSession":
      "Leave out the session, or name one that the user has open."
    case .noRoute: "List the tools again: this one may be gone."
    case .refused:
      (facts?.reason.map { "The reason is \"\($0.brief)\". " } ?? "")
        + "Do not try again unless the user asks for it."
    case .deadline, .outcomeUnknown:
      "The call may have had its effect: find out before you call the tool again."
    case .conflict: "Call the tool again with another key."
    case .tooLarge: "Send or ask for less at once."
    case .tooMany, .unavailable:
      facts?.retryAfterMs.map { "Call the tool again after \($0) ms." }
        ?? "Call the tool again later."
    case .hostFailed: "The app could not do it: ask the user what it shows."
    case .cancelled, .cancelledByServer: "The call was cancelled."
    default: error.isRetryable ? "Call the tool again later." : ""
    }
  }
}
