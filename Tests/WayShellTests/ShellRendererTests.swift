import Testing
import WayShell
import WayValues

@Suite struct ShellRendererTests {
  private static func state(_ screens: [Screen]) -> ShellState {
    var state = ShellState()
    for screen in screens { state.show(screen) }
    state.connection = "connected"
    state.session = "s-1"
    return state
  }

  private static let home = Screen(id: "p1", kind: .page, uri: "native://home", title: "Home")
  private static let addresses = Screen(
    id: "p2", kind: .page, uri: "native://address/list", title: "Addresses",
    purpose: "Lets the user pick one.", params: ["selected": "a1"],
    content: .list([ScreenChoice("Home"), ScreenChoice("Studio")]))

  @Test func drawsTopPageOverEdgesOfOthers() {
    let lines = ShellRenderer(columns: 40, rows: 14, isColoured: false)
      .lines(of: Self.state([Self.home, Self.addresses]))
    #expect(
      lines == [
        " waybridge shell │ connected │ 2 pages …",
        "┌─ Home ───────────────────────────────┐",
        "├─ Addresses ──────────────────────────┤",
        "│ native://address/list                │",
        "│ Lets the user pick one.              │",
        "│ selected: a1                         │",
        "│                                      │",
        "│ 1  Home                              │",
        "│ 2  Studio                            │",
        "│                                      │",
        "│                                      │",
        "│                                      │",
        "└─ 1 to 2, or back, cancel ────────────┘",
      ])
  }

  @Test(arguments: [(1, 1), (20, 8), (40, 12), (41, 13), (80, 24), (200, 60), (9999, 9999)])
  func everyLineFillsItsRow(columns: Int, rows: Int) {
    let hostile = String(repeating: "\u{1B}[2J茶\u{301}\u{202E}\n", count: 3000)
    let choices = (0..<300).map { ScreenChoice(.string("\($0) \(hostile)")) }
    let schema: Value = ["type": "object", "properties": [hostile: ["type": "string"], "b": [:]]]
    var screens = (0..<9).map {
      Screen(
        id: "p\($0)", kind: .page, uri: hostile, title: hostile, params: [hostile: .string(hostile)]
      )
    }
    screens.append(Screen(id: "q", kind: .page, uri: "x", content: .list(choices)))
    screens.append(
      Screen(
        id: "s", kind: .sheet, uri: hostile, title: hostile,
        content: ScreenContent(known: nil, params: [:], result: schema)))
    for count in 0...screens.count {
      var state = Self.state(Array(screens.prefix(count)))
      state.addNote(hostile)
      state.panel = count == 3 ? [hostile] : []
      let wide = min(max(columns, 20), 500)
      let lines = ShellRenderer(columns: columns, rows: rows, isColoured: false).lines(of: state)
      #expect(lines.count == min(max(rows, 8), 200) - 1)
      #expect(lines.allSatisfy { $0.columns == wide })
      #expect(lines.allSatisfy { line in !line.unicodeScalars.contains { $0.value < 0x20 } })
    }
  }

  @Test func countsHiddenListEntries() {
    let choices = (1...100).map { ScreenChoice(.integer($0)) }
    let list = Screen(id: "p", kind: .page, uri: "native://numbers", content: .list(choices))
    let lines = ShellRenderer(columns: 40, rows: 12, isColoured: false).lines(
      of: Self.state([list]))
    #expect(lines.contains { $0.contains("│ 1  1 ") })
    #expect(lines.contains { $0.contains("more") })
  }

  @Test func keepsCurrentFieldVisible() throws {
    let names = (0..<50).map { "field\($0)" }
    let schema: Value = [
      "type": "object", "required": .array(names.map(Value.string)),
      "properties": .object(ValueObject(names.map { ($0, ["type": "string"]) })),
    ]
    var state = Self.state([
      Screen(
        id: "p", kind: .page, uri: "native://form",
        content: ScreenContent(known: nil, params: [:], result: schema))
    ])
    for number in 0..<50 {
      let lines = ShellRenderer(columns: 40, rows: 12, isColoured: false).lines(of: state)
      #expect(lines.contains { $0.contains("▸ field\(number) ") }, "field \(number)")
      _ = try state.handle("x")
    }
  }

  @Test func usesColoursOnlyWhenEnabled() {
    let state = Self.state([Self.home, Self.addresses])
    let coloured = ShellRenderer(columns: 60, rows: 20, isColoured: true).lines(of: state)
    let plain = ShellRenderer(columns: 60, rows: 20, isColoured: false).lines(of: state)
    #expect(coloured.contains { $0.contains("\u{1B}[1m├─ Addresses") })
    #expect(!plain.contains { $0.contains("\u{1B}") })
    #expect(coloured.count == plain.count)
  }
}
