import WayRPC
import WayRouting
import WayTransport
import WayValues

/// One running app instance: its members, its hosts, its stack.
///
/// An actor on its loop; connections of the same loop enter without a hop. Answers that do not need another party
/// are given before ``receive(_:from:)`` returns.
package actor Session {
  package nonisolated let id: String
  nonisolated let joinToken = Token.random()
  nonisolated let epoch = Token.random(12)
  nonisolated let loop: any EventLoop
  nonisolated let settings: BridgeSettings
  nonisolated let bridge: Bridge
  nonisolated let meter: CallMeter
  private nonisolated let executor: UnownedSerialExecutor

  var clients: [ClientID: Client] = [:]
  var hosts = HostDirectory()
  var stack = NavigationStack()
  var pages: [String: OpenPage] = [:]
  var operations = OperationQueue()
  let stackBytes: ByteBudget
  var calls: [CallNumber: CallInFlight] = [:]
  var links = WaitingLinks()
  var routes: SnapshotReader
  var writer = MessageWriter()
  /// The topics of the session's own events that anybody listens to.
  var heard: TopicFamilies = []
  /// Those of them that Swift code listens to.
  var heardBySwift: TopicFamilies
  private var lastClient: ClientID = 0
  private var lastSender: Client?
  private var lastCall: CallNumber = 0
  private var lastPage = 0
  private(set) var hasEnded = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  /// `heardBySwift` are the topics of its own events that Swift code listens to.
  init(id: String, bridge: Bridge, heardBySwift: TopicFamilies) {
    self.id = id
    self.bridge = bridge
    self.heardBySwift = heardBySwift
    heard = heardBySwift
    loop = bridge.loop
    settings = bridge.settings
    meter = bridge.meter
    stackBytes = ByteBudget(bridge.settings.limits.maxStackBytes)
    executor = loop.asUnownedSerialExecutor()
    routes = SnapshotReader(settings.router)
  }

  /// A name for a new page, unique in the session.
  func makePageID() -> String {
    lastPage += 1
    return "p\(lastPage)"
  }

  /// A number for a new call.
  func makeCallNumber() -> CallNumber {
    lastCall += 1
    return lastCall
  }
}

// MARK: Members

extension Session {
  /// Adds a member that `channel` carries, and gives what `session.open` answers. Fails when the session is full,
  /// the page is not on its stack, or a host is wrong; then nothing has changed.
  func addClient(
    channel: any MessageChannel, hello: Hello
  ) throws(RPCError) -> (client: ClientID, answer: Value) {
    guard clients.count < settings.limits.maxClients else {
      throw RPCError(
        .tooMany, "The session has \(settings.limits.maxClients) clients, which is its limit")
    }
    if let page = hello.page, stack.contains(.page(page)) == nil {
      throw .notOnStack("params.page: there is no page \(page.quoted) in the session")
    }
    let client = Client(
      id: lastClient + 1, page: hello.page, software: hello.software, channel: channel,
      limits: settings.limits)
    try hosts.register(
      hello.hosts, for: client.id, limits: settings.limits, router: routes.current())
    add(client)
    if !hello.hosts.isEmpty { followLinks() }
    return (client.id, welcome(client))
  }

  /// Adds the only member of a session that ends with its socket.
  func addAnonymousClient(channel: any MessageChannel) -> ClientID {
    let client = Client(id: lastClient + 1, page: nil, channel: channel, limits: settings.limits)
    add(client)
    return client.id
  }

  private func add(_ client: Client) {
    lastClient = client.id
    clients[client.id] = client
    tell(
      client.id == 1 ? .sessionOpened : .sessionJoined, ["client": .string(client.name)])
  }

  private func welcome(_ client: Client) -> Value {
    [
      "session": .string(id), "client": .string(client.name), "token": .string(client.token),
      "joinToken": .string(joinToken), "epoch": .string(epoch),
      "protocol": .string(BridgeSettings.protocolVersion),
      "server": [
        "name": .string(BridgeSettings.serverName),
        "version": .string(BridgeSettings.serverVersion),
      ],
      "limits": settings.limits.value, "table": ["version": .string(settings.tableVersion)],
      "capabilities": [],
    ]
  }

  /// Takes a member out: what it waits for ends, what waits for it fails, its pages fail.
  ///
  /// The session ends with its last member. `connectionGoesOn` when the member's connection is still there to take
  /// the answers to its calls.
  func removeClient(_ id: ClientID, connectionGoesOn: Bool = false) {
    guard let client = clients.removeValue(forKey: id) else { return }
    lastSender = nil
    if !connectionGoesOn { client.channel = nil }
    operations.isHeld = true
    hosts.removeAll(of: id)
    for number in client.calls.drain() + client.drainSilent() { stop(number, .callerGone) }
    client.channel = nil
    failPages(of: client)
    for request in client.pending.drain() {
      request.timeout?.cancel()
      request.completion(.failure(.unanswered(.gone(during: request.method))))
    }
    operations.isHeld = false
    subscriptionsChanged()
    tell(.sessionLeft, ["client": .string(client.name)])
    if clients.isEmpty { end() }
    runOperations()
  }

  private func end() {
    hasEnded = true
    perform(.end(outcome: .cancelled(message: "The session ended")))
    for call in Array(calls.values) { stop(call.number, .callerGone) }
    tell(.sessionClosed, [:])
  }
}

