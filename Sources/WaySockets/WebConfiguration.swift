/// The files that a server serves besides its endpoints.
public struct WebConfiguration: Sendable {
  /// A folder of files served at `/`; nil serves none.
  public var root: String?
  /// The names at the top of ``root`` that are served, each with everything below it; nil serves
  /// all.
  public var entries: [String]?
  /// The content security policy of files; empty for none. If it has no `frame-ancestors`, only the
  /// server's own pages and those of ``NetworkConfiguration/allowedOrigins`` may show files in frames.
  public var contentSecurityPolicy = WebConfiguration.defaultContentSecurityPolicy
  /// Whether the JavaScript client, `bridge.js` and its imports, is served at `/bridge/` from the
  /// program itself. A folder `bridge` of ``root`` replaces it as a whole.
  public var servesClient = true
  /// Whether the inspector is served at `/inspector/` from the program itself. It requires
  /// ``servesClient``. It shows the results of the methods `admin.…` to clients that the policy
  /// allows to call them. A folder `inspector` of ``root`` replaces it.
  public var servesInspector = true

  /// Creates a configuration that serves the JavaScript client and the inspector, and no folder.
  public init() {}

  /// Allows scripts, styles and forms of the server only, and inline styles. Also allows images
  /// from `data:` and `blob:`, connections to bridges of this machine, and pages of other origins
  /// in frames.
  public static var defaultContentSecurityPolicy: String { FileHeaders.defaultPolicy }
}
