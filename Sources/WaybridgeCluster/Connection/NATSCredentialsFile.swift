import CWayNATS
import Glibc
import WayCrypto
import Waybridge

/// A file with the credentials of a NATS user. It is read for each connection, so that it can be
/// replaced. May be used on any thread. It is never freed: the library's threads may use it after a
/// connection was closed.
///
/// The library (nats.c 3.4.1) takes a signature whose first byte is 0 for an empty one (`_base64Encode` of
/// util.c), and sends none. NATS then rejects the connection, and two rejections end a reconnection for
/// good. So such a signature fails here: NATS has something else to sign at the next attempt.
final class NATSCredentialsFile: Sendable {
  /// The status of a connection whose signature the library cannot send.
  static let unsendableSignature = NATS_ILLEGAL_STATE

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
          return token?.pointee == nil ? NATS_NO_MEMORY : NATS_OK
        }
      }, me,
      { error, signature, length, nonce, closure in
        NATSCredentialsFile.respond(closure, error) { credentials in
          let (status, bytes) = NATSCredentialsFile.sign(
            nonce.map { String(cString: $0) }, with: credentials.key)
          guard status == NATS_OK else { return status }
          guard let copy = malloc(bytes.count) else { return NATS_NO_MEMORY }
          copy.copyMemory(from: bytes, byteCount: bytes.count)
          signature?.pointee = copy.assumingMemoryBound(to: UInt8.self)
          length?.pointee = Int32(bytes.count)
          return NATS_OK
        }
      }, me)
  }

  /// Returns the signature of a nonce, if the status is `NATS_OK`. A nats-server that does not
  /// authenticate its clients sends no nonce, and ignores the signature.
  static func sign(
    _ nonce: String?, with key: SigningKey
  ) -> (status: natsStatus, signature: [UInt8]) {
    guard let signature = key.signature(of: Array((nonce ?? "").utf8)) else {
      return (NATS_NO_MEMORY, [])
    }
    return (nonce != nil && signature.first == 0 ? unsendableSignature : NATS_OK, signature)
  }

  /// Reads the file of a callback, and calls `body`. The library frees what they return.
  private static func respond(
    _ closure: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ body: (NATSCredentials) -> natsStatus
  ) -> natsStatus {
    guard let closure else { return NATS_INVALID_ARG }
    let file = Unmanaged<NATSCredentialsFile>.fromOpaque(closure).takeUnretainedValue()
    do throws(FileError) {
      return body(try file.read())
    } catch let failure {
      error?.pointee = strdup("the credentials file \(failure)")
      return NATS_ERR
    }
  }
}
