import CWayNATS
import Glibc
import Waybridge

/// A file with the credentials of a NATS user. It is read for each connection, so that it can be
/// replaced. May be used on any thread. It is never freed: the library's threads may use it after a
/// connection was closed.
///
/// The connections sign with libcrypto: the library of NATS (nats.c 3.4.1) signs about one connection in
/// 280 wrongly, and ends a connection for good after two such signatures.
final class NATSCredentialsFile: Sendable {
  private let file: BoundedServerFile

  /// Throws an error if the file is not private, or contains no credentials.
  init(_ path: String, limit: Int) throws(FileError) {
    file = BoundedServerFile(path, limit: limit, isPrivate: true)
    _ = try read()
    _ = Unmanaged.passRetained(self)
  }

  private func read() throws(FileError) -> NATSCredentials {
    let text = String(decoding: try file.read().bytes, as: UTF8.self)
    do throws(NATSCredentials.InvalidCredentials) { return try NATSCredentials(text) } catch {
      throw FileError(path: file.path, reason: error.reason)
    }
  }

  /// Makes connections with these options use the file.
  func apply(to options: OpaquePointer?) -> natsStatus {
    let me = Unmanaged.passUnretained(self).toOpaque()
    return natsOptions_SetUserCredentialsCallbacks(
      options,
      { token, error, closure in
        NATSCredentialsFile.respond(closure, error) { credentials in
          token?.pointee = strdup(credentials.token)
          return token?.pointee != nil
        }
      }, me,
      { error, signature, length, nonce, closure in
        NATSCredentialsFile.respond(closure, error) { credentials in
          // A nats-server that does not authenticate its clients sends no nonce.
          let message = nonce.map { Array(String(cString: $0).utf8) } ?? []
          guard let bytes = credentials.key.signature(of: message), let copy = malloc(bytes.count)
          else { return false }
          copy.copyMemory(from: bytes, byteCount: bytes.count)
          signature?.pointee = copy.assumingMemoryBound(to: UInt8.self)
          length?.pointee = Int32(bytes.count)
          return true
        }
      }, me)
  }

  /// Reads the file of a callback, and calls `body`, which returns false if memory is short. The library
  /// frees what they return.
  private static func respond(
    _ closure: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ body: (NATSCredentials) -> Bool
  ) -> natsStatus {
    guard let closure else { return NATS_INVALID_ARG }
    let file = Unmanaged<NATSCredentialsFile>.fromOpaque(closure).takeUnretainedValue()
    do throws(FileError) {
      return body(try file.read()) ? NATS_OK : NATS_NO_MEMORY
    } catch let failure {
      error?.pointee = strdup("the credentials file \(failure)")
      return NATS_ERR
    }
  }
}
