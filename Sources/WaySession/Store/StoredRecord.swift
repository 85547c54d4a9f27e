import WayRPC
import WayValues

/// Decodes a stored record of a session. Errors name the member that does not have the expected
/// form.
struct StoredRecord {
  /// The error of a record that does not have the expected form.
  struct RecordDecodingError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private let members: ValueObject
  private let path: String

  init(_ value: Value?, _ path: String) throws(RecordDecodingError) {
    guard let members = value?.object else { throw RecordDecodingError("\(path) is not an object") }
    self.members = members
    self.path = path
  }

  init(_ bytes: [UInt8], _ path: String) throws(RecordDecodingError) {
    let value: Value
    do { value = try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth) } catch {
      throw RecordDecodingError("\(path): \(error)")
    }
    try self.init(value, path)
  }

  subscript(name: String) -> Value? { members[name] }

  func string(_ name: String) throws(RecordDecodingError) -> String {
    guard let text = members[name]?.string else { throw typeMismatch(name, "string") }
    return text
  }

  func integer(_ name: String) throws(RecordDecodingError) -> Int64 {
    guard let integer = members[name]?.integer else { throw typeMismatch(name, "integer") }
    return integer
  }

  func number(_ name: String) throws(RecordDecodingError) -> UInt64 {
    guard let number = UInt64(exactly: try integer(name)) else { throw typeMismatch(name, "count") }
    return number
  }

  func object(_ name: String) throws(RecordDecodingError) -> ValueObject {
    guard let object = members[name]?.object else { throw typeMismatch(name, "object") }
    return object
  }

  func list(_ name: String) throws(RecordDecodingError) -> [Value] {
    guard let list = members[name]?.array else { throw typeMismatch(name, "array") }
    return list
  }

  /// An array of strings.
  func strings(_ name: String) throws(RecordDecodingError) -> [String] {
    try list(name).map { (value) throws(RecordDecodingError) in
      guard let text = value.string else { throw typeMismatch(name, "array of strings") }
      return text
    }
  }

  func record(_ name: String) throws(RecordDecodingError) -> StoredRecord {
    try StoredRecord(members[name], "\(path).\(name)")
  }

  /// An array of objects.
  func records(_ name: String) throws(RecordDecodingError) -> [StoredRecord] {
    try list(name).enumerated().map { (index, value) throws(RecordDecodingError) in
      try StoredRecord(value, "\(path).\(name)[\(index)]")
    }
  }

  /// A case of an enumeration.
  func enumValue<Case: RawRepresentable<String>>(_ name: String) throws(RecordDecodingError) -> Case
  {
    guard let value = Case(rawValue: try string(name)) else {
      throw typeMismatch(name, "keyword")
    }
    return value
  }

  func typeMismatch(_ name: String, _ expected: String) -> RecordDecodingError {
    RecordDecodingError("\(path).\(name) is not a valid \(expected)")
  }

  /// Encodes a record as JSON.
  static func encode(_ fields: ValueObject) -> [UInt8] {
    var writer = JSONWriter()
    // Swift code may pass values that nest without limit. They could not be sent either.
    do { try writer.write(.object(fields), maxDepth: JSON.maxStoredDepth) } catch { return [] }
    return writer.bytes
  }
}
