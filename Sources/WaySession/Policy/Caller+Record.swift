import Logging
import WayRouting
import WayValues

extension Identity {
  /// As it is kept.
  var record: Value {
    var members: ValueObject = ["groups": .list(groups.sorted().map(Value.string))]
    members["user"] = user.map(Value.string)
    if !claims.isEmpty { members["claims"] = .object(claims) }
    members["expires"] = expires.map(Value.integer)
    return .object(members)
  }

  /// Reads what ``record`` gives.
  init(_ record: Record) throws(Record.Fault) {
    self.init(
      user: record["user"]?.string, groups: Set(try record.strings("groups")),
      claims: record["claims"]?.object ?? [:], expires: record["expires"]?.integer)
  }
}

extension Caller {
  /// As it is kept.
  var record: Value {
    var members: ValueObject = ["identity": identity.record, "isGuest": .bool(isGuest)]
    members["origin"] = origin.map(Value.string)
    members["address"] = address.map(Value.string)
    members["client"] = client?.value
    return .object(members)
  }
}

/// Reads callers that were kept.
struct CallerReader {
  let session: String
  /// What their loggers add to.
  let logger: Logger?

  /// Reads what ``Caller/record`` gives.
  func caller(_ record: Record) throws(Record.Fault) -> Caller {
    let told = record["client"] == nil ? nil : try record.record("client")
    return Caller(
      session: session, identity: try Identity(record.record("identity")),
      client: try told.map { (told) throws(Record.Fault) in
        .init(
          id: try told.string("id"), name: told["name"]?.string, version: told["version"]?.string,
          page: told["page"]?.string)
      },
      isGuest: record["isGuest"]?.bool ?? false, origin: record["origin"]?.string,
      address: record["address"]?.string, logger: logger)
  }
}
