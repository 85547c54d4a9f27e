import Testing
import WayShell
import WayValues

@Suite struct ShellStateTests {
  private var state = ShellState()

  private func page(_ id: String, _ content: Content = .plain) -> Screen {
    Screen(id: id, kind: .page, uri: "native://\(id)", content: content)
  }

  private func list(_ values: Value...) -> Content { .list(values.map { ScreenChoice($0) }) }

  private func fault(_ line: String, _ state: inout ShellState) -> String? {
    do throws(Order.Fault) {
      _ = try state.take(line)
      return nil
    } catch {
      return error.text
    }
  }

  @Test func aNumberAnswersTheListOnTop() throws {
    var state = state
    state.show(page("p1"))
    state.show(page("p2", list("a", "b")))
    #expect(try state.take("2") == .answer(.page, "p2", "b"))
    #expect(fault("1", &state)?.contains("answered already") == true)
    state.reopen("p2")
    #expect(try state.take(" 1 ") == .answer(.page, "p2", "a"))
  }

  @Test func whatIsNoChoiceIsRefused() {
    var state = state
    #expect(fault("1", &state) == "there is no page to answer")
    state.show(page("p1", list("a", "b")))
    for line in ["0", "3", "-1", "x", "bakc"] {
      #expect(fault(line, &state)?.hasPrefix("\(line): type 1 to 2") == true, "\(line)")
    }
    #expect(state.isAsking)
  }

  @Test func aFormIsFilledLineByLine() throws {
    var state = state
    let schema: Value = [
      "type": "object", "required": ["name", "count"],
      "properties": [
        "name": ["type": "string"], "count": ["type": "integer"], "note": ["type": "string"],
      ],
    ]
    state.show(page("p1", Content(known: nil, params: [:], result: schema)))
    #expect(try state.take("Tea for two") == .draw)
    #expect(fault("many", &state) == "count must be an integer")
    #expect(try state.take("up") == .draw)
    // A word of the commands' own.
    #expect(try state.take("= back") == .draw)
    #expect(try state.take("2") == .draw)
    #expect(try state.take("") == .answer(.page, "p1", ["name": "back", "count": 2]))
    state.reopen("p1")
    #expect(
      try state.take("strong")
        == .answer(.page, "p1", ["name": "back", "count": 2, "note": "strong"]))
  }

  @Test func aSheetLiesOverAllPages() throws {
    var state = state
    state.show(Screen(id: "s1", kind: .sheet, uri: "action://share", content: list("mail")))
    state.show(page("p1"))
    #expect(state.top?.id == "s1")
    #expect(fault("back", &state)?.contains("sheet") == true)
    #expect(try state.take("progress {\"at\": 1}") == .progress("s1", ["at": 1]))
    #expect(try state.take("cancel") == .cancel(.sheet, "s1"))
    let isHidden = state.hide("s1")
    #expect(isHidden)
    #expect(fault("progress 1", &state)?.contains("page") == true)
    #expect(try state.take("cancel") == .cancel(.page, "p1"))
  }

  @Test func thePageThatCameOnTopAgainIsDrawn() {
    var state = state
    for id in ["p1", "p2", "p3"] { state.show(page(id)) }
    state.raise("p1")
    #expect(state.top?.id == "p1")
    #expect(state.beneath.map(\.id) == ["p2", "p3"])
    let isHidden = state.hide("p1")
    #expect(isHidden)
    #expect(state.top?.id == "p3")
    let isKnown = state.hide("p1")
    #expect(!isKnown)
  }

  @Test(
    arguments: [
      ("back", .back(1)), ("back 3", .back(3)), ("tab 0", .tab(0)), ("stack", .stack),
      ("open native://a", .open("native://a", [:])), ("quit", .quit), ("wait", .wait),
      (#"open  native://a  {"n": 1} "#, .open("native://a", ["n": 1])),
      ("run action://a", .run("action://a", [:])), ("help", .help),
      ("invite http://a.example/#x", .invite("http://a.example/#x")),
      ("finish", .answer(.page, "p1", nil)), ("finish [1]", .answer(.page, "p1", [1])),
    ] as [(String, ShellState.Action)])
  func commands(line: String, action: ShellState.Action) throws {
    var state = state
    state.show(page("p1"))
    #expect(try state.take(line) == action)
  }

  @Test(arguments: [
    "back 0", "back x", "tab -1", "open", "open a [1]", "open a {", "finish {", "progress", "run",
    "nonsense", "invite", "up",
  ])
  func whatCannotBeCarriedOutChangesNothing(line: String) {
    var state = state
    state.show(page("p1"))
    #expect(fault(line, &state) != nil)
    #expect(state.isAsking)
  }

  @Test func notesAreBounded() {
    var state = state
    for number in 0..<500 { state.note("\(number)") }
    #expect(state.notes.count == 100)
    #expect(state.notes.last == "499")
  }
}
