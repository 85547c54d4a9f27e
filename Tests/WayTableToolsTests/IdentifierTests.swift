import Testing
import WayTableTools

struct IdentifierTests {
  @Test(
    "makes predictable lower camel case names",
    arguments: [
      ("address", "address"), ("addressList", "addressList"), ("address-list", "addressList"),
      ("cart.changed", "cartChanged"), ("URL", "url"), ("URLList", "urlList"), ("iOS", "iOS"),
      ("ID2", "id2"), ("404", "route404"), ("2nd", "route2nd"), ("", "route"), ("*/", "route"),
      ("default", "default_"), ("Default", "default_"), ("😀", "u1F600"), ("a😀b", "aU1F600B"),
      ("Straße", "straße"), ("地址", "地址"), ("e\u{301}", "eU301"), ("é", "é"),
      ("\u{202E}abc", "abc"), ("a\u{2028}b", "aB"), ("\u{3164}", "route"), ("a${b}", "aB"),
      ("𝒜", "u1D49C"), ("“x”", "x"), ("_a_", "a"), ("½", "uBD"),
    ])
  func makesLowerCamelCaseNames(text: String, expected: String) {
    var names = CodeIdentifiers(.lower, reserved: ["default"], allowsNonASCIILetters: true)
    #expect(names.name(for: text, "route") == expected)
  }

  @Test(
    "makes type names and encodes letters beyond ASCII",
    arguments: [
      ("address", "Address"), ("address result", "AddressResult"), ("404", "Type404"),
      ("", "Type"), ("地址", "U5730U5740"), ("é", "UE9"), ("string", "String_"),
    ])
  func makesTypeNames(text: String, expected: String) {
    var names = CodeIdentifiers(.upper, reserved: ["String"], allowsNonASCIILetters: false)
    #expect(names.name(for: text, "type") == expected)
  }

  @Test("the first of several equal names keeps it, the others are numbered")
  func numbersConflictingNames() {
    var names = CodeIdentifiers(.lower, reserved: ["in"], allowsNonASCIILetters: true)
    let texts = ["a b", "aB", "a-b", "aB2", "in", "in", "in_", "é", "é"]
    #expect(
      texts.map { names.name(for: $0, "route") }
        == ["aB", "aB2", "aB3", "aB22", "in_", "in2", "in3", "é", "é2"])
  }
}
