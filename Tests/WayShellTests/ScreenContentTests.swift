import Testing
import WayShell
import WayValues

@Suite struct ScreenContentTests {
  private let address: Value = [
    "type": "object", "required": ["id", "city"],
    "properties": ["id": ["type": "string"], "city": ["type": "string"]],
  ]

  private func labels(_ content: Content) -> [String]? {
    if case .list(let choices) = content { choices.map(\.label) } else { nil }
  }

  @Test func whatTheAppKnowsIsAList() {
    let known: [Value] = [["id": "a1", "name": "Home", "city": "Bergen"], "elsewhere", 7]
    let content = Content(known: known, params: ["choices": ["x"]], result: address)
    #expect(labels(content) == ["Home, Bergen", "elsewhere", "7"])
  }

  @Test func whoOpensAPageMaySayWhatCanBeChosen() {
    let content = Content(known: nil, params: ["choices": ["S", "M"]], result: nil)
    #expect(content == .list([ScreenChoice("S"), ScreenChoice("M")]))
    #expect(Content(known: [], params: ["choices": []], result: nil) == .plain)
  }

  @Test func aResultOfOneRequiredChoiceIsAList() {
    let channel: Value = [
      "type": "object", "required": ["channel"],
      "properties": [
        "channel": ["type": "string", "enum": ["mail", "link"]], "note": ["type": "string"],
      ],
    ]
    let content = Content(known: nil, params: [:], result: channel)
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
      labels(Content(known: nil, params: [:], result: shared)) == ["shared: yes", "shared: no"])
    let day: Value = ["type": "string", "enum": ["today", "tomorrow"]]
    #expect(labels(Content(known: nil, params: [:], result: day)) == ["today", "tomorrow"])
  }

  @Test func anyOtherResultIsAForm() throws {
    guard case .form(var form) = Content(known: nil, params: [:], result: address) else {
      Issue.record("no form")
      return
    }
    #expect(form.current?.name == "id")
    try form.fill("a1")
    #expect(form.result == nil)
    try form.fill("Ulm")
    #expect(form.result == ["id": "a1", "city": "Ulm"])
    #expect(form.current == nil)
    let stepped = form.stepBack()
    #expect(stepped)
    #expect(form.current?.name == "city")
  }

  @Test func aResultThatIsNoObjectIsOneField() throws {
    let day: Value = ["type": "string", "title": "The day", "format": "date"]
    guard case .form(var form) = Content(known: nil, params: [:], result: day) else {
      Issue.record("no form")
      return
    }
    #expect(form.current?.label == "The day")
    try form.fill("2026-01-31")
    #expect(form.result == "2026-01-31")
  }

  @Test func ofALongListNoMoreIsKeptThanAnybodyLooksThrough() {
    let known = (0..<20_000).map { Value.integer($0) }
    #expect(labels(Content(known: known, params: [:], result: nil))?.count == 10_000)
  }
}
