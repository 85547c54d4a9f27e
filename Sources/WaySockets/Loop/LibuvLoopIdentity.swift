import Glibc

/// The loop that the calling thread runs for: the thread of a live loop, or the queue of an ended
/// one.
enum LibuvLoopIdentity {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  static var current: UnsafeRawPointer? {
    UnsafeRawPointer(pthread_getspecific(key))
  }

  static func set(_ loop: UnsafeRawPointer?) {
    pthread_setspecific(key, loop)
  }
}
