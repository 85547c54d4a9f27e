import Testing
import Waybridge

/// When a file is read again, by what the looks at it find.
struct FileWatchTests {
  private static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

  /// A letter is a state of the file, `-` is its absence.
  private static func state(_ letter: Character) -> FileStamp? {
    var stamp = stamp
    stamp.size = Int64(letter.asciiValue ?? 0)
    return letter == "-" ? nil : stamp
  }

  @Test(arguments: [
    // (the state that was read, what looks find, at which of them the file is read)
    ("a", "aaa", "..."),
    ("a", "abbb", "..!."),
    ("a", "abab", "...."),
    ("a", "abcdde", "....!."),
    ("a", "bbaa", ".!.!"),
    ("a", "bb--", ".!.!"),
    ("a", "-a-a", "...."),
    ("a", "---bb", ".!..!"),
    ("a", "-bb", "..!"),
    ("-", "---", "..."),
    ("-", "-aaa", "..!."),
  ])
  func aFileIsReadWhenTwoLooksHaveFoundTheSameNewState(
    read: Character, found: String, due: String
  ) {
    var watch = FileChangeDetector(read: Self.state(read))
    var told = ""
    for letter in found {
      let isDue = watch.isDue(Self.state(letter))
      if isDue { watch.wasRead(in: Self.state(letter)) }
      told += isDue ? "!" : "."
    }
    #expect(told == due)
  }

  @Test func aFileThatCouldNotBeReadAsItWasFoundIsReadAtTheNextLook() {
    var watch = FileChangeDetector(read: Self.state("a"))
    #expect(["b", "b", "b"].map { watch.isDue(Self.state($0)) } == [false, true, true])
  }

  @Test(arguments: [
    \FileStamp.size as WritableKeyPath & Sendable, \.modified, \.changed,
  ])
  func eachPartOfTheStateCounts(part: WritableKeyPath<FileStamp, Int64> & Sendable) {
    var other = Self.stamp
    other[keyPath: part] += 1
    var watch = FileChangeDetector(read: Self.stamp)
    #expect([watch.isDue(other), watch.isDue(other)] == [false, true])
  }

  @Test(arguments: [\FileStamp.device as WritableKeyPath & Sendable, \.inode])
  func eachPartOfWhereItIsCounts(part: WritableKeyPath<FileStamp, UInt64> & Sendable) {
    var other = Self.stamp
    other[keyPath: part] += 1
    var watch = FileChangeDetector(read: Self.stamp)
    #expect([watch.isDue(other), watch.isDue(other)] == [false, true])
  }
}
