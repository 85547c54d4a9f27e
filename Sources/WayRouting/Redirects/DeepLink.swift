import WayNavigation
import WayPatterns
import WayValues

/// A deep link: a link from outside of the app, such as a push message, a shortcut, a universal
/// link or another app.
public struct DeepLink: Sendable, Hashable {
  /// The URI to open.
  public let uri: String
  /// The business parameters, which override those of the URI.
  public let params: ValueObject
  /// Extensions that are not business data (`animated`, …); they reach the host unchanged.
  public let exts: ValueObject
  /// The style of the page; `nil` for the one that its route declares.
  public let style: Style?
  /// The idempotency key, 1 to 128 bytes; `nil` if each delivery counts. Within 10 minutes, a link
  /// with the same key and the same content is followed once.
  public let key: String?

  /// Creates a deep link; its URI is parsed when it is delivered.
  public init(
    _ uri: String, params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    key: String? = nil
  ) {
    self.uri = uri
    self.params = params
    self.exts = exts
    self.style = style
    self.key = key
  }
}

extension RouterSnapshot {
  /// Returns the deep link for an older server's `{action, action_url, params}`. An action of the
  /// table leads to its target, in which `:action_url` stands for the URL. The URL's query
  /// overrides the target's own. An action that the table does not have, or leaves open, leads to
  /// the URL itself. The other arguments are those of the link.
  ///
  /// Throws ``RouterResolutionError`` for an unknown action without a URL, for a text that is no URL, and
  /// for a URL that the target needs or that does not fit it.
  public func deepLink(
    action: String, url: String?, params: ValueObject = [:], exts: ValueObject = [:],
    style: Style? = nil, key: String? = nil
  ) throws(RouterResolutionError) -> DeepLink {
    func link(_ uri: String) -> DeepLink {
      DeepLink(uri, params: params, exts: exts, style: style, key: key)
    }
    guard let target = actions[action] else {
      guard let url else { throw .noRoute(uri: action, kind: .noAction) }
      return link(url)
    }
    var captures = ValueObject()
    if let url, target.parameterNames.contains(Self.actionURL) {
      captures[Self.actionURL] = .string(url)
    }
    do {
      let uri = try target.uri(captures, extraParameters: [:], fragment: nil)
      let query = try url.map(query(ofActionURL:)) ?? [:]
      guard !query.isEmpty else { return link(uri.text) }
      var merged = try uri.queryParameters(plusIsSpace: plusIsSpace)
      merged.merge(query)
      return link(try uri.replacingQuery(with: merged).text)
    } catch {
      throw RouterResolutionError(error)
    }
  }

  private func query(ofActionURL text: String) throws(PatternParameterError) -> ValueObject {
    let url: RouteURI
    do { url = try RouteURI(mapping: text) } catch { throw .uri(error) }
    return try url.queryParameters(plusIsSpace: plusIsSpace)
  }

  /// The name of the URL in the targets of actions.
  fileprivate static var actionURL: String { "action_url" }

  /// Returns the URIs of the pages beneath the page of a deep link, lowest first: those that its
  /// route declares, with the deep link's own parameters. Empty if the route declares none, or the
  /// deep link has no target.
  ///
  /// Throws ``RouterResolutionError`` for a parameter that is missing or that a URI cannot hold.
  public func parents(of match: RouteMatch) throws(RouterResolutionError) -> [RouteURI] {
    var uris: [RouteURI] = []
    for parent in match.route.parents {
      var captures = ValueObject()
      for name in parent.parameterNames { captures[name] = match.params[name] }
      do { uris.append(try parent.uri(captures, extraParameters: [:], fragment: nil)) } catch {
        throw RouterResolutionError(error)
      }
    }
    return uris
  }
}

extension Router {
  /// Sets the targets of an older server's actions
  /// (``RouterSnapshot/deepLink(action:url:params:exts:style:key:)``). In a target, `:action_url`
  /// stands for the URL, and the query of the URL overrides the target's own. Other actions lead to
  /// their URL itself.
  ///
  /// Throws ``RouterConfigurationError/invalidTarget(_:)`` for a text that is no target, or needs
  /// other parameters.
  public func setActions(_ actions: [String: String]) throws(RouterConfigurationError) {
    var targets: [String: PatternTarget] = [:]
    for (name, text) in actions {
      do { targets[name] = try PatternTarget(action: text) } catch { throw .invalidTarget(error) }
    }
    changeUnconditionally { [targets] in $0.actions = targets }
  }
}

extension PatternTarget {
  /// Creates a target whose only parameter is the URL of an action.
  package init(action text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first(where: { $0 != RouterSnapshot.actionURL }) {
      throw RoutePatternError(text, at: 0, "\":\(name)\" has no value here; \":action_url\" has")
    }
  }
}
