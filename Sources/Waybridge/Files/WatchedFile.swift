/// A file that is watched for changes: by writing, by a rename over it, by its removal, and by
/// symbolic links with a new target (as Kubernetes swaps the folder of a secret).
///
/// The file is polled, since kernel notifications (inotify) do not work for network file systems. A
/// change is reported when two polls find the same state.
package struct WatchedFile: Sendable {
  package typealias FileReadResult = Result<[UInt8], FileError>

  private let file: BoundedServerFile
  private var detector = FileChangeDetector(lastRead: nil)

  /// - Parameters:
  ///   - limit: the largest size in bytes.
  ///   - isPrivate: whether the file is rejected if users other than its owner have access to it,
  ///     see ``BoundedServerFile``.
  package init(_ path: String, limit: Int = 1 << 20, isPrivate: Bool = false) {
    file = BoundedServerFile(path, limit: limit, isPrivate: isPrivate, isRegular: true)
  }

  package var path: String { file.path }

  /// Reads the file; later polls report differences from it. Blocks, as ``poll()`` does. Throws
  /// ``FileError``.
  package mutating func read() throws(FileError) -> [UInt8] {
    // The state is recorded first, so that a later poll finds a change during the read.
    detector.recordRead(of: FileStamp(path: path))
    return try file.read().bytes
  }

  /// Returns the file's content, or the error, if it has changed since the last read; nil if it has
  /// not, or is being written.
  package mutating func poll() -> FileReadResult? {
    let found = FileStamp(path: path)
    guard detector.isReadDue(found) else { return nil }
    do throws(FileError) {
      let reading = try file.read()
      // The file changed meanwhile; a later poll reports it.
      guard reading.stamp == found else { return nil }
      detector.recordRead(of: found)
      return .success(reading.bytes)
    } catch {
      detector.recordRead(of: found)
      return .failure(error)
    }
  }

  /// Polls once each period and passes each change to `changed`. Ends when the task is cancelled.
  ///
  /// - Parameter pause: waits for a period, or throws to end; by default `Task.sleep`.
  package mutating func watch(
    every period: Duration = .seconds(1),
    pause: (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    _ changed: (FileReadResult) async -> Void
  ) async {
    while !Task.isCancelled {
      do { try await pause(period) } catch { return }
      if let content = poll() { await changed(content) }
    }
  }
}
