import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// `router.…`: calls the targets of URIs, and resolves URIs.
enum RouterMethods {
  private static let uri = Param(.uri, .string)
  private static let params = Param(.params, .object)
  private static let exts = Param(.exts, .object)
  private static let deadline = Param(.deadlineMs, .count)
  private static let onBehalfOf = Param(.onBehalfOf, .any)
  private static let key = Param(.key, .string)

  static let all = [
    SessionMethod("router.invoke", [uri, params, exts, deadline, onBehalfOf, key], invoke),
    SessionMethod(
      "router.open",
      [
        uri, params, exts, deadline, Param(.style, .string), Param(.from, .string), onBehalfOf, key,
      ],
      open),
    SessionMethod("router.canOpen", [uri, onBehalfOf], canOpen),
    SessionMethod("router.explain", [uri, params], explain),
    SessionMethod("router.routes") { session, _, _ throws(CallError) in
      .value(.array(session.resolver.snapshot.routes.map(\.value)))
    },
    SessionMethod("router.deliver", DeepLink.paramList, deliver),
  ]

  private static func invoke(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let (uri, isLast) = try calledURI(params, in: session)
    return try startCall(
      .invoke, uri, isLast, try options(params, handle, in: session), params, handle,
      in: session)
  }

  private static func open(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let (uri, isLast) = try calledURI(params, in: session)
    var options = try options(params, handle, in: session)
    if let style = try params.style() { options.style = style }
    if let from = params.string(.from) {
      options.callingPage = openPage(from, for: handle.caller, in: session)
    } else {
      options.callingPage = handle.client.page
    }
    return try startCall(.open, uri, isLast, options, params, handle, in: session)
  }

  /// Returns the id of the page that a reference means; `nil` if there is no such page.
  private static func openPage(
    _ reference: String, for caller: Caller, in session: isolated Session
  ) -> String? {
    if session.pages.isExpected(reference) { return reference }
    return session.pages.stack.find(session.resolver.reference(reference, for: caller))?.id
  }

  /// The URI that is called, and whether it is the one that was resolved last.
  private static func calledURI(
    _ params: Params, in session: isolated Session
  ) throws(CallError) -> (uri: String, isLast: Bool) {
    let last = session.resolver.lastURI
    if !last.isEmpty, params.isString(.uri, last) { return (last, true) }
    return (try params.required(.uri), false)
  }

  @inline(__always)
  private static func startCall(
    _ kind: CallKind, _ uri: String, _ isLast: Bool, _ options: consuming SessionCallOptions,
    _ params: Params, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    if session.state.isHandingOver, params[.onBehalfOf] == nil {
      return try session.park(kind, params.value, size: params.size, handle)
    }
    if let key = params.string(.key) {
      return try startCall(under: key, kind, uri, options, params, handle, in: session)
    }
    return try session.start(kind, uri, isLast, options, for: handle)
  }

  @inline(never)
  private static func startCall(
    under key: String, _ kind: CallKind, _ uri: String, _ options: SessionCallOptions,
    _ params: Params,
    _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let request = IdempotentRequest(method: kind.method.name, target: uri, params: options.params)
    var options = options
    options.idempotencyKey = session.idempotencyKey(key, of: handle.client)
    return try session.perform(
      .route(kind, uri: uri, options), under: key, request, timeout: options.timeout, params.value,
      handle)
  }

