import Glibc

/// The file descriptors of the process.
enum ServerProcessDescriptors {
  /// The number of descriptors that may be open (getrlimit, RLIMIT_NOFILE).
  static var limit: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Int(clamping: limit.rlim_cur)
  }
}
