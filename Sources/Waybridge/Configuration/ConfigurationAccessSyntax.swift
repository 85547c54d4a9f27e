import WaySockets
import WayTransport

/// What the texts of a configuration must be that say who comes in.
package enum ConfigurationAccessSyntax: Sendable {
  case origin, host, proxy, prefix

  /// What a text of this kind must be; nil where it is.
  package func expected(of text: String) -> String? {
    switch self {
    case .origin: OriginPattern(text) == nil ? OriginPattern.form : nil
    case .host: AllowedHost(text) == nil ? AllowedHost.form : nil
    case .proxy: TrustedProxy(text) == nil ? TrustedProxy.form : nil
    case .prefix:
      text.isEmpty || SocketServerConfiguration.isPrefix(text)
        ? nil : SocketServerConfiguration.prefixForm
    }
  }
}
