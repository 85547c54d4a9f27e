import Glibc

/// A thread that performs its setup first, and reports whether it succeeded.
enum SocketLoopThread {
  // Unchecked: the caller passes it to the thread, and the semaphore synchronizes its return.
  private final class ThreadStart: @unchecked Sendable {
    let setUp: () throws(SocketError) -> Void
    let body: () -> Void
    let setUpSemaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    var failure: SocketError?

    init(setUp: @escaping () throws(SocketError) -> Void, body: @escaping () -> Void) {
      self.setUp = setUp
      self.body = body
      sem_init(setUpSemaphore, 0, 0)
    }

    deinit {
      sem_destroy(setUpSemaphore)
      setUpSemaphore.deallocate()
    }
  }

  /// Returns when `setUp` has returned on the new thread; rethrows its error. The thread then runs
  /// `body`.
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
        sem_post(start.setUpSemaphore)
        if !failed { start.body() }
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    guard status == 0 else {
      Unmanaged.passUnretained(start).release()
      throw SocketError.errno("pthread_create", status)
    }
    pthread_detach(thread)
    while sem_wait(start.setUpSemaphore) != 0 {}
    if let failure = start.failure { throw failure }
  }
}
