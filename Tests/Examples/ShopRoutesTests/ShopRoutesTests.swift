import ShopRoutes
import Testing
import Waybridge
import WaybridgeClient

/// Chooses an address on its own, and answers for its page.
private actor Chooser: PageHost {
  private(set) var shown: [BridgeClient.HostedPage] = []
  private var waiting: [CheckedContinuation<BridgeClient.HostedPage, Never>] = []

  func open(_ page: BridgeClient.HostedPage) {
    shown.append(page)
    while let next = waiting.popLast() { next.resume(returning: page) }
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) {}

  func call(_ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage) -> Value {
    .string("\(call.method) to \(call.params["to"]?.string ?? "")")
  }

  func next() async -> BridgeClient.HostedPage {
    if let last = shown.last { return last }
    return await withCheckedContinuation { waiting.append($0) }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct ShopRoutesTests {
  private let address: Value = ["id": "a2", "city": "Ulm", "note": nil]

  /// Runs a server, and a client that shows its pages.
  private func serve(
    _ body: (BridgeServer, BridgeClient, Chooser) async throws -> Void
  ) async throws {
    let router = Router()
    try router.task(Routes.cartAdd) { call in
      ["count": call.params["deliverTo"] == nil ? 1 : 2]
    }
    try router.task(Routes.order) { call in
      // The same calls, in the server.
      let chosen = try await call.navigator.open(.addressSelect(city: "Ulm"))
      guard let address = chosen.data else { return .null }
      let item = call.params["item"]?.string ?? ""
      let cart = try await call.navigator.invoke(.cartAdd(item: item, deliverTo: address))
      return .string("\(cart.count) to \(address.city)")
    }
    let (listening, told) = AsyncStream.makeStream(of: BridgeServerAddress.self)
    let server = BridgeServer(
      router: router, configuration: BridgeConfiguration(port: 0),
      onListening: { told.yield($0) })
    let running = Task { try await server.run() }
    defer { running.cancel() }
    for await bound in listening {
      let chooser = Chooser()
      let client = try await BridgeClient.connect(
        to: "ws://127.0.0.1:\(bound.port)/bridge",
        session: .init(name: "app", version: "1.0", hosts: [.pages(scheme: "native", chooser)]))
      try await body(server, client, chooser)
      await client.close()
      return
    }
  }

  @Test func aPageGivesItsTypeBack() async throws {
    try await serve { _, client, chooser in
      async let opened = client.open(.addressSelect(country: "de/at", city: "Ulm", sort: .nearest))
      let page = await chooser.next()
      #expect(page.uri == "native://address/select/de%2Fat")
      #expect(page.params == ["city": "Ulm", "sort": "nearest"])
      #expect(
        try await client.call(page: page.id, .addressSelectScroll(to: "end")) == "scroll to end")
      try await client.finish(PageResult(address), page: page.id)
      let outcome = try await opened
      #expect(outcome.kind == .finished)
      #expect(outcome.data == Address(id: "a2", city: "Ulm", note: nil))
    }
  }

  @Test func decodingErrorNamesItsPath() async throws {
    try await serve { _, client, chooser in
      let opened = Task { try await client.open(.addressSelect()) }
      let page = await chooser.next()
      #expect(page.params == ["sort": "name"])
      try await client.finish(PageResult(["id": "a2", "city": 7, "note": nil]), page: page.id)
      guard case .failure(let error) = await opened.result else {
        Issue.record("a result was read that does not fit")
        return
      }
      #expect("\(error)".contains("$.city: has to be a string"))
    }
  }

  @Test func aTaskGivesItsTypeBack() async throws {
    try await serve { _, client, _ in
      let plain = try await client.invoke(.cartAdd(item: "tea"))
      #expect(plain.count == 1)
      let address = Address(id: "a", city: "Ulm", note: nil)
      let delivered = try await client.invoke(.cartAdd(item: "tea", deliverTo: address))
      #expect(delivered.count == 2)
    }
  }

  @Test func theServerCallsInTheSameWay() async throws {
    try await serve { _, client, chooser in
      async let ordered = client.invoke(.order(item: "tea"))
      try await client.finish(PageResult(address), page: await chooser.next().id)
      #expect(try await ordered == "2 to Ulm")
    }
  }

  @Test func eventsHaveTheirType() async throws {
    try await serve { server, client, _ in
      var events = try await client.events(of: .cartChanged).makeAsyncIterator()
      try await server.publish(.cartChanged, CartChangedData(count: 3))
      #expect(try await events.next()?.data.count == 3)
      try await server.publish("cart.changed", ["count": "many"])
      do {
        _ = try await events.next()
        Issue.record("an event was read that does not fit")
      } catch let error as CallError {
        #expect(error.message.contains("cart.changed does not fit its type: $.count"))
      }
    }
  }
}
