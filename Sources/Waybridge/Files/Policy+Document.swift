import FoundationEssentials
import WayRPC
import WaySession

extension Policy {
  /// The largest size of a document in bytes.
  private static let maxSize = 1 << 20

  /// Reads a policy from a file, a JSON document of at most 1 MiB
  /// (`protocol/schema/policy.schema.json`). Throws an error with the file's name if it cannot be
  /// read or is invalid.
  public init(file path: String) throws(PolicyError) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PolicyError(
        "The policy \(path) cannot be read; check that the file exists and is readable")
    }
    self = try Policy([UInt8](data), from: "The policy \(path)")
  }

  /// Parses a policy from such a JSON document. Throws if it is invalid.
  public init(json text: String) throws(PolicyError) {
    self = try Policy(Array(text.utf8), from: "The policy")
  }

  init(_ bytes: [UInt8], from source: String) throws(PolicyError) {
    guard bytes.count <= Self.maxSize else {
      throw PolicyError("\(source) has \(bytes.count) bytes; at most \(Self.maxSize) are allowed")
    }
    let document: Value
    do throws(JSONError) {
      // A rule whose duplicate members were lost would allow more than its author sees.
      document = try JSON.parse(bytes.span.bytes, duplicateNames: .reject)
    } catch {
      throw PolicyError("\(source) is not JSON: \(error)")
    }
    do {
      self = try Policy(parsing: document)
    } catch {
      throw PolicyError("\(source) is wrong:\n\(error)")
    }
  }
}

/// The reason why a policy was not read.
public struct PolicyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's name and every error in it, one a line, each with its place in the document.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
