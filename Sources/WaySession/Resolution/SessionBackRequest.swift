import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The request of `navigation.back`, with references as they were written.
struct SessionBackRequest {
  var target: BackTarget<String> = .count(1)
  var result: PageResult?

  init(_ target: BackTarget<String>, result: PageResult?) {
    self.target = target
    self.result = result
  }

  private static let paramNames = ["count", "to", "before", "root", "result"]

  /// Reads the parameters of `navigation:back?count=2`, which are strings if they are in the URI.
  /// Fails with -32602, also for a name that misspells one of them. Others are ignored, because
  /// parameters are added to URIs on their way.
  init(texts params: ValueObject) throws(CallError) {
    for name in params.members.map(\.name) where !Self.paramNames.contains(name) {
      guard let similar = NameSuggestion.closest(name, among: Self.paramNames) else { continue }
      throw .invalidParams(
        "navigation:back has no parameter \(name.quoted); did you mean \(similar.quoted)?")
    }
    target = try BackTarget(
      count: try params.optionalCount("count"), to: try params.optionalString("to"),
      before: try params.optionalString("before"), root: try params.optionalBool("root"))
    if let value = params["result"], !value.isNull {
      result = try PageResult(value, path: "params.result")
    }
  }

  /// Returns the stack operation of the request.
  func operation(by resolver: SessionDestinationResolver, for caller: Caller) -> StackOperation {
    .back(target.map { resolver.reference($0, for: caller) }, result: result?.outcome)
  }
}

extension BackTarget<String> {
  /// Reads the target from the four values of a caller; a single page if all are missing. Fails
  /// with -32602 if the caller gives several.
  init(
    count: Int?, to: String?, before: String?, root: Bool?
  ) throws(CallError) {
    let targets: [BackTarget<String>] = [
      count.map { .count($0) }, to.map { .to($0) }, before.map { .before($0) },
      root == true ? .root : nil,
    ].compactMap(\.self)
    guard targets.count <= 1 else {
      throw .invalidParams("params may have only one of count, to, before and root")
    }
    self = targets.first ?? .count(1)
  }
}

/// A reference to a tab.
enum TabReference {
  case index(Int)
  /// The URI of the tab's first page.
  case uri(String)

  /// The URI, if the reference is one.
  var uri: String? { if case .uri(let uri) = self { uri } else { nil } }

  /// Reads the reference from the two values of a caller. Fails with -32602 unless exactly one is
  /// given.
  init(index: Int?, uri: String?) throws(CallError) {
    switch (index, uri) {
    case (let index?, nil): self = .index(index)
    case (nil, let uri?): self = .uri(uri)
    default: throw .invalidParams("params must have either index or uri")
    }
  }

  /// Reads the parameters of `navigation:selectTab?index=1`. Fails with -32602.
  init(texts params: ValueObject) throws(CallError) {
    try self.init(index: try params.optionalCount("index"), uri: try params.optionalString("uri"))
  }
}

/// The data of a call of `navigation:selectTab` for the first page of the tab: all parameters except
/// those that name the tab.
struct TabParams {
  /// The parameters in the query of the URI.
  private(set) var query = ValueObject()
  /// The caller's own parameters.
  private(set) var params = ValueObject()

  /// Creates the data of a selection without any.
  init() {}

  /// Reads the query of a URI, and separates it from the caller's own parameters.
  init(_ uri: RouteURI, _ params: ValueObject, plusIsSpace: Bool) throws(CallError) {
    do { query = try uri.queryParameters(plusIsSpace: plusIsSpace) } catch {
      throw CallError(RouterResolutionError(error))
    }
    self.params = params
    for name in ["index", "uri"] {
      query[name] = nil
      self.params[name] = nil
    }
  }

  /// Whether the first page gets no parameters.
  var isEmpty: Bool { query.isEmpty && params.isEmpty }

  /// Returns the URI of the tab's first page with the parameters of the query, which override its
  /// own.
  func uri(of tab: RouteURI, plusIsSpace: Bool) throws(CallError) -> String {
    guard !query.isEmpty else { return tab.text }
    do {
      var merged = try tab.queryParameters(plusIsSpace: plusIsSpace)
      merged.merge(query)
      return try tab.replacingQuery(with: merged).text
    } catch {
      throw CallError(RouterResolutionError(error))
    }
  }
}

extension SessionDestinationResolver {
  /// Returns the index of a tab of the table, or of one that an earlier table had and that still has
  /// pages. Fails with 2404 if there is no such tab.
  func tabIndex(
    _ wanted: TabReference, on stack: NavigationStack, for caller: Caller
  ) throws(CallError) -> Int {
    switch wanted {
    case .uri(let uri):
      return try tabIndex(of: reference(uri, for: caller), uri, on: stack, for: caller)
    case .index(let index):
      let count = snapshot.tabs.count
      guard (0..<count).contains(index) || stack.hasPages(tab: index) else {
        throw CallError(
          .noRoute, "There is no tab \(index); the table has \(count) tabs, counted from 0",
          kind: "noTab")
      }
      return index
    }
  }
}

// Parameters of a route are strings of the URI, or values of the caller.
extension ValueObject {
  fileprivate func optionalString(_ name: String) throws(CallError) -> String? {
    switch self[name] {
    case nil, .null: nil
    case .string(let text): text
    case let value?: throw .typeMismatch("params.\(name)", "a string", value)
    }
  }

  fileprivate func optionalCount(_ name: String) throws(CallError) -> Int? {
    let integer: Int64?
    switch self[name] {
    case nil, .null: return nil
    case .string(let text): integer = Int64(text)
    case let value?: integer = value.exactInteger
    }
    guard let integer, (0...Int64(Int32.max)).contains(integer) else {
      throw .typeMismatch(
        "params.\(name)", "an integer from 0 to \(Int32.max)", self[name] ?? .null)
    }
    return Int(integer)
  }

  fileprivate func optionalBool(_ name: String) throws(CallError) -> Bool? {
    switch self[name] {
    case nil, .null: nil
    case .string(let text): text == "true" || text.isEmpty
    case .bool(let value): value
    case let value?: throw .typeMismatch("params.\(name)", "true or false", value)
    }
  }
}
