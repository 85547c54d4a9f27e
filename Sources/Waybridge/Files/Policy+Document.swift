import FoundationEssentials
import WayRPC
import WaySession

extension Policy {
  /// How large a document may be.
  private static let maxSize = 1 << 20

  /// Reads a policy from a file, a JSON document of at most 1 MiB
  /// (`protocol/schema/policy.schema.json`). Throws, with the file's name, where it cannot be read or
  /// anything in it is wrong.
  public init(file path: String) throws(PolicyError) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PolicyError("The policy \(path) cannot be read: is there such a file?")
    }
    self = try Policy([UInt8](data), from: "The policy \(path)")
  }

  /// Reads a policy from the text of such a document. Throws where anything in it is wrong.
  public init(json text: String) throws(PolicyError) {
    self = try Policy(Array(text.utf8), from: "The policy")
  }

  init(_ bytes: [UInt8], from source: String) throws(PolicyError) {
    guard bytes.count <= Self.maxSize else {
      throw PolicyError("\(source) has \(bytes.count) bytes; at most \(Self.maxSize) are read")
    }
    let document: Value
    do throws(JSONError) {
      // A rule that is half lost would let in more than its author sees.
      document = try JSON.parse(bytes.span.bytes, names: .differ)
    } catch {
      throw PolicyError("\(source) is not JSON, or not clear: \(error)")
    }
    do {
      self = try Policy(parsing: document)
    } catch {
      throw PolicyError("\(source) is wrong:\n\(error)")
    }
  }
}

/// Why a policy was not read.
public struct PolicyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Names the file, and every fault in it, one a line, each with its place in the document.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