  private static func options(
    _ params: Params, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> SessionCallOptions {
    SessionCallOptions(
      rights: try session.rights(of: handle.client, for: params),
      params: params.object(.params) ?? [:], exts: try params.exts(session.limits),
      timeout: params.duration(.deadlineMs), isInBatch: handle.batch != nil)
  }

  private static func canOpen(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let uri = try params.required(.uri)
    do {
      let rights = try session.rights(of: handle.client, for: params)
      let destination = try session.resolver.destination(of: uri, [:], checking: false, for: rights)
      var fields: ValueObject = [
        "canOpen": true, "kind": .string(destination.routeKind.rawValue),
      ]
      if let route = destination.route { fields["route"] = .string(route.name) }
      if session.resolver.isAbsent(destination) { fields["absent"] = true }
      return .value(.object(fields))
    } catch {
      if error.protocolCode == .invalidParams { throw error }
      return .value(["canOpen": false])
    }
  }

  /// The router's explanation of a URI, with the hosts that are connected now.
  private static func explain(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let uri = try params.required(.uri)
    let given = params.object(.params) ?? [:]
    let resolver = session.resolver
    let rights = handle.client.rights
    if let resolution = try? resolver.resolve(uri, given, checking: false, for: rights.caller) {
      try rights.check(.explain, resolution)
    }
    return .value(explanation(of: uri, given, for: rights, in: session))
  }

  /// Explains a URI in a session for a caller with these rights.
  static func explanation(
    of uri: String, _ given: ValueObject, for rights: Rights, in session: isolated Session
  ) -> Value {
    let resolver = session.resolver
    var explanation = resolver.snapshot.explain(uri, params: given, for: rights.caller)
    var hostValue: Value = .null
    var isAbsent = false
    if let resolution = explanation.resolution {
      // Those of clients, too.
      explanation.interceptors = resolver.interceptors(of: resolution)?.names ?? []
      do {
        let destination = try resolver.destination(of: uri, given, for: rights)
        explanation.canOpen = true
        explanation.kind = destination.routeKind
        hostValue = host(of: destination, in: session)
        if let reason = destination.reason { explanation.reason = reason }
        if resolver.isAbsent(destination) {
          isAbsent = true
          explanation.reason += "; its host has lost its connection, and a call waits for it"
        }
      } catch {
        explanation.canOpen = false
        explanation.reason = error.message
      }
      if let fallback = fallbackReason(from: resolution, given, by: resolver) {
        explanation.reason = fallback
      }
    }
    var fields = explanation.members
    fields["policy"] =
      explanation.resolution.flatMap(rights.denial(ofOpening:))?.data?["rule"] ?? .null
    fields["host"] = hostValue
    if isAbsent { fields["absent"] = true }
    return .object(fields)
  }

  /// The reason why a call falls back to another URI because its target cannot serve it, and that
  /// URI. Nil if there is no fallback.
  private static func fallbackReason(
    from resolution: Resolution, _ params: ValueObject, by resolver: SessionDestinationResolver
  ) -> String? {
    do {
      _ = try resolver.destination(of: resolution, params)
      return nil
    } catch {
      guard let next = try? resolver.fallback(of: resolution, after: error) else { return nil }
      return "\(error.message); the call continues with \(next.text.quoted)"
    }
  }

  /// The host of a destination in the form of page descriptions: a client's name, or `server` for
  /// Swift code.
  private static func host(of destination: SessionDestination, in session: isolated Session)
    -> Value
  {
    switch destination.kind {
    case .hosted(let host, _): session.host(host).map { .string($0.name) } ?? .null
    case .undefined: .null
    case .module, .task, .asyncTask, .page, .back, .selectTab: "server"
    }
  }

  private static func deliver(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let link = try DeepLink(params, session.resolver.snapshot, session.limits)
    let client = handle.client
    if session.isOfRequest { return try deliverToUser(link, params, handle, in: session) }
    guard let key = link.key else {
      try session.deliver(link, for: client, by: client.rights)
      return .value(.null)
    }
    try link.validate()
    let owner = session.idempotencyKey(key, of: client).owner
    return try session.perform(
      .deepLink(link, sender: client, keyOwner: owner), under: key, link.request, timeout: nil,
      params.value, handle)
  }

  /// Delivers a deep link of an HTTP request to the sessions of the user that its token names. The
  /// session of the request ends with it, and follows no links.
  private static func deliverToUser(
    _ link: DeepLink, _ params: Params, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    try link.validate()
    let rights = handle.client.rights
    guard let user = rights.caller.identity.user else {
      throw CallError(
        .invalidRequest,
        "router.deliver over HTTP is for the sessions of the token's user, and this token names no "
          + "user; use session.push to name the receivers",
        kind: "noUser")
    }
    if let resolution = try? session.resolver.resolve(
      link.uri, link.params, checking: false, for: rights.caller)
    {
      try rights.check(.deliver, resolution)
    }
    let push = SessionPush(
      audience: .user(user), action: .deliver(link), params: [:],
      timeout: SessionPush.defaultTimeout,
      method: "router.deliver", key: link.key)
    let operations = session.environment.operations
    let copy = rights.followingCopy
    return try session.respondLater(to: handle, size: params.size) {
      () throws(CallError) in
      let receipt = try await operations.push(push, by: copy, maxBytes: 0).linkReceipt
      return [
        "sessions": .integer(Int64(receipt.delivered)),
        "waiting": .integer(Int64(receipt.waiting)),
      ]
    }
  }
}

extension SessionDestination {
  /// The reason for a destination that the router does not know about.
  fileprivate var reason: String? {
    switch kind {
    case .undefined: "no declared route matches; the undefined-route handler decides"
    case .hosted:
      route == nil ? "no declared route matches; a client hosts such URIs" : nil
    default: nil
    }
  }
}