// MARK: Messages in

extension Session {
  /// Takes what one member sent.
  func receive(_ incoming: Incoming, from id: ClientID) {
    guard let client = sender(id) else { return }
    switch incoming {
    case .message(let message): handle(message, client)
    case .malformed(let error):
      writer.error(.null, error)
      send(to: client)
    case .batch(let messages):
      let batch = BatchReply(messages)
      // A notification among them may have closed the client's session: what follows has nobody to act for.
      for (position, message) in messages.enumerated() where clients[id] != nil {
        handle(message, client, batch, position)
      }
    }
  }

  /// The member that sends. Messages come in runs, so the last one is looked at first.
  private func sender(_ id: ClientID) -> Client? {
    if let lastSender, lastSender.id == id { return lastSender }
    lastSender = clients[id]
    return lastSender
  }

  private func handle(
    _ message: Message, _ client: Client, _ batch: BatchReply? = nil, _ position: Int = 0
  ) {
    switch message {
    case .request(let request):
      observe(request, client)
      let origin = Origin(
        client: client, id: request.id, batch: batch, position: position,
        method: CallMeter.method(request.method))
      switch answer(request, origin) {
      case .result(let value): reply(.success(value), to: origin)
      case .failure(let error): reply(.failure(error), to: origin)
      case .later: break
      }
    case .notification(let notification): take(notification, client)
    case .response(let response): complete(response, client)
    case .invalid(let id, let error):
      meter.begin()
      client.note = nil
      let origin = Origin(
        client: client, id: id, batch: batch, position: position, method: CallMeter.method(""))
      reply(.failure(error), to: origin)
    }
  }

  private func complete(_ response: Response, _ client: Client) {
    guard let request = client.pending.take(response.id) else { return }
    request.timeout?.cancel()
    request.completion(response.result.mapError(RequestFailure.answered))
  }
}

// MARK: Messages out

extension Session {
  /// Answers one request, at once or in its batch. `mark` is that of a call that did not end at once.
  func reply(_ result: Result<Value, RPCError>, to origin: Origin, _ mark: CallMark? = nil) {
    record(result, of: origin, mark)
    guard !origin.isSilent else { return }
    let inBatch = origin.batch != nil
    writer.answer(origin.id, result, inBatch: inBatch)
    let limit = settings.limits.maxAnswer - (origin.batch?.size ?? 0)
    if writer.bytes.count > limit {
      writer.error(
        origin.id,
        RPCError(
          .tooLarge, "The answer has \(writer.bytes.count) bytes, more than \(limit)",
          data: ["limit": .integer(Int64(settings.limits.maxAnswer))]), inBatch: inBatch)
    }
    guard let batch = origin.batch else { return send(to: origin.client) }
    if let whole = batch.answer(origin.position, with: writer.bytes) {
      origin.client.channel?.send(whole.span.bytes, as: .text)
    }
  }

  /// Sends a notification. One whose params nest too deep to be written cannot be sent and is not.
  func notify(_ client: Client, _ method: String, _ params: Value) {
    guard (try? writer.notification(method, params)) != nil else { return }
    send(to: client)
  }

  /// Sends a request. `completion` is called exactly once, on the session: with the answer, or with 2504 when the
  /// client is gone, or has not answered within `timeout`; 2413 when the params nest too deep to be written.
  @discardableResult
  func request(
    _ client: Client, _ method: String, _ params: Value, timeout: Duration? = nil,
    progress: ((Value) -> Void)? = nil,
    completion: @escaping (Result<Value, RequestFailure>) -> Void
  ) -> RequestID? {
    let pending = PendingRequest(method: method, progress: progress, completion: completion)
    let id: RequestID
    do {
      id = try client.pending.add(pending)
    } catch {
      // A host that never answers is gone for all that it is asked: its pages must not stay.
      client.channel?.close(.slowConsumer, "\(client.pending.count) requests were not answered")
      completion(.failure(.unanswered(RPCError(.hostAbsent, "The host does not answer"))))
      return nil
    }
    do {
      try writer.request(id, method, params)
    } catch {
      _ = client.pending.take(id)
      completion(
        .failure(.unanswered(RPCError(.tooLarge, "The host cannot be asked: \(error)"))))
      return nil
    }
    if let timeout {
      let clientID = client.id
      pending.timeout = loop.schedule(after: timeout) { [weak self] in
        self?.assumeIsolated { $0.requestTimedOut(id, clientID) }
      }
    }
    send(to: client)
    return id
  }

  /// Tells a client that the answer to a request is no longer wanted. The request still completes with what it answers.
  func cancelRequest(_ id: RequestID, _ client: Client) {
    notify(client, "$/cancelRequest", ["id": id.value])
  }

  private func requestTimedOut(_ id: RequestID, _ clientID: ClientID) {
    guard let client = clients[clientID], let request = client.pending.take(id) else { return }
    cancelRequest(id, client)
    tellSilent(client, request.method)
    request.completion(
      .failure(
        .unanswered(RPCError(.hostAbsent, "The host did not answer \(request.method) in time"))))
  }

  private func send(to client: Client) {
    client.channel?.send(writer.bytes.span.bytes, as: .text)
  }
}
