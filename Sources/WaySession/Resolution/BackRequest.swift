import WayNavigation
import WayRouting
import WayValues

/// What `navigation.back` asks for, with references as they were written.
struct BackRequest {
  var target: BackTarget<String> = .count(1)
  var result: PageResult?

  init(_ target: BackTarget<String>, result: PageResult?) {
    self.target = target
    self.result = result
  }

  /// Reads the parameters of `navigation:back?count=2`, which are texts where the URI has them.
  /// Fails with -32602.
  init(texts params: ValueObject) throws(CallError) {
    target = try BackTarget(
      count: try params.count("count"), to: try params.text("to"),
      before: try params.text("before"), root: try params.truth("root"))
    if let value = params["result"], !value.isNull {
      result = try PageResult(value, path: "params.result")
    }
  }

  /// What it does to the stack.
  func operation(by guide: SessionDestinationResolver, for caller: Caller) -> StackOperation {
    .back(target.map { guide.reference($0, for: caller) }, result: result?.outcome)
  }
}

extension BackTarget<String> {
  /// From what a caller gives of the four; a single page where it gives none. Fails with -32602
  /// where it gives several.
  init(
    count: Int?, to: String?, before: String?, root: Bool?
  ) throws(CallError) {
    let targets: [BackTarget<String>] = [
      count.map { .count($0) }, to.map { .to($0) }, before.map { .before($0) },
      root == true ? .root : nil,
    ].compactMap(\.self)
    guard targets.count <= 1 else {
      throw .invalidParams("params: give one of count, to, before and root")
    }
    self = targets.first ?? .count(1)
  }
}

/// Which tab is meant.
enum TabReference {
  case index(Int)
  /// By the URI of its first page.
  case uri(String)

  /// The URI, where it is meant by one.
  var uri: String? { if case .uri(let uri) = self { uri } else { nil } }

  /// From what a caller gives of the two. Fails with -32602 unless it gives one.
  init(index: Int?, uri: String?) throws(CallError) {
    switch (index, uri) {
    case (let index?, nil): self = .index(index)
    case (nil, let uri?): self = .uri(uri)
    default: throw .invalidParams("params: give one of index and uri")
    }
  }

  /// Reads the parameters of `navigation:selectTab?index=1`. Fails with -32602.
  init(texts params: ValueObject) throws(CallError) {
    try self.init(index: try params.count("index"), uri: try params.text("uri"))
  }
}

extension SessionDestinationResolver {
  /// The place of a tab. Fails with 2404 where there is none.
  func tab(_ wanted: TabReference, for caller: Caller) throws(CallError) -> Int {
    switch wanted {
    case .uri(let uri): return try tab(of: reference(uri, for: caller), uri, for: caller)
    case .index(let index):
      let count = snapshot.tabs.count
      guard (0..<count).contains(index) else {
        throw CallError(
          .noRoute, "There is no tab \(index): the table has \(count)", kind: "noTab")
      }
      return index
    }
  }
}

// Parameters of a route: texts of the URI, or values of the caller's.
extension ValueObject {
  fileprivate func text(_ name: String) throws(CallError) -> String? {
    switch self[name] {
    case nil, .null: nil
    case .string(let text): text
    case let value?: throw .unfit("params.\(name)", "a string", value)
    }
  }

  fileprivate func count(_ name: String) throws(CallError) -> Int? {
    let integer: Int64?
    switch self[name] {
    case nil, .null: return nil
    case .string(let text): integer = Int64(text)
    case let value?: integer = value.integer
    }
    guard let integer, (0...Int64(Int32.max)).contains(integer) else {
      throw .unfit("params.\(name)", "an integer from 0 to \(Int32.max)", self[name] ?? .null)
    }
    return Int(integer)
  }

  fileprivate func truth(_ name: String) throws(CallError) -> Bool? {
    switch self[name] {
    case nil, .null: nil
    case .string(let text): text == "true" || text.isEmpty
    case .bool(let value): value
    case let value?: throw .unfit("params.\(name)", "true or false", value)
    }
  }
}
