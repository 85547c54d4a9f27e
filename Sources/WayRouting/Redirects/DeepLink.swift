import WayPatterns
import WayValues

/// A link from outside of the app: of a push message, a shortcut, a universal link, another app.
public struct DeepLink: Sendable, Hashable {
  /// The URI to open.
  public let uri: String
  /// The business parameters, over those of the URI.
  public let params: ValueObject

  /// A link; its URI is read when it is delivered.
  public init(_ uri: String, params: ValueObject = [:]) {
    self.uri = uri
    self.params = params
  }
}

extension RouterSnapshot {
  /// The link that an older server's `{action, action_url, params}` means. An action of the table
  /// leads to its target, in which `:action_url` stands for the URL, and the URL's query goes over
  /// the target's own; one that the table does not have, or leaves open, leads to the URL itself.
  ///
  /// Throws ``RoutingError`` for an unknown action without a URL, for a text that is no URL, and
  /// for a URL that the target needs or that does not fit it.
  public func link(
    action: String, url: String?, params: ValueObject = [:]
  ) throws(ResolutionError) -> DeepLink {
    guard let target = actions[action] else {
      guard let url else { throw .noRoute(uri: action, kind: .noAction) }
      return DeepLink(url, params: params)
    }
    var captures = ValueObject()
    if let url, target.parameterNames.contains(Self.actionURL) {
      captures[Self.actionURL] = .string(url)
    }
    do {
      let uri = try target.uri(captures, carrying: [:], fragment: nil)
      let query = try url.map(query(ofActionURL:)) ?? [:]
      guard !query.isEmpty else { return DeepLink(uri.text, params: params) }
      var merged = try uri.queryParameters(plusIsSpace: plusIsSpace)
      merged.merge(query)
      return DeepLink(try uri.replacingQuery(with: merged).text, params: params)
    } catch {
      throw ResolutionError(error)
    }
  }

  private func query(ofActionURL text: String) throws(PatternParameterError) -> ValueObject {
    let url: RouteURI
    do { url = try RouteURI(mapping: text) } catch { throw .uri(error) }
    return try url.queryParameters(plusIsSpace: plusIsSpace)
  }

  /// What the targets of actions call the URL.
  fileprivate static var actionURL: String { "action_url" }

  /// The URIs of the pages that lie under the page of a link, lowest first: those that its route
  /// declares, filled with the link's own parameters. Empty where the route declares none, or the
  /// link leads to none.
  ///
  /// Throws ``RoutingError`` for a parameter that is missing or fits no URI.
  public func parents(of match: RouteMatch) throws(ResolutionError) -> [RouteURI] {
    var uris: [RouteURI] = []
    for parent in match.route.parents {
      var captures = ValueObject()
      for name in parent.parameterNames { captures[name] = match.params[name] }
      do { uris.append(try parent.uri(captures, carrying: [:], fragment: nil)) } catch {
        throw ResolutionError(error)
      }
    }
    return uris
  }
}

extension Router {
  /// Sets what the actions of an older server mean (``RouterSnapshot/link(action:url:params:)``):
  /// each a target in which `:action_url` stands for the URL, whose query goes over the target's
  /// own. Other actions lead to their URL itself.
  ///
  /// Throws ``RouterError/target(_:)`` for a text that is no target, or needs other parameters.
  public func setActions(_ actions: [String: String]) throws(RouterError) {
    var targets: [String: PatternTarget] = [:]
    for (name, text) in actions {
      do { targets[name] = try PatternTarget(action: text) } catch { throw .target(error) }
    }
    changeAlways { [targets] in $0.actions = targets }
  }
}

extension PatternTarget {
  /// A target that has nothing but the URL of an action.
  package init(action text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first(where: { $0 != RouterSnapshot.actionURL }) {
      throw RoutePatternError(text, at: 0, "':\(name)' has no value here; ':action_url' has")
    }
  }
}
