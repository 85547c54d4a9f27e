import Foundation
import Logging
import Waybridge
import WaybridgeClient

/// The format of the lines of a log.
enum LogFormat: String, CaseIterable, Sendable {
  case text, json
}

/// Writes exactly one line for each event to standard error, also if the event contains line feeds.
struct CommandLogHandler: LogHandler {
  let format: LogFormat
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.notice
  /// Writes the line, including its line feed.
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
    let sorted = all.sorted { $0.key < $1.key }
    let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch format {
    case .text:
      let fields = sorted.map { " \($0.key.printable)=\(Self.text($0.value))" }.joined()
      write("\(time) \(event.level) \(event.message.description.printable)\(fields)\n")
    case .json:
      var object: ValueObject = [
        "time": .string(time), "level": .string(event.level.rawValue),
        "message": .string(event.message.description),
      ]
      let withoutMetadata = Value.object(object)
      for (key, value) in sorted where object[key] == nil { object[key] = Self.value(value) }
      // Metadata that nests too deep to be encoded is omitted.
      write((Value.object(object).json ?? withoutMetadata.json ?? "{}") + "\n")
    }
  }

  /// Unquoted if it is one plain word, otherwise quoted as in JSON.
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
    case .stringConvertible(let flag as Bool): .bool(flag)
    case .stringConvertible(let number as Double): Number(number).map(Value.number) ?? .null
    case .stringConvertible(let other): .string(other.description)
    case .dictionary(let members):
      .object(
        ValueObject(members.sorted { $0.key < $1.key }.map { ($0.key, Self.value($0.value)) }))
    case .array(let values): .array(values.map(Self.value))
    }
  }
}
