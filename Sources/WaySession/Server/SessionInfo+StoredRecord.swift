import WayNavigation
import WayRouting
import WayValues

extension SessionInfo {
  /// The record for other servers.
  var record: Value {
    [
      "id": .string(id), "identity": identity.record,
      "clients": .array(clients.map(\.value)), "pages": .array(pages.map(\.record)),
    ]
  }

  /// Decodes what ``record`` returns.
  init(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    self.init(
      id: try record.string("id"), identity: try Identity(record.record("identity")),
      clients: try record.records("clients").map {
        (client) throws(StoredRecord.RecordDecodingError) in
        ClientInfo(
          id: try client.string("id"), name: client["name"]?.string,
          version: client["version"]?.string, platform: client["platform"]?.string,
          page: client["page"]?.string)
      },
      pages: try record.records("pages").map { (page) throws(StoredRecord.RecordDecodingError) in
        Page(
          id: try page.string("id"), uri: try page.string("uri"), route: page["route"]?.string,
          pathParams: try page.object("pathParams"), kind: try page.string("kind"),
          style: try page.enumValue("style"), params: try page.object("params"),
          exts: try page.object("exts"), host: try page.string("host"),
          level: Int(clamping: try page.integer("level")),
          hasStack: page["hasStack"]?.bool ?? true)
      })
  }
}

extension Page {
  fileprivate var record: Value {
    var members: ValueObject = [
      "id": .string(id), "uri": .string(uri), "pathParams": .object(pathParams),
      "kind": .string(kind), "style": .string(style.rawValue), "params": .object(params),
      "exts": .object(exts), "host": .string(host), "level": .integer(Int64(level)),
      "hasStack": .bool(hasStack),
    ]
    members["route"] = route.map(Value.string)
    return .object(members)
  }
}
