import Waybridge
import WaybridgeClient

/// The members of a record of the inspector, and of a client in `admin.session`.
struct InspectorRecordFields: Decodable {
  let at: Double?
  let type: String?
  let call: Int64?
  let state: String?
  let event: String?
  let client: String?
  let method: String?
  let page: String?
  let ms: Double?
  let notification: Bool?
  let code: Int64?
  let name: String?
  let version: String?
  let guest: Bool?
  let hosts: [Value]?
  let topics: [String]?
  /// The number of records that were left out.
  let left: Int64?
}

/// A line of a recording with the members of its record. The value tells a null from a missing member.
struct InspectorRecordLine {
  let line: Int
  let value: Value
  let fields: InspectorRecordFields

  /// Returns `nil` for a value that is no record.
  init?(_ value: Value, line: Int) {
    guard let fields = try? value.decode(as: InspectorRecordFields.self) else { return nil }
    self.line = line
    self.value = value
    self.fields = fields
  }
}
