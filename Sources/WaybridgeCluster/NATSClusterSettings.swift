/// The NATS servers of a cluster, and how this server authenticates to them and to the other
/// servers of the cluster.
public struct NATSClusterSettings: Sendable, Hashable {
  /// The addresses of the NATS servers: `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…`; several
  /// are separated by commas. With three or more, a majority of them extends the lease of this server
  /// while they elect a leader; use the same addresses on all servers then.
  public var url: String
  /// The name of the cluster, the beginning of all its names in NATS: letters, digits, `-` and `_`,
  /// at most 32, of which the first is a letter or a digit. Clusters with different names on one
  /// NATS server do not affect each other.
  public var name = "waybridge"
  /// How many NATS servers store each session, table and lease: 1, 3 or 5. Only the first server of
  /// a new cluster uses it, when it creates the streams.
  public var replicas = 1
  /// A file with the credentials of a NATS user, a JWT and the seed of its key (`.creds`), instead
  /// of a user in ``url``. Only its owner may have access to it. It is read again for each
  /// connection.
  public var credentialsFile: String?
  /// A file with certificates of the authorities that the NATS servers' certificates must come
  /// from, as PEM; nil for those of the system. Requires `tls://`.
  public var authorityFile: String?
  /// A file with the certificate that this server shows to NATS and the intermediate ones, as PEM.
  /// Requires `tls://` and ``keyFile``.
  public var certificateFile: String?
  /// A file with the private key of ``certificateFile``, as PEM. Only its owner may have access to
  /// it.
  public var keyFile: String?
  /// A file with the secret that the servers of the cluster share: at least 32 bytes on one line.
  /// It encrypts and authenticates the messages between them, and the stored sessions. Only its
  /// owner may have access to the file. To replace a secret while servers run, the file can hold up
  /// to four secrets, one a line: the first one encrypts, and all decrypt. `BridgeServer.reload()`
  /// reads the file again. Required if clients are authenticated, or if there is a policy.
  public var secretFile: String?

  /// Creates settings for the NATS servers with these addresses.
  public init(url: String) { self.url = url }
}
