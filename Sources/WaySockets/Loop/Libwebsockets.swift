import CLibwebsockets
import Glibc
import WayTransport

/// Creates libwebsockets contexts, one for each loop.
enum Libwebsockets {
  /// Maximum number of bytes that lws reads from a socket at a time.
  static let receiveSize = 16 * 1024
  /// Maximum number of bytes that one lws_write passes to the socket.
  static let transmitSize = 256 * 1024

  /// Serializes lws_create_context, which writes to globals and loads the libuv plugin.
  private static let creationLock = Locked(false)

  /// Creates the context of a loop. Call it on the loop's own thread, which also destroys it.
  static func createContext(
    loop: UnsafeMutableRawPointer
  ) throws(SocketError) -> OpaquePointer {
    let context: OpaquePointer? = creationLock.withLock { isSilent in
      if !isSilent {
        lws_set_log_level(Int32(LLL_ERR), reportError)
        isSilent = true
      }
      var info = lws_context_creation_info()
      info.port = way_lws_no_listen
      info.options =
        way_lws_option_libuv | way_lws_option_explicit_vhosts
        | way_lws_option_raw_origin
      info.pt_serv_buf_size = 64 * 1024
      info.timeout_secs = 10
      var loops: UnsafeMutableRawPointer? = loop
      return withUnsafeMutablePointer(to: &loops) { pointer in
        info.foreign_loops = pointer
        return lws_create_context(&info)
      }
    }
    guard let context else {
      throw SocketError(
        .system, "lws_create_context failed; is the package libwebsockets-evlib-uv installed?")
    }
    return context
  }

  /// Reserves a descriptor number between two closes, so that the second close finds a descriptor
  /// of this process. Returns false if another thread got the number first.
  ///
  /// lws_context_destroy closes the descriptor that wakes the context (lws_plat_pipe_close). It
  /// closes it again when libuv has released it (__lws_close_free_wsi_final). By then the number
  /// may belong to another thread.
  static func reserve(_ descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return true }
    let spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard spare >= 0 else { return false }
    if spare == descriptor { return true }
    let reserved = fcntl(spare, F_DUPFD_CLOEXEC, descriptor)
    close(spare)
    if reserved == descriptor { return true }
    if reserved >= 0 { close(reserved) }
    return false
  }

  /// Suppresses the message about an adopted socket, which lws reports at error level although it
  /// is no error.
  private static let reportError: @convention(c) (Int32, UnsafePointer<CChar>?) -> Void = {
    _, line in
    guard let line, strstr(line, "calling service") == nil else { return }
    write(STDERR_FILENO, line, strlen(line))
  }
}
