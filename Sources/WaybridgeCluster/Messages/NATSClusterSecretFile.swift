import WayTransport
import Waybridge

/// The secret file of a cluster, and the secrets from it that are in force. May be used on any
/// thread.
final class NATSClusterSecretFile: Sendable {
  let path: String
  private let file: BoundedServerFile
  private let current: Locked<NATSClusterSecrets>

  /// Reads a file of at most `limit` bytes; blocks meanwhile. Throws ``FileError``.
  init(_ path: String, limit: Int) throws(FileError) {
    let file = BoundedServerFile(path, limit: limit, isPrivate: true)
    self.path = path
    self.file = file
    current = Locked(try NATSClusterSecrets(try file.read().bytes, of: path))
  }

  /// The secrets that are in force.
  var secrets: NATSClusterSecrets {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Reads the file again, and leaves what is in force; blocks meanwhile. Throws ``FileError``.
  func read() throws(FileError) -> NATSClusterSecrets {
    try NATSClusterSecrets(try file.read().bytes, of: path)
  }
}
