import WayNavigation
import WayRouting
import WayValues

extension DeepLink {
  /// The form in which the link is stored and sent to other servers: the params of
  /// `router.deliver`.
  var record: ValueObject {
    var members: ValueObject = ["uri": .string(uri), "params": .object(params)]
    if !exts.isEmpty { members["exts"] = .object(exts) }
    members["style"] = style.map { .string($0.rawValue) }
    members["key"] = key.map(Value.string)
    return members
  }

  /// Decodes a ``record``.
  init(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    var style: Style?
    if record["style"] != nil { style = try record.enumValue("style") as Style }
    self.init(
      try record.string("uri"), params: try record.object("params"),
      exts: record["exts"] == nil ? [:] : try record.object("exts"), style: style,
      key: record["key"] == nil ? nil : try record.string("key"))
  }

  /// Decodes the ``record`` of another server. Returns `nil` if it is none.
  init?(peerValue: Value?) {
    guard let record = try? StoredRecord(peerValue, "link"), let link = try? DeepLink(record) else {
      return nil
    }
    self = link
  }
}
