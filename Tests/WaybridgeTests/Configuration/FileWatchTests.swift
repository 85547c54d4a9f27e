import Testing
import Waybridge

/// When a file is read again, depending on the states that polls find.
struct FileWatchTests {
  private static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

  /// Returns the file state that a letter stands for; `-` stands for a missing file.
  private static func state(_ letter: Character) -> FileStamp? {
    var stamp = stamp
    stamp.size = Int64(letter.asciiValue ?? 0)
    return letter == "-" ? nil : stamp
  }

  @Test(arguments: [
    // (the state that was read, the states that polls find, the polls at which the file is read)
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
  func readsAfterTwoPollsFindTheSameChange(
    read: Character, found: String, due: String
  ) {
    var watch = FileChangeDetector(lastRead: Self.state(read))
    var decisions = ""
    for letter in found {
      let isDue = watch.isReadDue(Self.state(letter))
      if isDue { watch.recordRead(of: Self.state(letter)) }
      decisions += isDue ? "!" : "."
    }
    #expect(decisions == due)
  }

  @Test func retriesAtTheNextPollUntilMarkedRead() {
    var watch = FileChangeDetector(lastRead: Self.state("a"))
    #expect(["b", "b", "b"].map { watch.isReadDue(Self.state($0)) } == [false, true, true])
  }

  @Test(arguments: [
    \FileStamp.size as WritableKeyPath & Sendable, \.modified, \.changed,
  ])
  func detectsAChangeInSizeOrTimes(part: WritableKeyPath<FileStamp, Int64> & Sendable) {
    var other = Self.stamp
    other[keyPath: part] += 1
    var watch = FileChangeDetector(lastRead: Self.stamp)
    #expect([watch.isReadDue(other), watch.isReadDue(other)] == [false, true])
  }

  @Test(arguments: [\FileStamp.device as WritableKeyPath & Sendable, \.inode])
  func detectsAChangeInDeviceOrInode(part: WritableKeyPath<FileStamp, UInt64> & Sendable) {
    var other = Self.stamp
    other[keyPath: part] += 1
    var watch = FileChangeDetector(lastRead: Self.stamp)
    #expect([watch.isReadDue(other), watch.isReadDue(other)] == [false, true])
  }
}
