import ArgumentParser
import Logging

/// The flags for the log of `serve` and `demo` on standard error.
struct LogOptions: ParsableArguments {
  @Option(
    help: .setting("log.level", valueName: "level"),
    completion: .list(Logger.Level.allCases.map(\.rawValue)))
  var logLevel: String?

  @Option(
    help: .setting("log.format", valueName: "format"),
    completion: .list(LogFormat.allCases.map(\.rawValue)))
  var logFormat: String?
}

/// The format of the lines of a log.
enum LogFormat: String, CaseIterable, Sendable {
  case text, json
}

extension CommandSettings {
  /// The logger of a server, with the configured level and format.
  var logger: Logger {
    let format = LogFormat(rawValue: logFormat) ?? .text
    var logger = Logger(label: "waybridge") { _ in CommandLogHandler(format: format) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .notice
    return logger
  }
}
