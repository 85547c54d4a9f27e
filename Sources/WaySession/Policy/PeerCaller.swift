import WayRouting
import WayValues

/// The caller for whom a server sends a request to another server.
enum PeerCaller: Sendable {
  case app
  case client(PeerClientCaller)
  /// A guest, or a caller for whom a host acts. Only its own server knows its limits.
  case limited

  /// The caller with these rights; `nil` for the app. `session` is that of the call, if it is not the
  /// caller's.
  init(_ rights: Rights?, in session: String? = nil) {
    guard let rights else {
      self = .app
      return
    }
    self =
      rights.isUndelegated ? .client(PeerClientCaller(rights.caller, in: session)) : .limited
  }

  /// A caller without limits; `nil` for the app.
  init(_ caller: Caller?) { self = caller.map { .client(PeerClientCaller($0)) } ?? .app }

  /// The rights that the caller had at a time in milliseconds since 1970-01-01 UTC; `nil` for the app.
  /// Fails with 2403 for a caller with limits.
  func rights(validAt time: Int64) throws(CallError) -> Rights? {
    switch self {
    case .app: nil
    case .client(let client):
      Rights(following: CurrentCaller(client.caller, validAt: time), PolicySource())
    case .limited: throw .limitedCaller
    }
  }

  /// The client; `nil` for the app, and for a caller with limits.
  var client: Caller? { if case .client(let client) = self { client.caller } else { nil } }
}

// `"app"`, `"limited"`, or the caller's record with its session. A missing caller is an error: the app
// may do everything.
extension PeerCaller: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    switch try? container.decode(String.self) {
    case "app": self = .app
    case "limited": self = .limited
    default: self = .client(try container.decode(PeerClientCaller.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .app: try container.encode("app")
    case .limited: try container.encode("limited")
    case .client(let client): try container.encode(client)
    }
  }
}

/// A client that calls, with its session, in the form that another server gets.
struct PeerClientCaller: Codable, Sendable {
  let caller: Caller
  /// The session in which it calls.
  private let session: String

  init(_ caller: Caller, in session: String? = nil) {
    self.caller = caller
    self.session = session ?? caller.session
  }

  init(from decoder: any Decoder) throws {
    let record = try CallerRecord(from: decoder)
    guard let session = record.session else {
      throw RecordDecodingError("the caller has no session")
    }
    self.session = session
    caller = record.caller(in: session, nil)
  }

  func encode(to encoder: any Encoder) throws {
    try CallerRecord(caller, in: session).encode(to: encoder)
  }
}

extension Rights {
  /// Whether the rights are the caller's own, without an invitation or other limits.
  var isUndelegated: Bool { invitation == nil && !isLimited }
}

extension CallError {
  /// The error of a caller whose limits are known only to its own server.
  static let limitedCaller = CallError.forbidden(
    "cluster",
    "A guest, or a host that acts for its caller, cannot push to sessions of other servers")
}

extension CallerStatus: Codable {
  private enum CodingKeys: String, CodingKey { case caller, revoked }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if try container.decodeIfPresent(Bool.self, forKey: .revoked) == true {
      self = .revoked
    } else if container.contains(.caller) {
      self = .present(try container.decode(PeerClientCaller.self, forKey: .caller).caller)
    } else {
      self = .absent
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .present(let caller): try container.encode(PeerClientCaller(caller), forKey: .caller)
    case .revoked: try container.encode(true, forKey: .revoked)
    case .absent: break
    }
  }
}
