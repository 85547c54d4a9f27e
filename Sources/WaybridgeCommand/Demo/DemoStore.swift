import Foundation
import Synchronization

/// What a part of the demo remembers: a value in memory, and in a file, so that it is there again
/// after the server was killed.
final class DemoStore<Value: Codable & Sendable>: Sendable {
  private let file: URL
  private let kept: Mutex<Value>

  /// Throws where the file is there and does not hold such a value.
  init(_ name: String, in folder: String, else initial: Value) throws {
    file = URL(fileURLWithPath: folder).appendingPathComponent("\(name).json")
    let isThere = FileManager.default.fileExists(atPath: file.path)
    kept = Mutex(
      isThere ? try JSONDecoder().decode(Value.self, from: Data(contentsOf: file)) : initial)
  }

  var value: Value { kept.withLock { $0 } }

  /// Changes the value, in the file first: where that cannot be written, this throws and nothing
  /// has changed.
  func change<Result: Sendable>(_ change: @Sendable (inout Value) throws -> Result) throws -> Result
  {
    try kept.withLock { value in
      var changed = value
      let result = try change(&changed)
      try JSONEncoder().encode(changed).write(to: file, options: .atomic)
      value = changed
      return result
    }
  }
}
