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
  /// The link that an older server's `{action, action_url}` means. An action of the table leads to
  /// its target, with the URL as the parameter `action_url`; one that the table does not have, or
  /// leaves open, to the URL itself.
  ///
  /// Throws ``RoutingError`` for an unknown action without a URL, and for a URL that does not fit
  /// the target.
  public func link(action: String, url: String?) throws(RoutingError) -> DeepLink {
    if let target = actions[action] {
      let captures: ValueObject = url.map { ["action_url": .string($0)] } ?? [:]
      do {
        return DeepLink(try target.uri(captures, carrying: [:], fragment: nil).text)
      } catch {
        throw RoutingError(error)
      }
    }
    guard let url else { throw .noRoute(uri: action, kind: .noAction) }
    return DeepLink(url)
  }

  /// The URIs of the pages that lie under the page of a link, lowest first: those that its route
  /// declares, filled with the link's own parameters. Empty where the route declares none, or the
  /// link leads to none.
  ///
  /// Throws ``RoutingError`` for a parameter that is missing or fits no URI.
  public func parents(of match: Match) throws(RoutingError) -> [RouteURI] {
    var uris: [RouteURI] = []
    for parent in match.route.parents {
      var captures = ValueObject()
      for name in parent.parameterNames { captures[name] = match.params[name] }
      do { uris.append(try parent.uri(captures, carrying: [:], fragment: nil)) } catch {
        throw RoutingError(error)
      }
    }
    return uris
  }
}

extension Router {
  /// Sets what the actions of an older server mean (``RouterSnapshot/link(action:url:)``): each a
  /// target in which `:action_url` stands for the URL, which else becomes its parameter. Other
  /// actions lead to their URL itself.
  ///
  /// Throws ``RouterError/target(_:)`` for a text that is no target, or needs other parameters.
  public func setActions(_ actions: [String: String]) throws(RouterError) {
    var targets: [String: RouteTarget] = [:]
    for (name, text) in actions {
      do { targets[name] = try RouteTarget(action: text) } catch { throw .target(error) }
    }
    changeAlways { [targets] in $0.actions = targets }
  }
}

extension RouteTarget {
  /// A target that has nothing but the URL of an action.
  package init(action text: String) throws(RoutePatternError) {
    try self.init(text)
    if let name = parameterNames.first(where: { $0 != "action_url" }) {
      throw RoutePatternError(text, at: 0, "':\(name)' has no value here; ':action_url' has")
    }
  }
}
