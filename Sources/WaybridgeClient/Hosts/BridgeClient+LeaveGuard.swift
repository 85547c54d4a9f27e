import WayNavigation
import WayValues

extension BridgeClient {
  /// An operation of the stack that would close a page with a guard.
  public struct Leave: Sendable, Hashable {
    /// The page that would be on top.
    public struct Destination: Sendable, Hashable, Decodable {
      /// The id of the page.
      public let page: String
      /// Its URI; nil if this client may not see the page.
      public let uri: String?
      /// The name of its route; nil for a page without one, or that this client may not see.
      public let route: String?
    }

    /// The id of the page that would close.
    public let page: String
    /// The outcome that the page would have.
    public let reason: Outcome.OutcomeKind
    /// The page that would be on top; nil if there would be none.
    public let destination: Destination?
    /// The caller of the operation.
    public let caller: CallerDescription?
  }

  /// The decision of a guard.
  public enum LeaveDecision: Sendable, Hashable {
    /// The page may close.
    case allow
    /// The page stays open. The reason is for people, and may be empty.
    case deny(reason: String)
  }

  /// The code that decides whether a page may close. It runs on the main actor if it is isolated to it,
  /// otherwise on the client's thread, which it must not block. An error keeps the page open. Its Swift
  /// task is cancelled when no operation waits for the decision any more.
  public typealias LeaveGuard = @Sendable (Leave) async throws -> LeaveDecision

  /// Sets this client's guard of a page; nil removes it. Whatever would close the page, except its own
  /// ``finish(_:page:exts:)``, then asks the guard first.
  ///
  /// Throws ``CallError``: 2404 if the page is not on the stack; 2403 without the right to it; -32602 for
  /// another time, or without `page` from a client that does not run in a page.
  ///
  /// - Parameters:
  ///   - leaveGuard: the guard.
  ///   - page: the page's id; nil means the page that this client runs in.
  ///   - timeout: how long the guard may take, at most 60 s; nil is 30 s. The page stays open after it.
  public func setGuard(
    _ leaveGuard: LeaveGuard?, page: String? = nil, timeout: Duration? = nil
  ) async throws(CallError) {
    guard let page = page ?? ownPage else {
      throw .invalidParams("Pass the page to guard; this client does not run in a page")
    }
    let earlier = leaveGuards[page]
    // The server may ask as soon as it has responded.
    if let leaveGuard { leaveGuards[page] = leaveGuard }
    var params: ValueObject = ["enabled": .bool(leaveGuard != nil)]
    params["page"] = .string(page)
    params["timeoutMs"] = timeout.map { .integer($0.wholeMilliseconds) }
    do {
      _ = try await perform("page.setGuard", .object(params))
      if leaveGuard == nil { leaveGuards[page] = nil }
    } catch {
      leaveGuards[page] = earlier
      throw error
    }
  }

  /// Asks the guard of a page. Without a guard, which was removed while the question was on its way, the
  /// page may close.
  func decideLeave(_ params: Value, _ call: ServerRequest) throws(CallError) {
    let message: LeaveMessage
    do { message = try params.decode(as: LeaveMessage.self) } catch {
      throw .invalidParams("page.leave cannot be read: \(error)")
    }
    guard let reason = Outcome.OutcomeKind(rawValue: message.reason) else {
      throw .invalidParams("page.leave has no reason \(message.reason)")
    }
    let leave = Leave(
      page: message.page, reason: reason, destination: message.to,
      caller: CallerDescription(params["caller"]))
    let leaveGuard = leaveGuards[message.page]
    startWork(call) {
      try ValueEncoder().encode(LeaveResponse(try await leaveGuard?(leave) ?? .allow))
    }
  }
}

extension BridgeClient.LeaveDecision {
  /// Decodes the result of `page.leave`. Throws a `DecodingError` for one that is not a decision.
  package init(response: Value) throws {
    let given = try response.decode(as: LeaveResponse.self)
    self = given.allow ? .allow : .deny(reason: given.reason ?? "")
  }
}

/// The result of `page.leave`.
private struct LeaveResponse: Codable {
  let allow: Bool
  let reason: String?

  init(_ decision: BridgeClient.LeaveDecision) {
    switch decision {
    case .allow: (allow, reason) = (true, nil)
    case .deny(let reason): (allow, self.reason) = (false, reason)
    }
  }
}

/// The params of `page.leave`, without the caller.
private struct LeaveMessage: Decodable {
  let page: String
  let reason: String
  let to: BridgeClient.Leave.Destination?
}
