/// A file whose changes are told: by writing, by a rename over it, by symbolic links that lead
/// elsewhere (as Kubernetes swaps the folder of a secret), by its removal.
///
/// The file is looked at from time to time, since notices of the kernel (inotify) do not come for
/// network file systems. A change is told when two looks have found the same.
package struct WatchedFile: Sendable {
  package typealias Content = Result<[UInt8], FileFault>

  private let file: BoundedFile
  private var watch = FileChangeDetector(read: nil)

  /// - Parameters:
  ///   - limit: the most bytes that it may have.
  ///   - isPrivate: whether it is refused where others than its owner have access to it, see
  ///     ``BoundedFile``.
  package init(_ path: String, limit: Int = 1 << 20, isPrivate: Bool = false) {
    file = BoundedFile(path, limit: limit, isPrivate: isPrivate, isRegular: true)
  }

  package var path: String { file.path }

  /// What the file holds now; later looks tell what differs from it. Blocks, as ``look()`` does.
  /// Throws ``FileFault``.
  package mutating func read() throws(FileFault) -> [UInt8] {
    // Looked at first: what changes after it is found by a later look.
    watch.wasRead(in: FileStamp(path: path))
    return try file.read().bytes
  }

  /// What the file holds, or why it cannot be read, where it has changed since it was last read;
  /// nil where it has not, or is being written.
  package mutating func look() -> Content? {
    let found = FileStamp(path: path)
    guard watch.isDue(found) else { return nil }
    do throws(FileFault) {
      let reading = try file.read()
      // Of what changed meanwhile a later look will tell.
      guard reading.stamp == found else { return nil }
      watch.wasRead(in: found)
      return .success(reading.bytes)
    } catch {
      watch.wasRead(in: found)
      return .failure(error)
    }
  }

  /// Looks once each period, and hands over each change; ends when the task is cancelled.
  ///
  /// - Parameter pause: waits for a period, or throws to end it; `Task.sleep` where none is given.
  package mutating func watch(
    every period: Duration = .seconds(1),
    pause: (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    _ changed: (Content) async -> Void
  ) async {
    while !Task.isCancelled {
      do { try await pause(period) } catch { return }
      if let content = look() { await changed(content) }
    }
  }
}
