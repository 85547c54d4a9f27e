import Waybridge

/// Valid settings of a cluster, with the content of their files.
struct NATSClusterConfiguration: Sendable {
  /// The largest size of a file in bytes.
  private static let maxFileLength = 256 << 10

  let address: NATSAddress
  let names: NATSClusterNames
  let replicas: Int
  /// The file with the credentials of a NATS user; nil if it has none.
  let credentialsFile: NATSCredentialsFile?
  /// The certificates of the authorities to trust, as PEM; nil for those of the system.
  let authorities: String?
  /// This server's certificate and its private key, as PEM.
  let certificate: (chain: String, key: String)?
  /// The file of the secrets that protect messages between servers and stored sessions; nil if they
  /// are not protected.
  let secretFile: NATSClusterSecretFile?

  /// Checks the settings, and reads the files; blocks meanwhile. Throws an error with advice if one
  /// of them is invalid.
  init(_ settings: NATSClusterSettings) throws(NATSClusterError) {
    let address = try NATSAddress(settings.url)
    func invalid(_ reason: String, _ advice: String) -> NATSClusterError {
      NATSClusterError(address.endpoint, reason, advice: advice)
    }
    func load<Content>(
      _ kind: String, _ load: () throws(FileError) -> Content
    ) throws(NATSClusterError) -> Content {
      do throws(FileError) { return try load() } catch {
        throw NATSClusterError(address.endpoint, "the \(kind) file \(error)")
      }
    }
    func readText(
      _ kind: String, _ path: String, isPrivate: Bool = false
    ) throws(NATSClusterError) -> String {
      try load(kind) { () throws(FileError) in
        let file = BoundedServerFile(path, limit: Self.maxFileLength, isPrivate: isPrivate)
        return try Self.text(try file.read().bytes, of: path)
      }
    }
    self.address = address
    guard let names = NATSClusterNames(settings.name) else {
      throw invalid(
        "\"\(settings.name)\" is not a valid name of a cluster",
        "use letters, digits, - and _, at most \(NATSClusterNames.maxLength), and begin with a "
          + "letter or a digit")
    }
    self.names = names
    guard [1, 3, 5].contains(settings.replicas) else {
      throw invalid(
        "\(settings.replicas) is not a valid number of replicas",
        "use 1, 3 or 5 replicas, so that a majority remains if one nats-server fails")
    }
    replicas = settings.replicas
    credentialsFile = try settings.credentialsFile.map { (path) throws(NATSClusterError) in
      guard address.user == nil else {
        throw invalid("it has both a user and a credentials file", "use one of them")
      }
      return try load("credentials") { () throws(FileError) in
        try NATSCredentialsFile(path, limit: Self.maxFileLength)
      }
    }
    let hasTLSFile = [settings.authorityFile, settings.certificateFile, settings.keyFile]
      .contains { $0 != nil }
    guard address.isSecure || !hasTLSFile else {
      throw invalid(
        "a file for TLS has no effect on it", "use a tls:// address, or remove the file")
    }
    authorities = try settings.authorityFile.map { (path) throws(NATSClusterError) in
      try readText("CA", path)
    }
    switch (settings.certificateFile, settings.keyFile) {
    case (let chain?, let key?):
      certificate = (
        try readText("certificate", chain), try readText("key", key, isPrivate: true)
      )
    case (nil, nil): certificate = nil
    default:
      throw invalid(
        "a certificate needs its private key, and a key its certificate", "use both files")
    }
    secretFile = try settings.secretFile.map { (path) throws(NATSClusterError) in
      try load("secret") { () throws(FileError) in
        try NATSClusterSecretFile(path, limit: Self.maxFileLength)
      }
    }
  }

  private static func text(_ bytes: [UInt8], of path: String) throws(FileError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileError(path: path, reason: "must contain text")
    }
    return text
  }
}
