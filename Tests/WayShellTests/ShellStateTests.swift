import Testing
import WayShell
import WayValues

@Suite struct ShellStateTests {
  private var state = ShellState()

  private func page(_ id: String, _ content: ScreenContent = .plain) -> Screen {
    Screen(id: id, kind: .page, uri: "native://\(id)", content: content)
  }

  private func list(_ values: Value...) -> ScreenContent { .list(values.map { ScreenChoice($0) }) }

  private func errorText(_ line: String, _ state: inout ShellState) -> String? {
    do throws(ShellInputCommand.InvalidCommand) {
      _ = try state.handle(line)
      return nil
    } catch {
      return error.text
    }
  }

  @Test func numberSelectsFromTopList() throws {
    var state = state
    state.show(page("p1"))
    state.show(page("p2", list("a", "b")))
    #expect(try state.handle("2") == .submit(.page, "p2", "b"))
    #expect(errorText("1", &state)?.contains("already has a response") == true)
    state.reopen("p2")
    #expect(try state.handle(" 1 ") == .submit(.page, "p2", "a"))
  }

  @Test func rejectsInvalidChoices() {
    var state = state
    #expect(errorText("1", &state) == "there is no page or sheet to respond to")
    state.show(page("p1", list("a", "b")))
    for line in ["0", "3", "-1", "x", "bakc"] {
      #expect(errorText(line, &state)?.hasPrefix("\(line): type 1 to 2") == true, "\(line)")
    }
    #expect(state.isAwaitingInput)
  }

  @Test func formIsFilledLineByLine() throws {
    var state = state
    let schema: Value = [
      "type": "object", "required": ["name", "count"],
      "properties": [
        "name": ["type": "string"], "count": ["type": "integer"], "note": ["type": "string"],
      ],
    ]
    state.show(page("p1", ScreenContent(known: nil, params: [:], result: schema)))
    #expect(try state.handle("Tea for two") == .redraw)
    #expect(errorText("many", &state) == "count must be an integer")
    #expect(try state.handle("up") == .redraw)
    // A word that is a command.
    #expect(try state.handle("= back") == .redraw)
    #expect(try state.handle("2") == .redraw)
    #expect(try state.handle("") == .submit(.page, "p1", ["name": "back", "count": 2]))
    state.reopen("p1")
    #expect(
      try state.handle("strong")
        == .submit(.page, "p1", ["name": "back", "count": 2, "note": "strong"]))
  }

  @Test func sheetCoversAllPages() throws {
    var state = state
    state.show(Screen(id: "s1", kind: .sheet, uri: "action://share", content: list("mail")))
    state.show(page("p1"))
    #expect(state.top?.id == "s1")
    #expect(errorText("back", &state)?.contains("sheet") == true)
    #expect(try state.handle("progress {\"at\": 1}") == .progress("s1", ["at": 1]))
    #expect(try state.handle("cancel") == .cancel(.sheet, "s1"))
    let isHidden = state.hide("s1")
    #expect(isHidden)
    #expect(errorText("progress 1", &state)?.contains("page") == true)
    #expect(try state.handle("cancel") == .cancel(.page, "p1"))
  }

  @Test func raisedPageBecomesTopPage() {
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
      ("finish", .submit(.page, "p1", nil)), ("finish [1]", .submit(.page, "p1", [1])),
    ] as [(String, ShellState.ShellAction)])
  func parsesCommands(line: String, action: ShellState.ShellAction) throws {
    var state = state
    state.show(page("p1"))
    #expect(try state.handle(line) == action)
  }

  @Test(arguments: [
    "back 0", "back x", "tab -1", "open", "open a [1]", "open a {", "finish {", "progress", "run",
    "nonsense", "invite", "up",
  ])
  func invalidCommandChangesNothing(line: String) {
    var state = state
    state.show(page("p1"))
    #expect(errorText(line, &state) != nil)
    #expect(state.isAwaitingInput)
  }

  @Test func notesAreBounded() {
    var state = state
    for number in 0..<500 { state.addNote("\(number)") }
    #expect(state.notes.count == 100)
    #expect(state.notes.last == "499")
  }
}
