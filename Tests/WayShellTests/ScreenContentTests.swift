import Testing
import WayShell
import WayValues

@Suite struct ScreenContentTests {
  private let addressSchema: Value = [
    "type": "object", "required": ["id", "city"],
    "properties": ["id": ["type": "string"], "city": ["type": "string"]],
  ]

  private func labels(_ content: ScreenContent) -> [String]? {
    if case .list(let choices) = content { choices.map(\.label) } else { nil }
  }

  @Test func listsKnownValues() {
    let known: [Value] = [["id": "a1", "name": "Home", "city": "Bergen"], "elsewhere", 7]
    let content = ScreenContent(known: known, params: ["choices": ["x"]], result: addressSchema)
    #expect(labels(content) == ["Home, Bergen", "elsewhere", "7"])
  }

  @Test func listsChoicesGivenByOpener() {
    let content = ScreenContent(known: nil, params: ["choices": ["S", "M"]], result: nil)
    #expect(content == .list([ScreenChoice("S"), ScreenChoice("M")]))
    #expect(ScreenContent(known: [], params: ["choices": []], result: nil) == .plain)
  }

  @Test func listsValuesOfSingleRequiredChoice() {
    let channel: Value = [
      "type": "object", "required": ["channel"],
      "properties": [
        "channel": ["type": "string", "enum": ["mail", "link"]], "note": ["type": "string"],
      ],
    ]
    let content = ScreenContent(known: nil, params: [:], result: channel)
    #expect(
      content
        == .list([
          ScreenChoice(["channel": "mail"], label: "mail"),
          ScreenChoice(["channel": "link"], label: "link"),
        ]))
    let shared: Value = [
      "type": "object", "required": ["shared"], "properties": ["shared": ["type": "boolean"]],
    ]
    #expect(
      labels(ScreenContent(known: nil, params: [:], result: shared)) == [
        "shared: yes", "shared: no",
      ])
    let day: Value = ["type": "string", "enum": ["today", "tomorrow"]]
    #expect(labels(ScreenContent(known: nil, params: [:], result: day)) == ["today", "tomorrow"])
  }

  @Test func showsFormForObjectResult() throws {
    guard case .form(var form) = ScreenContent(known: nil, params: [:], result: addressSchema)
    else {
      Issue.record("no form")
      return
    }
    #expect(form.currentField?.name == "id")
    try form.fill("a1")
    #expect(form.result == nil)
    try form.fill("Ulm")
    #expect(form.result == ["id": "a1", "city": "Ulm"])
    #expect(form.currentField == nil)
    let stepped = form.stepBack()
    #expect(stepped)
    #expect(form.currentField?.name == "city")
  }

  @Test func showsOneFieldForScalarResult() throws {
    let day: Value = ["type": "string", "title": "The day", "format": "date"]
    guard case .form(var form) = ScreenContent(known: nil, params: [:], result: day) else {
      Issue.record("no form")
      return
    }
    #expect(form.currentField?.label == "The day")
    try form.fill("2026-01-31")
    #expect(form.result == "2026-01-31")
  }

  @Test func limitsListToTenThousandEntries() {
    let known = (0..<20_000).map { Value.integer($0) }
    #expect(labels(ScreenContent(known: known, params: [:], result: nil))?.count == 10_000)
  }
}
