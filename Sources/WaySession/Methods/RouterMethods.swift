import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// `router.…`: calling what URIs lead to, and asking where they do.
enum RouterMethods {
  private static let uri = Param(.uri, .string)
  private static let params = Param(.params, .object)
  private static let exts = Param(.exts, .object)
  private static let deadline = Param(.deadlineMs, .count)
  private static let onBehalfOf = Param(.onBehalfOf, .any)
  private static let key = Param(.key, .string)

  static let all = [
    Method("router.invoke", [uri, params, exts, deadline, onBehalfOf, key], invoke),
    Method(
      "router.open",
      [
        uri, params, exts, deadline, Param(.style, .string), Param(.from, .string), onBehalfOf, key,
      ],
      open),
    Method("router.canOpen", [uri, onBehalfOf], canOpen),
    Method("router.explain", [uri, params], explain),
    Method("router.routes") { session, _, _ throws(CallError) in
      .value(.list(session.guide.snapshot.routes.map(\.value)))
    },
    Method(
      "router.deliver",
      [uri, params, Param(.action, .string), Param(.actionURL, .string)], deliver),
  ]

  private static func invoke(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let (uri, isLast) = try calledURI(params, in: session)
    return try go(
      .invoke, uri, isLast, try options(params, address, in: session), params, address,
      in: session)
  }

  private static func open(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let (uri, isLast) = try calledURI(params, in: session)
    var options = try options(params, address, in: session)
    if let style = try params.style() { options.style = style }
    options.from = params.string(.from) ?? address.client.page
    return try go(.open, uri, isLast, options, params, address, in: session)
  }

  /// The URI that is called, and whether it is that which was looked up last.
  private static func calledURI(
    _ params: Params, in session: isolated Session
  ) throws(CallError) -> (uri: String, isLast: Bool) {
    let last = session.guide.lastURI
    if !last.isEmpty, params.isString(.uri, last) { return (last, true) }
    return (try params.required(.uri), false)
  }

  @inline(__always)
  private static func go(
    _ entry: Entry, _ uri: String, _ isLast: Bool, _ options: consuming SessionCallOptions,
    _ params: Params, _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    if session.isMoving, params[.onBehalfOf] == nil {
      return try SessionHandover.park(entry, params, address, in: session)
    }
    if let key = params.string(.key) {
      return try go(under: key, entry, uri, options, params, address, in: session)
    }
    return try CallRunner.begin(entry, uri, isLast, options, for: address, in: session)
  }

  @inline(never)
  private static func go(
    under key: String, _ entry: Entry, _ uri: String, _ options: SessionCallOptions,
    _ params: Params,
    _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    let request = KeyedRequest(method: entry.method.name, target: uri, params: options.params)
    var options = options
    options.key = KeyedCalls.key(key, of: address.client, in: session)
    return try KeyedCalls.take(
      key, request, entry, deadline: options.deadline, params.value, address, in: session
    ) { [options] asker, session throws(CallError) in
      let journey = Journey(entry, uri, options)
      return try CallRunner.go(journey, for: asker, in: session)
    }
  }

  private static func options(
    _ params: Params, _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> SessionCallOptions {
    SessionCallOptions(
      rights: try address.client.rights(for: params, in: session),
      params: params.object(.params) ?? [:], exts: try params.exts(session.limits),
      deadline: params.time(.deadlineMs), isInBatch: address.batch != nil)
  }

  private static func canOpen(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let uri = try params.required(.uri)
    do {
      let rights = try address.client.rights(for: params, in: session)
      let destination = try session.guide.destination(of: uri, [:], checking: false, for: rights)
      var members: ValueObject = [
        "canOpen": true, "kind": .string(destination.routeKind.rawValue),
      ]
      if let route = destination.route { members["route"] = .string(route.name) }
      return .value(.object(members))
    } catch {
      if error.protocolCode == .invalidParams { throw error }
      return .value(["canOpen": false])
    }
  }

  /// What the router says, with the hosts that are there now.
  private static func explain(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let uri = try params.required(.uri)
    let given = params.object(.params) ?? [:]
    let guide = session.guide
    let rights = address.client.rights
    if let said = try? guide.look(up: uri, given, checking: false, for: rights.caller) {
      try rights.check(.explain, said)
    }
    return .value(explanation(of: uri, given, for: rights, in: session))
  }

  /// What becomes of a URI in a session, for who has these rights.
  static func explanation(
    of uri: String, _ given: ValueObject, for rights: Rights, in session: isolated Session
  ) -> Value {
    let guide = session.guide
    var explanation = guide.snapshot.explain(uri, params: given, for: rights.caller)
    var presenter: Value = .null
    if let resolution = explanation.resolution {
      do {
        let destination = try guide.destination(of: uri, given, for: rights)
        explanation.canOpen = true
        explanation.kind = destination.routeKind
        presenter = host(of: destination, in: session)
        if let reason = destination.reason { explanation.reason = reason }
      } catch {
        explanation.canOpen = false
        explanation.reason = error.message
      }
      if let detour = detour(from: resolution, given, by: guide) { explanation.reason = detour }
    }
    var members = explanation.members
    members["policy"] =
      explanation.resolution.flatMap(rights.refusal(ofOpening:))?.data?["rule"] ?? .null
    members["host"] = presenter
    return .object(members)
  }

  /// Why, and where, a call goes on that who the URI means does not serve; nil where it stays.
  private static func detour(
    from resolution: Resolution, _ params: ValueObject, by guide: SessionDestinationResolver
  ) -> String? {
    do {
      _ = try guide.destination(of: resolution, params)
      return nil
    } catch {
      guard let next = try? guide.fallback(of: resolution, after: error) else { return nil }
      return "\(error.message); the call goes on with \(next.text.quoted)"
    }
  }

  /// Who shows or runs it, as pages tell it: a client, or `server` for Swift code.
  private static func host(of destination: Destination, in session: isolated Session) -> Value {
    switch destination.kind {
    case .hosted(let host, _): session.host(host).map { .string($0.name) } ?? .null
    case .undefined: .null
    case .module, .task, .asyncTask, .page, .back, .selectTab: "server"
    }
  }

  private static func deliver(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let link: DeepLink
    let given = params.object(.params) ?? [:]
    if let action = params.string(.action) {
      link = try session.guide.snapshot.delivered(action, params.string(.actionURL), given)
    } else {
      link = DeepLink(try params.required(.uri), params: given)
    }
    try DeepLinkRunner.deliver(
      link, for: address.client, by: address.client.rights, to: session)
    return .value(.null)
  }
}

extension Destination {
  /// What the router could not know.
  fileprivate var reason: String? {
    switch kind {
    case .undefined: "no declared route matches, and the undefined-route handler would be asked"
    case .hosted:
      route == nil ? "no declared route matches; a client hosts such URIs" : nil
    default: nil
    }
  }
}
