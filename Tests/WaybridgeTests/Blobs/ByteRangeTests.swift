import Testing

@testable import Waybridge

struct ByteRangeTests {
  static let ranges: [(header: [String], size: Int, range: ByteRange)] = [
    ([], 10, .all), (["bytes=0-0"], 10, .part(0..<1)), (["bytes=2-5"], 10, .part(2..<6)),
    (["bytes=2-"], 10, .part(2..<10)), (["bytes=-3"], 10, .part(7..<10)),
    (["bytes=-30"], 10, .part(0..<10)), (["bytes=5-99"], 10, .part(5..<10)),
    (["bytes=10-"], 10, .unsatisfiable), (["bytes=10-12"], 10, .unsatisfiable),
    (["bytes=-0"], 10, .unsatisfiable), (["bytes=-1"], 0, .unsatisfiable),
    (["bytes=0-"], 0, .unsatisfiable),
    // Headers that a server may ignore.
    (["bytes=5-2"], 10, .all), (["bytes=0-1,3-4"], 10, .all), (["bytes=-"], 10, .all),
    (["bytes=a-b"], 10, .all), (["bytes=+1-2"], 10, .all), (["bytes=1"], 10, .all),
    (["items=0-1"], 10, .all), (["bytes=0-1", "bytes=2-3"], 10, .all),
    (["bytes=0-9999999999999999999"], 10, .all), (["bytes= 0-1"], 10, .all),
    (["bytes=1-2-3"], 10, .all),
  ]

  @Test(arguments: ranges)
  func `A Range header selects the bytes of RFC 9110`(
    header: [String], size: Int, range: ByteRange
  ) {
    #expect(ByteRange(header, size: size) == range)
  }
}
