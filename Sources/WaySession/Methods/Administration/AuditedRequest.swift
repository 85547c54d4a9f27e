import WayPatterns
import WayRPC
import WayValues

/// A request of a method that has an audit record, with its result.
struct AuditedRequest {
  let handle: ReplyHandle
  /// The record, without its result; `nil` if there is no audit trail.
  private let draft: AuditDraft?

  /// The client that has sent the request.
  var client: Client { handle.client }

  fileprivate init(_ handle: ReplyHandle, _ draft: AuditDraft?) {
    self.handle = handle
    self.draft = draft
  }

  /// Starts work that does not end at once, and responds with its result. `size` is the approximate
  /// number of bytes that the call holds.
  func respondLater(
    size: Int, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(CallError) -> Value
  ) throws(CallError) -> CallDisposition {
    try respondLaterToChange(size: size, in: session) { () throws(CallError) in
      ChangeResult(try await work())
    }
  }

  /// Starts a change that may be in force at this server although the request fails, and responds
  /// with its result.
  func respondLaterToChange(
    size: Int, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(CallError) -> ChangeResult
  ) throws(CallError) -> CallDisposition {
    try session.respondLater(to: handle, size: size) { [draft] () throws(CallError) in
      let change: ChangeResult
      do throws(CallError) { change = try await work() } catch {
        draft?.record(.failure(error))
        throw error
      }
      draft?.record(.success(change))
      return try change.response.get()
    }
  }

  /// Records the result of a request that has ended at once.
  fileprivate func record(_ disposition: CallDisposition) {
    switch disposition {
    case .now(let response): draft?.record(.success(ChangeResult(response.value)))
    case .failed(let error): draft?.record(.failure(error))
    case .later: break
    }
  }

  fileprivate func record(_ error: CallError) { draft?.record(.failure(error)) }
}

extension SessionMethod {
  /// Performs a request in a session like a ``MethodHandler``.
  typealias AuditedHandler =
    @Sendable (isolated Session, Params, AuditedRequest) throws(CallError) -> CallDisposition

  /// Creates a method that changes something. The audit trail has its requests, with their results.
  convenience init(
    change name: String, _ paramList: ParamList = .none, access: Access = .admin,
    _ handler: @escaping AuditedHandler
  ) {
    self.init(.change, name, paramList, access: access, handler)
  }

  /// Creates a method of administrators that changes nothing. The audit trail has its first request,
  /// and then the number of requests.
  convenience init(
    read name: String, _ paramList: ParamList = .none, _ handler: @escaping AuditedHandler
  ) {
    self.init(.read, name, paramList, access: .admin, handler)
  }

  private convenience init(
    _ kind: AuditedKind, _ name: String, _ paramList: ParamList, access: Access,
    _ handler: @escaping AuditedHandler
  ) {
    self.init(name, paramList, access: access, audit: kind) {
      session, params, handle throws(CallError) in
      let draft = session.environment.auditTrail.map { trail in
        AuditDraft(
          trail: trail, kind, isAdministrative: access == .admin,
          AuditRecord(requesting: name, params, by: EventClient(handle.caller)))
      }
      let request = AuditedRequest(handle, draft)
      do throws(CallError) {
        let disposition = try handler(session, params, request)
        request.record(disposition)
        return disposition
      } catch {
        request.record(error)
        throw error
      }
    }
  }

  /// Records that a request of an administrator has failed before the method's handler received it,
  /// for example because of its params. A refusal is recorded with its response.
  @inline(never)
  func recordFailure(
    _ error: CallError, about target: @autoclosure () -> String?, by handle: ReplyHandle,
    in session: isolated Session
  ) {
    guard let audit, access == .admin, !error.isRefusal,
      let trail = session.environment.auditTrail,
      (try? handle.client.rights.authorize(name, kind)) != nil
    else { return }
    let record = AuditRecord(
      client: EventClient(handle.caller), action: name,
      target: target().map(AuditRecord.target(of:)),
      result: .failed(code: error.code))
    switch audit {
    case .read: trail.recordRead(record)
    // Nothing limits the rate of these requests.
    case .change: trail.recordThrottled(record)
    }
  }
}

/// A record that lacks its result.
private struct AuditDraft: Sendable {
  private let trail: AuditTrail
  private let kind: SessionMethod.AuditedKind
  /// Whether only administrators may call the method.
  private let isAdministrative: Bool
  private let record: AuditRecord

  init(
    trail: AuditTrail, _ kind: SessionMethod.AuditedKind, isAdministrative: Bool,
    _ record: AuditRecord
  ) {
    self.trail = trail
    self.kind = kind
    self.isAdministrative = isAdministrative
    self.record = record
  }

  /// Records the result. A refusal is recorded with its response. Any client may call a method that
  /// is not administrative, so its failures have no record, and the records of one client a limit.
  func record(_ result: Result<ChangeResult, CallError>) {
    if case .failure(let error) = result, error.isRefusal || !isAdministrative { return }
    let record = record.completed(with: result)
    switch kind {
    case .read: trail.recordRead(record)
    case .change where isAdministrative: trail.record(record)
    case .change: trail.recordThrottled(record)
    }
  }
}

extension AuditRecord {
  /// Creates the record of a request, without its result. Contains only params that name what the
  /// request is about.
  init(requesting method: String, _ params: Params, by client: EventClient?) {
    self.init(
      client: client, action: method,
      target: Self.target(of: params)?.bounded(to: Self.maxTextBytes))
    switch method {
    case "session.push": self.method = params.string(.method)?.bounded(to: Self.maxTextBytes)
    case "session.invite": grantedGroups = params.list(.groups)?.compactMap(\.string) ?? []
    default: break
    }
  }

  private static func target(of params: Params) -> String? {
    if let session = params.string(.session) {
      return params.string(.client).map { "\(session)/\($0)" } ?? session
    }
    if let uri = params.string(.uri) { return target(of: uri) }
    if let to = params[.to] { return to.string ?? (try? Audience(to))?.text }
    return params.string(.page)
  }

  /// Returns the record with the result of its request.
  func completed(with result: Result<ChangeResult, CallError>) -> AuditRecord {
    var record = self
    switch result {
    case .failure(let error):
      record.result = .failed(code: error.code)
      record.grantedGroups = []
    case .success(let change):
      let value = change.value
      record.result =
        change.isIncomplete ? .incomplete(failedServers: change.failedServers) : .done
      switch action {
      case "session.push":
        record.sessionCount = ["delivered", "waiting", "failed"].reduce(0) {
          (count: Int, name: String) in
          count + Int(clamping: value[name]?.integer ?? 0)
        }
      case "session.end", "client.disconnect":
        record.removedClients = value["clients"]?.array?.compactMap(\.string) ?? []
      case "table.update", "table.rollback", "policy.rollback":
        record.version = (value["version"] ?? value["hash"])?.string
      default: break
      }
    }
    return record
  }
}

extension Audience {
  /// The audience for people.
  fileprivate var text: String {
    switch self {
    case .all: "all"
    case .session(let session): session
    case .client(let client, let session): "\(session)/\(client)"
    case .user(let user): "user \(user)"
    case .group(let group): "group \(group)"
    }
  }
}
