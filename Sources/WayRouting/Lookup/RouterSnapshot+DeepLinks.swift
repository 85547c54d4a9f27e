import WayNavigation
import WayPatterns
import WayValues

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
    if let url, target.parameterNames.contains(PatternTarget.actionURL) {
      captures[PatternTarget.actionURL] = .string(url)
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
