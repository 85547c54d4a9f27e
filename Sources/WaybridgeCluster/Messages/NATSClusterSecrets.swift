import WayCrypto
import Waybridge

/// The secrets that the servers of a cluster share. The first one seals messages to other servers and
/// stored sessions. Each of them opens these, so that a secret can be replaced while the servers run.
struct NATSClusterSecrets: Sendable {
  /// How many secrets there may be.
  static let maxCount = 4
  /// The length of a secret's id in bytes: too few to find the secret by.
  static let idLength = 4

  /// One of the secrets.
  struct ClusterSecret: Sendable {
    /// Tells secrets apart, without revealing them.
    let id: [UInt8]
    private let key: MessageAuthenticationKey

    fileprivate init?(_ bytes: [UInt8]) {
      key = MessageAuthenticationKey(bytes)
      guard let code = key.code(of: Array("waybridge cluster secret".utf8)) else { return nil }
      id = Array(code.prefix(NATSClusterSecrets.idLength))
    }

    /// Returns the cipher for the messages of one server of a cluster; nil if memory is short.
    func cipher(forMessagesOf sender: String, in cluster: String) -> MessageCipher? {
      // A cluster's name has no zero byte.
      cipher("waybridge cluster message\0\(cluster)\0\(sender)")
    }

    /// Returns the cipher for the stored messages of a subject, which names the cluster and a
    /// session; nil if memory is short.
    func cipher(forSessionLogOn subject: String) -> MessageCipher? {
      cipher("waybridge session log\0\(subject)")
    }

    private func cipher(_ purpose: String) -> MessageCipher? {
      key.code(of: Array(purpose.utf8)).flatMap(MessageCipher.init)
    }
  }

  let all: [ClusterSecret]

  /// Parses the content of a secret file: one secret a line. Empty lines are ignored.
  init(_ bytes: [UInt8], of path: String) throws(FileError) {
    func fileError(_ reason: String) -> FileError { FileError(path: path, reason: reason) }
    let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard (1...Self.maxCount).contains(lines.count) else {
      throw fileError(
        "holds \(lines.count) secrets, but must hold 1 to \(Self.maxCount), each on one line")
    }
    var all: [ClusterSecret] = []
    for line in lines {
      guard let secret = ClusterSecret(try SharedSecret(line, of: path).bytes) else {
        throw fileError("cannot be used: memory is short")
      }
      guard !all.contains(where: { $0.id == secret.id }) else {
        throw fileError("holds the same secret twice")
      }
      all.append(secret)
    }
    self.all = all
  }

  /// The secret that seals messages and stored sessions.
  var first: ClusterSecret? { all.first }

  /// Returns the secret with an id; nil if there is none.
  func secret(withID id: [UInt8]) -> ClusterSecret? { all.first { $0.id == id } }

  /// The ids in hex, in the order of the file.
  var names: [String] { all.map(\.id.hex) }
}
