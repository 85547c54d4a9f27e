import Testing
import WayNavigation
import WayRPC
import WayValues

@testable import WaySession

/// The records in which sessions are stored.
struct SessionSnapshotTests {
  /// The parts of a session as the server has stored them at first. Every later version reads them.
  private static let storedParts: Value = [
    "session": [
      "joinToken": "EqRRWuHElfQA0NQWeolrzT", "epoch": "dM0oJEx1nDEO",
      "identity": ["groups": ["staff"], "user": "anna", "claims": ["n": 1], "expires": 2000],
    ],
    "stack": [
      "pages": [["id": "p2", "level": 1, "hasStack": false, "style": "present"]], "selected": 1,
      "beside": [
        ["tab": 0, "pages": [["id": "p1", "level": 0, "hasStack": true, "style": "push"]]]
      ],
    ],
    "page/p1": [
      "uri": "native://address/list?x=1", "pathParams": [:], "kind": "page", "params": ["x": "1"],
      "exts": [:], "host": "c-1", "caller": ["identity": ["groups": []], "isGuest": false],
    ],
    "page/p2": [
      "uri": "native://order/7", "pathParams": ["id": "7"], "kind": "page", "params": ["id": "7"],
      "exts": ["animated": false], "host": "c-1",
      "caller": [
        "identity": ["groups": []], "isGuest": true, "origin": "https://shop.example",
        "address": "127.0.0.1",
        "client": ["id": "c-2", "name": "web", "version": "1", "page": "p1"],
      ],
      "called": "x://alias", "route": "order", "opener": "p1", "presenter": 1,
      "chosen": [
        "client": 1, "definition": ["patterns": ["native://order/:id"], "kind": "page"],
        "captures": ["id": "7"], "pattern": "native://order/:id",
      ],
    ],
    "invitations": [
      "open": [
        [
          "token": "t-1", "hosts": ["web"], "groups": ["staff"],
          "inviter": [
            "identity": ["groups": ["staff"]], "isGuest": false, "client": ["id": "c-1"],
          ],
          "routes": ["share"], "uses": 3, "expiresAt": 2000, "returns": [1000], "page": "p1",
          "revoked": true,
        ]
      ]
    ],
    "links": [
      "waiting": [
        [
          "uri": "web://x/1", "params": ["q": [1, 2]], "exts": ["e": 1], "style": "root",
          "key": "k",
          "caller": ["identity": ["groups": []], "isGuest": false], "keyOwner": "p1",
          "to": ["user": "anna"],
        ]
      ]
    ],
    "client/1": [
      "name": "c-1", "tokens": ["r-1", "r-2"], "identity": ["groups": ["staff"]],
      "software": ["name": "shell", "version": "2.1", "platform": "linux"],
      "hosts": [["scheme": "native", "kind": "page"]], "topics": ["page.*"], "doubtful": 7,
      "definesIdentity": true, "origin": "https://shop.example", "address": "127.0.0.1",
    ],
    "at/1": [
      "received": 2, "acknowledged": 1, "sent": 3, "isNumbering": true, "calls": [], "batches": [],
      "answered": [["id": 7, "seq": 3]], "requests": [1, "a"],
    ],
    "client/2": [
      "name": "c-2", "tokens": ["r-3"], "identity": ["groups": []], "software": [:], "hosts": [],
      "topics": [], "page": "p1", "invitation": "t-1",
    ],
    "at/2": [
      "received": 6, "acknowledged": 0, "sent": 0, "isNumbering": false,
      "calls": [
        ["id": "a", "method": "router.open", "uri": "native://order/7", "page": "p2"],
        [
          "id": 1, "method": "router.invoke", "params": ["uri": "action://a", "key": "k"],
          "batch": 6, "position": 1,
        ],
      ],
      "batches": [["number": 6, "answers": [false, true, "{}"]]], "answered": [], "requests": [],
    ],
    "frame/1/00000000000000000002": ["jsonrpc": "2.0", "seq": 2, "id": 1, "result": nil],
    "frame/1/00000000000000000003": ["jsonrpc": "2.0", "seq": 3, "id": 7, "result": nil],
    "key//k%202": [
      "request": ["method": "router.invoke", "target": "action://echo", "params": [:]],
      "ageMs": 5, "used": 1, "result": ["value": nil],
    ],
    "key/p1/k3": [
      "request": ["method": "router.invoke", "target": "action://fail", "params": [:]],
      "ageMs": 5, "used": 2,
      "result": ["error": ["code": 2599, "message": "No", "data": ["n": 1]]],
    ],
    "key//k4": [
      "request": ["method": "router.invoke", "target": "action://hosted/7", "params": ["a": 1]],
      "asked": ["client": 1, "id": 2, "method": "task.run", "seq": 3],
    ],
    "key//k5": [
      "request": ["method": "router.open", "target": "native://order/7", "params": [:]],
      "page": "p2",
    ],
    "key//k6": [
      "request": ["method": "router.open", "target": "native://order/7", "params": [:]],
      "ageMs": 5, "used": 3,
      "result": ["outcome": ["outcome": "finished", "code": 0, "message": "", "data": 1]],
    ],
  ]

  /// Returns the parts as bytes, after a change of their values.
  private func parts(_ change: (inout ValueObject) -> Void = { _ in }) throws -> [String: [UInt8]] {
    var parts = Self.storedParts.object ?? [:]
    change(&parts)
    return Dictionary(
      try parts.members.map { ($0.name, Array(try JSON.text($0.value).utf8)) },
      uniquingKeysWith: { $1 })
  }

