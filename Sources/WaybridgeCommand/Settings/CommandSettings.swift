import Logging
import Waybridge
import WaybridgeCluster
import WaybridgeTokens

/// The values of the settings, from flags, environment variables and a configuration file.
struct CommandSettings: Sendable {
  /// The server of `serve` and `demo`.
  var bridge = BridgeConfiguration()
  /// The cluster of `serve`; without a URL there is none.
  var cluster = NATSClusterSettings(url: "")
  var data: String?
  var table: String?
  var tableCache: String?
  var tableInterval = Duration.seconds(60)
  var checkResults = ResultCheck.reject.rawValue
  var url = "ws://127.0.0.1:8080/bridge"
  var tokenFile: String?
  var sessionID = ""
  var joinToken = ""
  var tokenSecretFile: String?
  var tokenKeyFile: String?
  var tokenKeySetURL = ""
  var tokenIssuer = ""
  var tokenRules = TokenRules()
  var pushWebhookURL = ""
  var pushWebhookSecretFile: String?
  var logLevel = Logger.Level.notice.rawValue
  var logFormat = LogFormat.text.rawValue

  /// The logger of a server, with the configured level and format.
  var logger: Logger {
    let format = LogFormat(rawValue: logFormat) ?? .text
    var logger = Logger(label: "waybridge") { _ in CommandLogHandler(format: format) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .notice
    return logger
  }
}
