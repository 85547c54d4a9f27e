import WayNavigation
import WayRouting
import WayTransport
import WayValues

// What is kept of the pages.
extension Pages {
  /// The pages on the stack, by their ids; and the tabs.
  var stackRecord: ValueObject {
    var members: ValueObject = ["pages": Self.list(stack.pages)]
    members["selected"] = stack.selected.map { .integer(Int64($0)) }
    if !stack.beside.isEmpty {
      members["beside"] = .list(
        stack.beside.map { tab in
          ["tab": .integer(Int64(tab.tab)), "pages": Self.list(tab.pages)]
        })
    }
    return members
  }

  private static func list(_ pages: [Page]) -> Value {
    .list(
      pages.map { page in
        [
          "id": .string(page.id), "level": .integer(Int64(page.level)),
          "hasStack": .bool(page.hasStack), "style": .string(page.style.rawValue),
        ]
      })
  }

  /// One page; nil where it is not on the stack.
  func record(of id: String) -> ValueObject? {
    guard let open = self[id] else { return nil }
    let page = open.page
    var members: ValueObject = [
      "uri": .string(page.uri), "pathParams": .object(page.pathParams),
      "kind": .string(page.kind), "params": .object(page.params), "exts": .object(page.exts),
      "host": .string(page.host), "caller": open.caller.record,
    ]
    members["route"] = page.route.map(Value.string)
    members["opener"] = open.opener.map(Value.string)
    if case .client(let client) = open.presenter {
      members["presenter"] = .integer(Int64(client))
    }
    members["chosen"] = open.chosen?.record
    return members
  }

  /// Puts the pages on the stack that were there in another life. Those that Swift code showed are
  /// the server's no more: they are to end.
  mutating func restore(
    _ stackRecord: Record, pages: [String: Record], _ callers: CallerReader
  ) throws(Record.Fault) {
    func page(_ placed: Record) throws(Record.Fault) -> Page {
      let id = try placed.string("id")
      guard let record = pages[id] else { throw placed.fault("id", "page that was kept") }
      return Page(
        id: id, uri: try record.string("uri"), route: record["route"]?.string,
        pathParams: try record.object("pathParams"), kind: try record.string("kind"),
        style: try placed.case("style"), params: try record.object("params"),
        exts: try record.object("exts"), host: try record.string("host"),
        level: Int(clamping: try placed.integer("level")),
        hasStack: placed["hasStack"]?.bool ?? true)
    }
    func list(_ record: Record) throws(Record.Fault) -> [Page] {
      try record.records("pages").map { (placed) throws(Record.Fault) in try page(placed) }
    }
    var beside: [(tab: Int, pages: [Page])] = []
    if stackRecord["beside"] != nil {
      for tab in try stackRecord.records("beside") {
        beside.append((Int(clamping: try tab.integer("tab")), try list(tab)))
      }
    }
    let selected = stackRecord["selected"]?.integer.map { Int(clamping: $0) }
    let restored = NavigationStack(try list(stackRecord), selected: selected, beside: beside)
    for page in restored.allPages {
      guard let record = pages[page.id] else { continue }
      let charge: ByteBudget.Charge
      do { charge = try self.charge(page) } catch {
        throw record.fault(page.id, "page that has room: \(error.message)")
      }
      restore(
        page, at: record["presenter"]?.integer.map { .client(Int(clamping: $0)) } ?? .client(0),
        by: try callers.caller(try record.record("caller")),
        try record["chosen"].map { (value) throws(Record.Fault) in
          try ChosenHost(Record(value, "chosen"))
        }, opener: record["opener"]?.string, charge)
    }
    restore(restored)
  }
}

extension ChosenHost {
  fileprivate var record: Value {
    var members: ValueObject = [
      "client": .integer(Int64(client)), "definition": host.definition.value,
      "captures": .object(captures),
    ]
    members["pattern"] = pattern.map(Value.string)
    return .object(members)
  }

  fileprivate convenience init(_ record: Record) throws(Record.Fault) {
    let definition: HostDefinition
    do {
      definition = try HostDefinition(record["definition"] ?? .null, path: "", maxPatterns: .max)
    } catch {
      throw record.fault("definition", "host: \(error.message)")
    }
    self.init(
      SessionHosts.Host(
        definition: definition, client: Int(clamping: try record.integer("client"))),
      pattern: record["pattern"]?.string, captures: try record.object("captures"))
  }
}