  @Test func recordsKeepTheStoredForm() throws {
    let snapshot = try SessionSnapshot(try parts())
    var written: ValueObject = [:]
    func write(_ part: SessionPart, _ record: (some Encodable)?) {
      if let record { written[part.name] = RecordCoder.value(of: record) }
    }
    write(.session, snapshot.session)
    write(.stack, snapshot.stack)
    write(.invitations, snapshot.invitations)
    write(.deepLinks, snapshot.deepLinks)
    for (id, record) in snapshot.pages { write(.page(id), record) }
    for (key, record) in snapshot.idempotencyKeys { write(.idempotencyKey(key), record) }
    for client in snapshot.clients {
      write(.client(client.id), client.record)
      write(.clientState(client.id), client.state)
      for frame in client.frames {
        written[SessionPart.frame(last: frame.last, client.id).name] = try JSON.parse(
          frame.bytes.span.bytes)
      }
    }
    let stored = try #require(Self.storedParts.object)
    #expect(written.members.count == stored.members.count)
    for member in stored.members { #expect(written[member.name] == member.value) }
  }

  @Test(
    "a damaged part is an error that names its member",
    arguments: [
      ("at/1", "acknowledged", ["damaged"], "at/1: $.acknowledged: "),
      ("at/1", "requests", [true], "at/1: $.requests[0]: has to be a request id"),
      ("at/2", "received", -1, "at/2: $.received: "),
      ("at/2", "received", .number(Number(validated: "9223372036854775808")), "at/2: $.received: "),
      ("client/1", "name", nil, "client/1: $.name: "),
      ("page/p2", "chosen", ["client": 1, "captures": [:]], "page/p2: $.chosen.definition: "),
      ("page/p2", "caller", nil, "page/p2: $.caller: "),
      ("key//k%202", "result", [:], "key//k%202: $.result.error: is missing"),
      ("key//k6", "result", ["outcome": 1], "key//k6: $.result.outcome: is not an outcome"),
      ("links", "waiting", [["uri": "a:1"]], "links: $.waiting[0].params: is missing"),
      ("session", "epoch", 1, "session: $.epoch: "),
    ] as [(String, String, Value, String)])
  func damagedPart(_ part: String, _ member: String, _ value: Value, _ message: String) throws {
    let damaged = try parts { parts in
      var record = parts[part]?.object ?? [:]
      record[member] = value
      parts[part] = .object(record)
    }
    let error = #expect(throws: RecordDecodingError.self) { try SessionSnapshot(damaged) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("session", "the part \"session\" is missing"), ("at/2", "the part \"at/2\" is missing"),
  ])
  func missingPart(_ part: String, _ message: String) throws {
    let incomplete = try parts { $0[part] = nil }
    let error = #expect(throws: RecordDecodingError.self) { try SessionSnapshot(incomplete) }
    #expect(error?.description == message)
  }

  /// A larger number would leave none for later messages.
  @Test func numbersOfMessagesAreLimited() throws {
    #expect(RecordCoder.value(of: MessageNumber(.max)) == .integer(.max))
    let frame = SessionPart.frame(last: .max, 1).name
    let error = #expect(throws: RecordDecodingError.self) {
      try SessionSnapshot(try parts { $0[frame] = [:] })
    }
    #expect(error?.description == "the part \"\(frame)\" is unknown")
  }

  @Test func infoForOtherServersKeepsItsForm() throws {
    let value: Value = [
      "id": "s-1", "identity": ["groups": [], "user": "anna"],
      "clients": [["id": "c-1", "name": "shell"]],
      "pages": [
        [
          "id": "p1", "uri": "native://a", "pathParams": [:], "kind": "page", "style": "push",
          "params": ["n": 1], "exts": [:], "host": "c-1", "level": 0, "hasStack": true,
        ]
      ],
    ]
    let info = try RecordCoder.decode(SessionInfoRecord.self, from: value, "session").info
    #expect(info.pages.map(\.uri) == ["native://a"] && info.clients.map(\.name) == ["shell"])
    #expect(RecordCoder.value(of: SessionInfoRecord(info)) == value)
  }

  @Test(
    arguments: [
      (.session, "session"), (.stack, "stack"), (.invitations, "invitations"),
      (.deepLinks, "links"), (.page("p7"), "page/p7"), (.client(1), "client/1"),
      (.clientState(12), "at/12"), (.frame(last: 3, 1), "frame/1/00000000000000000003"),
      (.frame(last: .max, 2), "frame/2/18446744073709551615"),
      (.idempotencyKey(.init(owner: nil, text: "a b/%")), "key//a%20b%2F%25"),
      (.idempotencyKey(.init(owner: "p/1", text: "k")), "key/p%2F1/k"),
    ] as [(SessionPart, String)])
  func namesOfParts(_ part: SessionPart, _ name: String) {
    #expect(part.name == name)
    #expect(SessionPart(name: name) == part)
  }

  @Test(arguments: [
    "", "/", "sessions", "session/1", "client/", "client/01", "client/x", "at/+1", "frame/1/3",
    "frame/1", "frame/x/00000000000000000003", "key/a", "key//%zz", "key//%2f", "unknown/1",
  ])
  func namesOfNoParts(_ name: String) { #expect(SessionPart(name: name) == nil) }

  @Test func keysAreComparedByTheirBytes() {
    let keys = ["caf\u{E9}", "cafe\u{301}"].map {
      ScopedKey(owner: nil, text: $0)
    }
    #expect(keys[0] != keys[1] && Set(keys).count == 2)
    let requests = keys.map { IdempotentRequest(method: "m \($0.text)", target: "", params: [:]) }
    #expect(requests[0] != requests[1])
    let pushes = keys.map {
      SessionPushKeys.PushKey(owner: "app", audience: .all, text: $0.text)
    }
    #expect(Set(pushes).count == 2)
    #expect(keys.map { SessionPart.idempotencyKey($0).name }.allSatisfy { $0.contains("%C") })
  }
}
