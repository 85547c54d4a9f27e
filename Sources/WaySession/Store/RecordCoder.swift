import WayRPC
import WayValues

/// The error of a stored record that does not have the expected form. Its text names the member.
struct RecordDecodingError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Codes all records of sessions: those that are stored, and those that other servers get.
enum RecordCoder {
  /// Returns a record as a value.
  static func value(of record: some Encodable) -> Value {
    // Only a number that JSON cannot write is an error, and no record contains one.
    (try? ValueEncoder().encode(record)) ?? .null
  }

  /// Returns a record as JSON; nothing if it nests too deeply. Values of Swift code may nest without
  /// limit. They could not be sent either.
  static func encode(_ record: some Encodable) -> [UInt8] {
    var writer = JSONWriter()
    do { try writer.write(value(of: record), maxDepth: JSON.maxStoredDepth) } catch { return [] }
    return writer.bytes
  }

  /// Reads a record. `name` names it in errors.
  static func decode<Record: Decodable>(
    _ type: Record.Type = Record.self, from value: Value?, _ name: String
  ) throws(RecordDecodingError) -> Record {
    do { return try (value ?? .null).decode(as: type) } catch {
      throw RecordDecodingError("\(name): \(error)")
    }
  }

  /// Reads a record from JSON. `name` names it in errors.
  static func decode<Record: Decodable>(
    _ type: Record.Type = Record.self, from bytes: [UInt8], _ name: String
  ) throws(RecordDecodingError) -> Record {
    let value: Value
    do { value = try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth) } catch {
      throw RecordDecodingError("\(name): \(error)")
    }
    return try decode(type, from: value, name)
  }
}

/// A record and its context, whose members are those of one object.
struct RecordInContext<Content: Codable, Context: Codable>: Codable {
  let content: Content
  let context: Context

  init(_ content: Content, in context: Context) {
    self.content = content
    self.context = context
  }

  init(from decoder: any Decoder) throws {
    content = try Content(from: decoder)
    context = try Context(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try content.encode(to: encoder)
    try context.encode(to: encoder)
  }
}

extension RecordInContext: Sendable where Content: Sendable, Context: Sendable {}
