import Logging

/// A line that a logger recorded.
package struct RecordedLine: Sendable {
  package let level: Logger.Level
  package let message: String
  package let metadata: [String: String]

  /// Level, message and metadata by name.
  package var text: String {
    let fields = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    return "\(level) \(message)\(fields.joined())"
  }
}

extension Mailbox<RecordedLine> {
  /// Returns a logger that records its lines here.
  package func logger(_ level: Logger.Level) -> Logger {
    var logger = Logger(label: "test") { _ in RecordingLogHandler(lines: self) }
    logger.logLevel = level
    return logger
  }
}

private struct RecordingLogHandler: LogHandler {
  let lines: Mailbox<RecordedLine>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(lines: Mailbox<RecordedLine>) {
    self.lines = lines
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    lines.put(
      RecordedLine(
        level: event.level, message: event.message.description,
        metadata: (event.metadata ?? [:]).mapValues(\.description)))
  }
}
