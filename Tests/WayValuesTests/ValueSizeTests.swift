import Testing
import WayValues

struct ValueSizeTests {
  @Test(
    arguments: [
      (.string(String(repeating: "x", count: 1_000)), 1_000),
      (.array(Array(repeating: .null, count: 100)), 100 * MemoryLayout<Value>.size),
      (["a": ["b": .string(String(repeating: "ü", count: 50))]], 102),
    ] as [(Value, Int)])
  func `size includes the sizes of all parts`(_ value: Value, _ least: Int) {
    #expect((least...(least + 500)).contains(value.size))
  }

  @Test func `size supports deeply nested values`() {
    var value = Value.null
    for _ in 0..<10_000 { value = [value] }
    #expect(value.size > 10_000)
  }
}
