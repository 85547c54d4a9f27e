import Foundation
import Logging
import Waybridge
import WaybridgeClient

/// Writes one line for each event to standard error. No event makes more than one, whatever it
/// holds.
struct CommandLogHandler: LogHandler {
  let format: LogFormat
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.notice
  /// Takes the line, its line feed included.
  var write: @Sendable (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) }

  init(format: LogFormat) {
    self.format = format
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var all = metadata
    for more in [metadataProvider?.get(), event.metadata].compactMap(\.self) {
      all.merge(more) { _, later in later }
    }
    let members = all.sorted { $0.key < $1.key }
    let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch format {
    case .text:
      let fields = members.map { " \($0.key.printable)=\(Self.text($0.value))" }.joined()
      write("\(time) \(event.level) \(event.message.description.printable)\(fields)\n")
    case .json:
      var object: ValueObject = [
        "time": .string(time), "level": .string(event.level.rawValue),
        "message": .string(event.message.description),
      ]
      let bare = Value.object(object)
      for (key, value) in members where object[key] == nil { object[key] = Self.value(value) }
      // Metadata that nests too deep to be written is left out.
      write((Value.object(object).json ?? bare.json ?? "{}") + "\n")
    }
  }

  /// Bare where it is one plain word, else quoted as JSON has it.
  private static func text(_ value: Logger.MetadataValue) -> String {
    let text = value.description.printable
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
    return isPlain ? text : Value.string(text).json ?? "\"\""
  }

  private static func value(_ value: Logger.MetadataValue) -> Value {
    switch value {
    case .string(let text): .string(text)
    case .stringConvertible(let number as Int): .integer(Int64(number))
    case .stringConvertible(let number as UInt16): .integer(Int64(number))
    case .stringConvertible(let number as Double): Number(number).map(Value.number) ?? .null
    case .stringConvertible(let other): .string(other.description)
    case .dictionary(let members):
      .object(
        ValueObject(members.sorted { $0.key < $1.key }.map { ($0.key, Self.value($0.value)) }))
    case .array(let values): .list(values.map(Self.value))
    }
  }
}
