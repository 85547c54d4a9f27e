import Foundation
import Synchronization

/// The persistent data of a part of the demo: a value in memory and in a file, which survives when
/// the server is killed.
final class DemoStore<Value: Codable & Sendable>: Sendable {
  private let file: URL
  private let stored: Mutex<Value>

  /// Throws if the file exists and does not contain such a value.
  init(_ name: String, in folder: String, else initial: Value) throws {
    file = URL(fileURLWithPath: folder).appendingPathComponent("\(name).json")
    let isThere = FileManager.default.fileExists(atPath: file.path)
    stored = Mutex(
      isThere ? try JSONDecoder().decode(Value.self, from: Data(contentsOf: file)) : initial)
  }

  var value: Value { stored.withLock { $0 } }

  /// Changes the value, in the file first. If the file cannot be written, throws and changes
  /// nothing.
  func update<Result: Sendable>(_ change: @Sendable (inout Value) throws -> Result) throws -> Result
  {
    try stored.withLock { value in
      var changed = value
      let result = try change(&changed)
      try JSONEncoder().encode(changed).write(to: file, options: .atomic)
      value = changed
      return result
    }
  }
}
