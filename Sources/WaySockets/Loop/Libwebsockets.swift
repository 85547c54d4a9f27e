import CLibwebsockets
import Glibc
import WayTransport

/// The library's own life: one context for each loop.
enum Libwebsockets {
  /// Bytes that lws reads from a socket at a time, at most, and the frame it hands over.
  static let receiveSize = 16 * 1024
  /// Bytes that one lws_write passes to the socket, at most.
  static let transmitSize = 256 * 1024

  /// lws_create_context writes to globals and loads the libuv plugin: one at a time.
  private static let creation = Locked(false)

  /// Creates the context of a loop. The caller is the loop's own thread, and ``destroy(_:)`` comes
  /// on it too.
  static func createContext(
    loop: UnsafeMutableRawPointer
  ) throws(SocketError) -> OpaquePointer {
    let context: OpaquePointer? = creation.withLock { isSilent in
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

  /// lws_context_destroy closes the descriptor that wakes the context (lws_plat_pipe_close), and
  /// once more when libuv has let go of it (__lws_close_free_wsi_final). By then the number may be
  /// another thread's. Takes the number in between, so that the second close finds a descriptor of
  /// ours; false where another was faster.
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

  /// lws reports at the level of errors that it adopts a socket; that is no error.
  private static let reportError: @convention(c) (Int32, UnsafePointer<CChar>?) -> Void = {
    _, line in
    guard let line, strstr(line, "calling service") == nil else { return }
    write(STDERR_FILENO, line, strlen(line))
  }
}
