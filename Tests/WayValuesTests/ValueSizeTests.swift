import Testing
import WayValues

struct ValueSizeTests {
  @Test(
    arguments: [
      (.string(String(repeating: "x", count: 1_000)), 1_000),
      (.list(Array(repeating: .null, count: 100)), 100 * MemoryLayout<Value>.size),
      (["a": ["b": .string(String(repeating: "ü", count: 50))]], 102),
    ] as [(Value, Int)])
  func `A value takes at least what its parts take`(_ value: Value, _ least: Int) {
    #expect((least...(least + 500)).contains(value.size))
  }

  @Test func `The depth of a value does not matter`() {
    var value = Value.null
    for _ in 0..<10_000 { value = [value] }
    #expect(value.size > 10_000)
  }
}
