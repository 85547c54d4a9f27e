import Testing
import WayShell
import WayValues

@Suite struct FormFieldTests {
  private func field(_ schema: Value, isRequired: Bool = true) -> FormField {
    FormField("it", schema, isRequired: isRequired)
  }

  @Test(
    arguments: [
      (["type": "string"], "tea", "tea"), (["type": "string"], "7", "7"),
      (["type": "integer"], "-7", -7), (["type": "number"], "7", 7),
      (["type": "boolean"], "yes", true), (["type": "boolean"], "2", false),
      (["type": "string", "enum": ["S", "M"]], "M", "M"),
      (["type": "string", "enum": ["S", "M"]], "2", "M"),
      (["type": "integer", "enum": [3, 2]], "2", 2),
      (["type": "array"], "[1]", [1]), (["type": "object"], #"{"a": null}"#, ["a": nil]),
      (["type": "string", "default": "x"], "", "x"), (["type": "string"], "", ""),
      (["type": ["string", "null"], "minLength": 1], "", nil),
    ] as [(Value, String, Value)])
  func convertsValidInput(schema: Value, text: String, value: Value) throws {
    #expect(try field(schema).value(of: text) == value)
  }

  @Test(
    arguments: [
      (["type": "string", "minLength": 1], ""), (["type": "string", "maxLength": 2], "tea"),
      (["type": "integer"], "1.5"), (["type": "integer", "minimum": 1], "0"),
      (["type": "integer"], "99999999999999999999"), (["type": "number", "maximum": 90], "91"),
      (["type": "number"], "nan"), (["type": "boolean"], "perhaps"), (["type": "boolean"], "3"),
      (["type": "string", "enum": ["S"]], "0"), (["type": "array"], "[1,]"),
      (["type": "integer"], ""),
    ] as [(Value, String)])
  func rejectsInvalidInputWithHint(schema: Value, text: String) {
    let field = field(schema)
    let fault = #expect(throws: FormField.InvalidInput.self) { try field.value(of: text) }
    #expect(fault?.text.hasPrefix("it ") == true)
  }

  @Test func acceptsEmptyOptionalField() throws {
    #expect(try field(["type": "integer"], isRequired: false).value(of: "") == nil)
  }

  @Test func hintListsBoundsAndChoices() {
    #expect(field(["type": "integer", "minimum": 1, "maximum": 99]).hint == "an integer; 1 to 99")
    #expect(
      field(["type": "string", "maxLength": 9], isRequired: false).hint
        == "text; at most 9 characters; may be empty")
    #expect(
      field(["type": "string", "enum": ["S", "M"], "default": "M"]).hint
        == "1 S, 2 M; empty for M")
  }
}
