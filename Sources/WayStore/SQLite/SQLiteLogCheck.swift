import Glibc

/// Detects a write-ahead log that is damaged.
///
/// SQLite ignores a log from its first invalid frame on, because a crash may leave an incomplete one
/// at the end. With `synchronous = FULL` that costs at most the last transaction. If more than one
/// follows, or the header is invalid, SQLite would silently forget what was committed.
///
/// Source: https://sqlite.org/fileformat2.html#walformat
struct SQLiteLogCheck {
  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// Throws ``SQLiteError`` if a log exists without its database. Must come before SQLite opens the
  /// database: SQLite deletes the log of an empty one.
  static func checkHasDatabase(_ database: String) throws(SQLiteError) {
    let log = database + "-wal"
    guard size(of: database) == 0, size(of: log) > 0 else { return }
    throw SQLiteError(
      database, "its log \(log) exists, but the file itself is missing or empty",
      advice: "restore the file from a backup, or move the log to another folder")
  }

  /// Checks the log of a database that no other process uses. Throws ``SQLiteError`` with the advice
  /// for a damaged database.
  static func check(_ database: String) throws(SQLiteError) {
    let path = database + "-wal"
    guard let file = fopen(path, "rbe") else {
      if errno == ENOENT { return }
      throw SQLiteError(path, "the file cannot be read", errno: errno)
    }
    defer { fclose(file) }
    var log = SQLiteLogReader(file)
    guard let header = log.read(headerSize) else { return }
    guard let state = LogState(header) else { throw SQLiteError(damaged: database, in: path) }
    guard log.lostTransactions(state, frameHeaderSize) < 2 else {
      throw SQLiteError(damaged: database, in: path)
    }
  }

  /// The size of a file; 0 if it is missing.
  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// The header of a log, and the checksum of everything read so far.
private struct LogState {
  let pageSize: Int
  /// The two salts, which all frames since the last reset of the log share.
  let salts: ArraySlice<UInt8>
  private let isBigEndian: Bool
  private var checksum: (UInt32, UInt32) = (0, 0)

  /// Parses a header; nil if it is invalid.
  init?(_ header: [UInt8]) {
    let magic = Self.word(header, 0, isBigEndian: true)
    guard magic & ~1 == 0x377f_0682 else { return nil }
    isBigEndian = magic & 1 == 1
    pageSize = Int(Self.word(header, 8, isBigEndian: true))
    salts = header[16..<24]
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
    add(header[..<24])
    guard hasChecksum(header, at: 24) else { return nil }
  }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    for index in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
      checksum.0 &+= Self.word(bytes, index, isBigEndian: isBigEndian) &+ checksum.1
      checksum.1 &+= Self.word(bytes, index + 4, isBigEndian: isBigEndian) &+ checksum.0
    }
  }

  func hasChecksum(_ bytes: [UInt8], at offset: Int) -> Bool {
    Self.word(bytes, offset, isBigEndian: true) == checksum.0
      && Self.word(bytes, offset + 4, isBigEndian: true) == checksum.1
  }

  private static func word<Bytes: RandomAccessCollection>(
    _ bytes: Bytes, _ offset: Int, isBigEndian: Bool
  ) -> UInt32 where Bytes.Element == UInt8, Bytes.Index == Int {
    let word = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[offset + $1]) }
    return isBigEndian ? word : word.byteSwapped
  }
}

/// Reads a log from its beginning.
private struct SQLiteLogReader {
  private let file: UnsafeMutablePointer<FILE>

  init(_ file: UnsafeMutablePointer<FILE>) { self.file = file }

  /// The next bytes; nil if there are fewer.
  mutating func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return fread(&bytes, 1, count, file) == count ? bytes : nil
  }

  /// The number of transactions that end after the first invalid frame.
  mutating func lostTransactions(_ state: LogState, _ frameHeaderSize: Int) -> Int {
    var state = state
    var lost = 0
    var isValid = true
    while let frame = read(frameHeaderSize + state.pageSize) {
      let isCurrent = frame[8..<16].elementsEqual(state.salts)
      if isValid {
        state.add(frame[..<8])
        state.add(frame[frameHeaderSize...])
        isValid = isCurrent && state.hasChecksum(frame, at: 16)
      }
      // The last frame of a transaction has the size of the database.
      let endsTransaction = frame[4..<8].contains { $0 != 0 }
      if !isValid, isCurrent, endsTransaction { lost += 1 }
    }
    return lost
  }
}
