import Logging
import WayRouting
import WayValues

extension Identity {
  /// The stored form.
  var record: Value {
    var fields: ValueObject = ["groups": groups.sortedValue]
    fields["user"] = user.map(Value.string)
    if !claims.isEmpty { fields["claims"] = .object(claims) }
    fields["expires"] = expires.map(Value.integer)
    return .object(fields)
  }

  /// Decodes a ``record``.
  init(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    self.init(
      user: record["user"]?.string, groups: Set(try record.strings("groups").map(UTF8Key.init)),
      claims: record["claims"]?.object ?? [:], expires: record["expires"]?.integer)
  }
}

extension Caller {
  /// The stored form.
  var record: Value {
    var fields: ValueObject = ["identity": identity.record, "isGuest": .bool(isGuest)]
    fields["origin"] = origin.map(Value.string)
    fields["address"] = address.map(Value.string)
    fields["client"] = client?.value
    return .object(fields)
  }
}

/// Decodes stored callers.
struct CallerReader {
  let session: String
  /// The logger that the callers' loggers extend.
  let logger: Logger?

  /// Decodes a ``Caller/record``.
  func caller(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) -> Caller {
    let clientRecord = record["client"] == nil ? nil : try record.record("client")
    return Caller(
      session: session, identity: try Identity(record.record("identity")),
      client: try clientRecord.map { (clientRecord) throws(StoredRecord.RecordDecodingError) in
        .init(
          id: try clientRecord.string("id"), name: clientRecord["name"]?.string,
          version: clientRecord["version"]?.string,
          page: clientRecord["page"]?.string)
      },
      isGuest: record["isGuest"]?.bool ?? false, origin: record["origin"]?.string,
      address: record["address"]?.string, logger: logger)
  }
}
