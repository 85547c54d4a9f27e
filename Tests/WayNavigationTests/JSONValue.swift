import WayValues

/// A value that a Foundation decoder reads. The order of members is lost.
struct JSONValue: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = .null
    } else if let bool = try? container.decode(Bool.self) {
      value = .bool(bool)
    } else if let integer = try? container.decode(Int64.self) {
      value = .integer(integer)
    } else if let double = try? container.decode(Double.self) {
      value = Value(double)
    } else if let string = try? container.decode(String.self) {
      value = .string(string)
    } else if let list = try? container.decode([JSONValue].self) {
      value = .array(list.map(\.value))
    } else {
      let members = try container.decode([String: JSONValue].self)
      value = .object(ValueObject(members.map { ($0, $1.value) }))
    }
  }
}
