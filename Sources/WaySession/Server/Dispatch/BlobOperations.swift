import WayTransport
import WayValues

/// Returns the client with a token for blobs, at the server that has its session.
struct BlobClientQuery: PeerOperation, Codable {
  static let method = "peer.blobClient"
  let session: String
  let token: String

  func run(in context: PeerContext) async throws(CallError) -> BlobClient {
    let server = context.server
    guard let home = server.loopSessions(ofSession: session) ?? server.sessionsByLoop.first else {
      throw CallError(.unavailable, "The server is ending")
    }
    return try await home.blobClient(of: token)
  }
}

extension LoopSessions {
  /// Returns the client with a token for blobs. Fails with 2401 or 2403.
  fileprivate func blobClient(of token: String) throws(CallError) -> BlobClient {
    guard let blobs = configuration.blobs else {
      throw CallError(.unavailable, "The server stores no blobs")
    }
    return try blobs.client(of: token, policy, at: configuration.now())
  }
}

extension SessionServer {
  /// Passes the client with a token for blobs to `done`, at once if this server knows it, or else on
  /// any thread: another server of the cluster may have its session. Fails with 2401, with 2403, or
  /// with 2503 if that server does not respond. Call on a loop of the server, with that loop.
  package func findBlobClient(
    of token: String, on loop: any EventLoop,
    _ done: @escaping @Sendable (Result<BlobClient, CallError>) -> Void
  ) {
    guard let blobs = configuration.blobs,
      let loopSessions = sessionsByLoop.first(where: { $0.loop === loop })
    else { return done(.failure(CallError(.unavailable, "The server stores no blobs"))) }
    guard let session = blobs.remoteSession(of: token) else {
      return done(
        Result { () throws(CallError) in
          try blobs.client(of: token, loopSessions.policy, at: configuration.now())
        })
    }
    Task { [dispatch] in
      let query = BlobClientQuery(session: session, token: token)
      do throws(CallError) {
        done(.success(try await dispatch.send(query, toServerOf: session)))
      } catch {
        done(.failure(error))
      }
    }
  }
}
