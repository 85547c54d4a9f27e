import WayNavigation
import WayRouting
import WayTransport
import WayValues

extension Pages {
  /// The stored record of the stack: its pages by id, and its tabs.
  var stackRecord: ValueObject {
    var members: ValueObject = ["pages": Self.list(stack.pages)]
    members["selected"] = stack.selected.map { .integer(Int64($0)) }
    if !stack.backgroundTabs.isEmpty {
      members["beside"] = .array(
        stack.backgroundTabs.map { tab in
          ["tab": .integer(Int64(tab.tab)), "pages": Self.list(tab.pages)]
        })
    }
    return members
  }

  private static func list(_ pages: [Page]) -> Value {
    .array(
      pages.map { page in
        [
          "id": .string(page.id), "level": .integer(Int64(page.level)),
          "hasStack": .bool(page.hasStack), "style": .string(page.style.rawValue),
        ]
      })
  }

  /// Returns the stored record of a page; `nil` if the page is not on the stack.
  func record(of id: String) -> ValueObject? {
    guard let open = self[id] else { return nil }
    let page = open.page
    var members: ValueObject = [
      "uri": .string(page.uri), "pathParams": .object(page.pathParams),
      "kind": .string(page.kind), "params": .object(page.params), "exts": .object(page.exts),
      "host": .string(page.host), "caller": open.caller.record,
    ]
    members["called"] = page.otherCalledURI.map(Value.string)
    members["route"] = page.route.map(Value.string)
    members["opener"] = open.opener.map(Value.string)
    if case .client(let client) = open.hostReference {
      members["presenter"] = .integer(Int64(client))
    }
    members["chosen"] = open.chosenHost?.record
    return members
  }

  /// Restores the pages that were on the stack before a restart. Pages of Swift code belong to the
  /// previous server, so they have to end.
  mutating func restore(
    _ stackRecord: StoredRecord, pages: [String: StoredRecord], _ callers: CallerReader
  ) throws(StoredRecord.RecordDecodingError) {
    func page(_ placed: StoredRecord) throws(StoredRecord.RecordDecodingError) -> Page {
      let id = try placed.string("id")
      guard let record = pages[id] else { throw placed.typeMismatch("id", "stored page") }
      return Page(
        id: id, uri: try record.string("uri"), calledURI: record["called"]?.string,
        route: record["route"]?.string, pathParams: try record.object("pathParams"),
        kind: try record.string("kind"),
        style: try placed.enumValue("style"), params: try record.object("params"),
        exts: try record.object("exts"), host: try record.string("host"),
        level: Int(clamping: try placed.integer("level")),
        hasStack: placed["hasStack"]?.bool ?? true)
    }
    func list(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) -> [Page] {
      try record.records("pages").map { (placed) throws(StoredRecord.RecordDecodingError) in
        try page(placed)
      }
    }
    var backgroundTabs: [(tab: Int, pages: [Page])] = []
    if stackRecord["beside"] != nil {
      for tab in try stackRecord.records("beside") {
        backgroundTabs.append((Int(clamping: try tab.integer("tab")), try list(tab)))
      }
    }
    let selected = stackRecord["selected"]?.integer.map { Int(clamping: $0) }
    let restored = NavigationStack(
      try list(stackRecord), selected: selected, backgroundTabs: backgroundTabs)
    for page in restored.allPages {
      guard let record = pages[page.id] else { continue }
      let charge: ByteBudget.Charge
      do { charge = try self.charge(page) } catch {
        throw record.typeMismatch(page.id, "page within the limits: \(error.message)")
      }
      restore(
        page, at: record["presenter"]?.integer.map { .client(Int(clamping: $0)) } ?? .client(0),
        by: try callers.caller(try record.record("caller")),
        try record["chosen"].map { (value) throws(StoredRecord.RecordDecodingError) in
          try ChosenHost(StoredRecord(value, "chosen"))
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

  fileprivate convenience init(_ record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    let definition: SessionHostDefinition
    do {
      definition = try SessionHostDefinition(
        record["definition"] ?? .null, path: "", maxPatterns: .max)
    } catch {
      throw record.typeMismatch("definition", "host: \(error.message)")
    }
    self.init(
      SessionHosts.RegisteredHost(
        definition: definition, client: Int(clamping: try record.integer("client"))),
      pattern: record["pattern"]?.string, captures: try record.object("captures"))
  }
}
