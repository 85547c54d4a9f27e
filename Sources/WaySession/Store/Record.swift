import WayRPC
import WayValues

/// Reads what a session wrote of itself. What it throws names the member that is not as it was
/// written.
struct Record {
  /// It was not written so.
  struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private let members: ValueObject
  private let path: String

  init(_ value: Value?, _ path: String) throws(Fault) {
    guard let members = value?.object else { throw Fault("\(path) is no object") }
    self.members = members
    self.path = path
  }

  init(_ bytes: [UInt8], _ path: String) throws(Fault) {
    let value: Value
    do { value = try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxKeptDepth) } catch {
      throw Fault("\(path): \(error)")
    }
    try self.init(value, path)
  }

  subscript(name: String) -> Value? { members[name] }

  func string(_ name: String) throws(Fault) -> String {
    guard let text = members[name]?.string else { throw fault(name, "text") }
    return text
  }

  func integer(_ name: String) throws(Fault) -> Int64 {
    guard let integer = members[name]?.integer else { throw fault(name, "integer") }
    return integer
  }

  func number(_ name: String) throws(Fault) -> UInt64 {
    guard let number = UInt64(exactly: try integer(name)) else { throw fault(name, "count") }
    return number
  }

  func object(_ name: String) throws(Fault) -> ValueObject {
    guard let object = members[name]?.object else { throw fault(name, "object") }
    return object
  }

  func list(_ name: String) throws(Fault) -> [Value] {
    guard let list = members[name]?.list else { throw fault(name, "array") }
    return list
  }

  /// The texts of a list.
  func strings(_ name: String) throws(Fault) -> [String] {
    try list(name).map { (value) throws(Fault) in
      guard let text = value.string else { throw fault(name, "array of texts") }
      return text
    }
  }

  func record(_ name: String) throws(Fault) -> Record {
    try Record(members[name], "\(path).\(name)")
  }

  /// The objects of a list.
  func records(_ name: String) throws(Fault) -> [Record] {
    try list(name).enumerated().map { (place, value) throws(Fault) in
      try Record(value, "\(path).\(name)[\(place)]")
    }
  }

  /// One of the cases of a type.
  func `case`<Case: RawRepresentable<String>>(_ name: String) throws(Fault) -> Case {
    guard let value = Case(rawValue: try string(name)) else { throw fault(name, "known word") }
    return value
  }

  func fault(_ name: String, _ expected: String) -> Fault {
    Fault("\(path).\(name) is no \(expected)")
  }

  /// The text of a record.
  static func bytes(_ members: ValueObject) -> [UInt8] {
    var writer = JSONWriter()
    // Swift code may give what nests without end: nothing could be sent of it either.
    do { try writer.write(.object(members), maxDepth: JSON.maxKeptDepth) } catch { return [] }
    return writer.bytes
  }
}
