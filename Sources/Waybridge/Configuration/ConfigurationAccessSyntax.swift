import WaySockets
import WayTransport

/// The kinds of configuration strings that control access.
package enum ConfigurationAccessSyntax: Sendable {
  case origin, host, proxy, prefix

  /// The format that a string of this kind must have; nil if it has it.
  package func unmetRequirement(of text: String) -> String? {
    switch self {
    case .origin: OriginPattern(text) == nil ? OriginPattern.expectedFormat : nil
    case .host: AllowedHost(text) == nil ? AllowedHost.expectedFormat : nil
    case .proxy: TrustedProxy(text) == nil ? TrustedProxy.expectedFormat : nil
    case .prefix:
      text.isEmpty || SocketServerConfiguration.isPrefix(text)
        ? nil : SocketServerConfiguration.prefixFormat
    }
  }
}
