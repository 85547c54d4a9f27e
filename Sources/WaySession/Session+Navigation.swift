import WayRPC
import WayRouting
import WayValues

/// What `navigation.back` asks for, with references as they were written.
struct BackRequest {
  enum Target {
    case count(Int)
    case to(String)
    case before(String)
    case root
  }

  var target = Target.count(1)
  var result: Outcome?

  init(_ target: Target, result: Outcome?) {
    self.target = target
    self.result = result
  }

  init(_ params: MethodParams) throws(RPCError) {
    var targets: [Target] = []
    if let count = try params.count("count") { targets.append(.count(count)) }
    if let to = try params.optionalString("to") { targets.append(.to(to)) }
    if let before = try params.optionalString("before") { targets.append(.before(before)) }
    if try params.bool("root") == true { targets.append(.root) }
    guard targets.count <= 1 else {
      throw .invalidParams("params: give one of count, to, before and root")
    }
    if let target = targets.first { self.target = target }
    result = try Outcome(resultIn: params)
  }

  /// Reads `navigation:back?count=2`: a route's parameters are strings.
  init(backBy params: ValueObject) throws(RPCError) {
    var typed = params
    if case .string(let text)? = params["count"], let count = Int64(text) {
      typed["count"] = .integer(count)
    }
    if case .string(let text)? = params["root"] {
      typed["root"] = .bool(text == "true" || text.isEmpty)
    }
    try self.init(
      MethodParams(Request(id: .null, method: "navigation:back", params: .object(typed))))
  }
}

extension Outcome {
  /// The `result` member of `navigation.back` and `navigation.finish`.
  init?(resultIn params: MethodParams) throws(RPCError) {
    guard let members = try params.object("result") else { return nil }
    let code: Int
    switch members["code"] {
    case nil, .null: code = 0
    case .integer(let value)?:
      guard let exact = Int(exactly: value) else { fallthrough }
      code = exact
    default: throw .invalidParams("params.result.code must be an integer")
    }
    let message: String
    switch members["message"] {
    case nil, .null: message = ""
    case .string(let text): message = text
    default: throw .invalidParams("params.result.message must be a string")
    }
    self = .finished(code: code, message: message, data: members["data"] ?? .null)
  }
}

extension Session {
  func back(_ params: MethodParams, _ origin: Origin) throws(RPCError) -> Reply {
    let request = try BackRequest(params)
    return back(request, .invoke, try begin(.origin(origin), deadline: nil))
  }

  /// Goes back, in its turn, and answers the call with `{page, closed}`.
  func back(_ request: BackRequest, _ entry: Entry, _ call: CallInFlight) -> Reply {
    let target: BackTarget
    switch request.target {
    case .count(let count): target = .count(count)
    case .root: target = .root
    case .to(let text): target = .to(reference(text))
    case .before(let text): target = .before(reference(text))
    }
    change(.back(target, result: request.result), entry, call)
    return .later
  }

  func finish(_ params: MethodParams, _ origin: Origin) throws(RPCError) -> Reply {
    guard let page = try params.optionalString("page") ?? origin.client.page else {
      throw .invalidParams(
        "params.page is missing: this client is not bound to a page of its own")
    }
    let result = try Outcome(resultIn: params) ?? .finished()
    change(.finish(page: page, result: result), .invoke, try begin(.origin(origin), deadline: nil))
    return .later
  }

  func change(_ operation: StackOperation, _ entry: Entry, _ call: CallInFlight) {
    let number = call.number
    call.stop = { _ in self.operations.remove(number) }
    operations.add(
      .change(operation, call: number) { result in
        self.settle(number, result.map { entry.answer($0.value) })
      })
    runOperations()
  }

  func contains(_ params: MethodParams) throws(RPCError) -> Value {
    page(try params.string("uri")).map { .object($0.value) } ?? .null
  }

  /// The page on the stack that a text means.
  func page(_ text: String) -> Page? { stack.contains(reference(text)) }

  /// A page that was opened by other means comes on top of the stack; its host is the caller.
  func adopt(_ params: MethodParams, _ origin: Origin) throws(RPCError) -> Reply {
    let text = try params.string("uri")
    let style = try params.style() ?? .push
    guard style == .push || style == .present else {
      throw .invalidParams("params.style: a page is adopted with \"push\" or \"present\"")
    }
    let identity = try identify(text, params.object("params") ?? [:])
    let page = Page(
      id: makePageID(), uri: identity.uri, route: identity.route, pathParams: identity.pathParams,
      style: style, params: identity.params, exts: [:], host: origin.client.name)
    let charge = try stackBytes.charge(page)
    let call = try begin(.origin(origin), deadline: nil)
    let number = call.number
    call.stop = { _ in self.operations.remove(number) }
    let presenter = Presenter.client(origin.client.id)
    operations.add(
      .change(.open(page), call: number) { result in
        if case .success = result {
          self.pages[page.id] = OpenPage(
            page: page, presenter: presenter, openers: [], since: self.loop.nanoseconds,
            charge: charge)
        }
        self.settle(number, result.map { .object(($0.shown ?? page).value) })
      })
    runOperations()
    return .later
  }

  /// Text with a colon is a URI, which means the nearest page of the same route and path parameters; other text is a page id.
  func reference(_ text: String) -> PageReference {
    guard text.utf8.contains(UInt8(ascii: ":")),
      let identity = try? identify(text, [:], checking: false)
    else {
      return .page(text)
    }
    guard let route = identity.route else { return .uri(identity.uri) }
    return .route(name: route, pathParams: identity.pathParams)
  }

  /// Which route a URI names, whoever shows it.
  private func identify(
    _ text: String, _ params: ValueObject, checking: Bool = true
  ) throws(RPCError) -> (uri: String, route: String?, pathParams: ValueObject, params: ValueObject)
  {
    switch try look(up: text, params, checking: checking) {
    case .match(let match):
      return (match.uri.text, match.route.name, match.pathParams, match.params)
    case .undeclared(let uri, _, let params), .navigation(let uri, _, let params):
      return (uri.text, nil, [:], params)
    }
  }
}

extension StackChange {
  /// As `navigation.back` answers: the page that is on top now, and the ids of those that closed.
  var value: Value {
    [
      "page": top.map { .string($0.id) } ?? .null,
      "closed": .list(closed.map { .string($0.page.id) }),
    ]
  }
}
