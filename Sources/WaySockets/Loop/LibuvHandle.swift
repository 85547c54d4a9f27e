import CLibuv

/// The memory of one libuv handle. libuv writes to it until it has called the close callback.
struct LibuvHandle<HandleType> {
  let pointer = UnsafeMutablePointer<HandleType>.allocate(capacity: 1)

  /// The handle as libuv's base type; every handle begins with its members.
  var base: UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
  }

  /// Sets the owner that the handle's callbacks find with `owner(of:as:)`.
  func bind(to owner: UnsafeMutableRawPointer?) {
    base.pointee.data = owner
  }

  /// Calls uv_close, and frees the memory when libuv has closed the handle.
  func close() {
    uv_close(base) { handle in
      handle.map { UnsafeMutableRawPointer($0).deallocate() }
    }
  }
}

/// The object that `handle` is bound to. The binding holds no reference.
func owner<Owner: AnyObject>(
  of handle: UnsafeMutablePointer<some Any>?, as type: Owner.Type
) -> Owner? {
  guard let handle else { return nil }
  let base = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
  guard let data = base.pointee.data else { return nil }
  return Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}

/// Returns all handles on a loop (uv_walk).
func handles(on loop: UnsafeMutablePointer<uv_loop_t>) -> [UnsafeMutablePointer<uv_handle_t>] {
  var found: [UnsafeMutablePointer<uv_handle_t>] = []
  withUnsafeMutablePointer(to: &found) { found in
    uv_walk(
      loop,
      { handle, found in
        guard let handle, let found else { return }
        found.assumingMemoryBound(to: [UnsafeMutablePointer<uv_handle_t>].self)
          .pointee.append(handle)
      }, found)
  }
  return found
}

/// Returns the descriptor of the only uv_poll handle on a loop; -1 if there is none.
func polledDescriptor(on loop: UnsafeMutablePointer<uv_loop_t>) -> Int32 {
  var descriptor: uv_os_fd_t = -1
  for handle in handles(on: loop) where handle.pointee.type == UV_POLL {
    uv_fileno(handle, &descriptor)
  }
  return descriptor
}
