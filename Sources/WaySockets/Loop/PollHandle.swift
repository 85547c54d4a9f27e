import CLibuv

/// Watches one descriptor on a loop (uv_poll). It neither owns nor closes the descriptor.
final class PollHandle {
  private let handle = LibuvHandle<uv_poll_t>()
  private let onReady: (_ readable: Bool, _ writable: Bool) -> Void
  private var isClosed = false

  /// Calls `onReady` on the loop until ``close()``. Both flags are set if the descriptor has
  /// failed.
  init(
    loop: SocketLoop, descriptor: Int32,
    onReady: @escaping (_ readable: Bool, _ writable: Bool) -> Void
  ) throws(SocketError) {
    self.onReady = onReady
    let status = uv_poll_init(loop.uv, handle.pointer, descriptor)
    guard status == 0 else {
      handle.pointer.deallocate()
      throw SocketError(.system, "uv_poll_init: \(String(cString: uv_strerror(status)))")
    }
    handle.bind(to: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Watches for the given events; stops watching without any.
  func watch(readable: Bool, writable: Bool) {
    guard !isClosed else { return }
    let events =
      (readable ? Int32(UV_READABLE.rawValue) : 0) | (writable ? Int32(UV_WRITABLE.rawValue) : 0)
    if events == 0 {
      uv_poll_stop(handle.pointer)
      return
    }
    uv_poll_start(handle.pointer, events) { pointer, status, events in
      guard let poll = owner(of: pointer, as: PollHandle.self) else { return }
      if status < 0 {
        poll.onReady(true, true)
      } else {
        poll.onReady(
          events & Int32(UV_READABLE.rawValue) != 0, events & Int32(UV_WRITABLE.rawValue) != 0)
      }
    }
  }

  /// Stops watching immediately: another handle may watch the descriptor right afterwards.
  /// Idempotent.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    uv_poll_stop(handle.pointer)
    handle.bind(to: nil)
    handle.close()
  }

  deinit {
    close()
  }
}
