import Testing
import WayValues

struct EditDistanceTests {
  @Test(
    arguments: [
      ("", "", 0), ("a", "a", 0), ("", "ab", 2), ("list", "lists", 1), ("lits", "list", 1),
      ("adress", "address", 1), ("adrses", "address", 2), ("kitten", "sitting", 3),
      ("ca", "abc", 3), ("abcd", "badc", 2), ("ü", "u", 2), ("list", "home", 4),
    ] as [(String, String, Int)])
  func countsEditsUpToLimit(_ text: String, _ other: String, _ distance: Int) {
    let (left, right) = (Array(text.utf8), Array(other.utf8))
    for limit in 0...3 {
      let expected = distance <= limit ? distance : nil
      #expect(left[...].editDistance(to: right[...], atMost: limit) == expected)
      #expect(right[...].editDistance(to: left[...], atMost: limit) == expected)
    }
    #expect(left[...].editDistance(to: left[...], atMost: -1) == nil)
  }
}
