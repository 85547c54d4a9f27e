import Glibc

/// A thread that first sets something up, and reports whether it could, before it goes on.
enum SocketLoopThread {
  // Unchecked: handed from the caller to the thread, and back by the semaphore.
  private final class ThreadStart: @unchecked Sendable {
    let setUp: () throws(SocketError) -> Void
    let body: () -> Void
    let isSetUp = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    var failure: SocketError?

    init(setUp: @escaping () throws(SocketError) -> Void, body: @escaping () -> Void) {
      self.setUp = setUp
      self.body = body
      sem_init(isSetUp, 0, 0)
    }

    deinit {
      sem_destroy(isSetUp)
      isSetUp.deallocate()
    }
  }

  /// Returns once `setUp` has returned on the new thread, and throws what it threw; `body` follows
  /// there.
  static func start(
    setUp: @escaping () throws(SocketError) -> Void, body: @escaping () -> Void
  ) throws(SocketError) {
    let start = ThreadStart(setUp: setUp, body: body)
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
        do throws(SocketError) {
          try start.setUp()
        } catch {
          start.failure = error
        }
        let failed = start.failure != nil
        sem_post(start.isSetUp)
        if !failed { start.body() }
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    guard status == 0 else {
      Unmanaged.passUnretained(start).release()
      throw SocketError.errno("pthread_create", status)
    }
    pthread_detach(thread)
    while sem_wait(start.isSetUp) != 0 {}
    if let failure = start.failure { throw failure }
  }
}
